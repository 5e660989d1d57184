package webhook

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAMemoryStoreIsAStore(t *testing.T) {
	t.Parallel()
	s := NewMemoryStore(10, time.Hour)
	claim := func(key string) ClaimState {
		state, err := s.Claim(t.Context(), key)
		require.NoError(t, err)
		return state
	}
	assert.Equal(t, Claimed, claim("a"))
	assert.Equal(t, InProgress, claim("a"))
	require.NoError(t, s.Release(t.Context(), "a"))
	assert.Equal(t, Claimed, claim("a"))
	require.NoError(t, s.Complete(t.Context(), "a"))
	assert.Equal(t, Done, claim("a"))
	require.NoError(t, s.Release(t.Context(), "a"))
	assert.Equal(t, Done, claim("a"), "what is done stays done")
	require.NoError(t, s.Complete(t.Context(), "a"))
	assert.Equal(t, Done, claim("a"))
	require.NoError(t, s.Complete(t.Context(), "b"), "not claimed, or no longer")
	assert.Equal(t, Done, claim("b"))
	require.NoError(t, s.Release(t.Context(), "c"))
	assert.Equal(t, Claimed, claim("c"))

	long := strings.Repeat("x", 1000)
	assert.Equal(t, Claimed, claim(long))
	assert.Equal(t, Claimed, claim(long+"x"))
	assert.Equal(t, InProgress, claim(long))
	assert.Equal(t, Claimed, claim(long[:longestHeld]))
	assert.Equal(t, Claimed, claim(long[:longestHeld]+"x"))
	assert.Equal(t, Claimed, claim(""))
	assert.Equal(t, InProgress, claim(""))
	assert.Equal(t, Claimed, claim("\x00"))
}

func TestSizeBoundsWhatIsDoneAndNothingElse(t *testing.T) {
	t.Parallel()
	s := NewMemoryStore(3, time.Hour)
	state := func(key string) ClaimState {
		state, _ := s.claim([]byte(key), 0)
		if state == Claimed {
			require.NoError(t, s.Release(t.Context(), key))
		}
		return state
	}
	for i := range 100 {
		_, err := s.Claim(t.Context(), fmt.Sprint("pending", i))
		require.NoError(t, err)
	}
	for i := range 10 {
		key := fmt.Sprint("done", i)
		_, err := s.Claim(t.Context(), key)
		require.NoError(t, err)
		require.NoError(t, s.Complete(t.Context(), key))
		for j := range 10 {
			want := Claimed
			if j <= i && j > i-3 {
				want = Done
			}
			assert.Equal(t, want, state(fmt.Sprint("done", j)), "%d after %d", j, i)
		}
	}
	for i := range 100 {
		assert.Equal(t, InProgress, state(fmt.Sprint("pending", i)), "what is in progress is never forgotten for room")
	}
	assert.Equal(t, 103, s.held)
}

func TestLeaseAndTTL(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewMemoryStore(10, time.Minute)
		state, first := s.claim([]byte("a"), 0)
		require.Equal(t, Claimed, state)
		time.Sleep(time.Minute - 1)
		state, _ = s.claim([]byte("a"), 0)
		require.Equal(t, InProgress, state)
		time.Sleep(time.Nanosecond)
		state, second := s.claim([]byte("a"), 0)
		require.Equal(t, Claimed, state, "the lease is over")

		assert.False(t, s.end(first, false), "who was slower than the lease holds nothing any more")
		state, _ = s.claim([]byte("a"), 0)
		require.Equal(t, InProgress, state)
		assert.True(t, s.end(second, true))
		assert.True(t, s.end(second, true))
		assert.True(t, s.end(second, false))
		time.Sleep(time.Minute - 1)
		state, _ = s.claim([]byte("a"), 0)
		require.Equal(t, Done, state)
		time.Sleep(time.Nanosecond)
		state, _ = s.claim([]byte("a"), 0)
		require.Equal(t, Claimed, state, "forgotten")
	})
}

// reference is a store as simple as it can be.
type reference struct {
	size int
	ttl  time.Duration
	keys map[string]*referenceKey
	done []string // in order of completion
}

type referenceKey struct {
	done  bool
	until time.Time
	early time.Time
}

func (r *reference) claim(key string, window time.Duration) ClaimState {
	if k := r.keys[key]; k != nil && time.Now().Before(k.until) {
		if k.done {
			return Done
		}
		return InProgress
	}
	r.forget(key)
	r.keys[key] = &referenceKey{until: time.Now().Add(r.ttl)}
	if window > 0 {
		r.keys[key].early = time.Now().Add(min(window, r.ttl))
	}
	return Claimed
}

func (r *reference) forget(key string) {
	delete(r.keys, key)
	r.done = slices.DeleteFunc(r.done, func(one string) bool { return one == key })
}

func (r *reference) complete(key string) {
	k := r.keys[key]
	if k == nil {
		k = &referenceKey{}
		r.keys[key] = k
	}
	if k.done {
		return
	}
	k.done, k.until = true, time.Now().Add(r.ttl)
	if !k.early.IsZero() {
		k.until = k.early
	}
	r.done = append(r.done, key)
	if len(r.done) > r.size {
		r.forget(r.done[0])
	}
}

func (r *reference) release(key string) {
	if k := r.keys[key]; k != nil && !k.done {
		r.forget(key)
	}
}

// A long random life of two stores that have to agree. The store may forget what is over later than the reference does, and
// so may have less room; the reference drops it at once.
func TestAMemoryStoreBehavesLikeASimpleOne(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			size := 1 + random.IntN(40)
			if seed%2 == 1 { // windows end early, and what is over takes room until it is forgotten
				size = 100
			}
			s := NewMemoryStore(size, time.Minute)
			r := &reference{size: size, ttl: time.Minute, keys: map[string]*referenceKey{}}
			for step := range 2000 {
				if random.IntN(4) == 0 {
					time.Sleep(time.Duration(random.IntN(4000)) * time.Millisecond)
				}
				for key, k := range r.keys {
					if !time.Now().Before(k.until) {
						r.forget(key)
					}
				}
				for range 100 {
					s.forget(time.Since(s.born))
				}
				key := fmt.Sprint("key", random.IntN(60))
				switch random.IntN(6) {
				case 0, 1:
					got, _ := s.claim([]byte(key), 0)
					require.Equal(t, r.claim(key, 0), got, "seed %d step %d", seed, step)
				case 2:
					if seed%2 == 1 {
						got, _ := s.claim([]byte(key), 10*time.Second)
						require.Equal(t, r.claim(key, 10*time.Second), got, "seed %d step %d", seed, step)
					}
				case 3, 4:
					require.NoError(t, s.Complete(t.Context(), key))
					r.complete(key)
				default:
					require.NoError(t, s.Release(t.Context(), key))
					r.release(key)
				}
				if step%16 == 0 {
					check(t, s)
				}
				if seed%2 == 0 {
					require.Equal(t, len(r.keys), s.held, "seed %d step %d", seed, step)
					require.Equal(t, len(r.done), s.doneLen, "seed %d step %d", seed, step)
				}
			}
		})
	}
}

// check holds the parts of a store against each other.
func check(t *testing.T, s *MemoryStore) {
	t.Helper()
	numbers := map[uint32]bool{}
	for i, one := range s.slots {
		if one.number == 0 {
			continue
		}
		numbers[one.number] = true
		m := s.at(one.number)
		require.Equal(t, short(m.hash), one.hash)
		require.Equal(t, one.number, s.find(&m.heldKey))
		for j := one.hash & s.mask; j != uint32(i); j = (j + 1) & s.mask {
			require.NotZero(t, s.slots[j].number, "a search would end too early")
		}
	}
	require.Len(t, numbers, s.held)
	pending, before := 0, uint32(0)
	for n := s.pending.first; n != 0; n = s.at(n).next {
		require.False(t, s.at(n).done)
		require.True(t, numbers[n])
		require.Equal(t, before, s.at(n).prev)
		before = n
		pending++
	}
	require.Equal(t, before, s.pending.last)
	require.Equal(t, s.held-s.doneLen, pending)
	require.LessOrEqual(t, s.doneLen, s.size)
	live := 0
	for i := range s.done.length {
		one := s.done.ring[(s.done.first+i)&(len(s.done.ring)-1)]
		if m := s.at(one.number); m.serial == one.serial {
			live++
			require.True(t, m.done)
			require.True(t, numbers[one.number])
		}
	}
	require.Equal(t, s.doneLen, live)
	require.Equal(t, s.stale, s.done.length-live)
	require.LessOrEqual(t, s.done.length, 2*s.size)
	require.Equal(t, int(s.made)-1, s.held+len(s.free))
}

func TestAMemoryStoreForgetsSomeAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewMemoryStore(10_000, time.Minute)
		for i := range 10_000 {
			require.NoError(t, s.Complete(t.Context(), fmt.Sprint(i)))
		}
		assert.Equal(t, 10_000, s.held)
		time.Sleep(time.Minute)
		state, _ := s.claim([]byte("9999"), 0)
		assert.Equal(t, Claimed, state)
		assert.Greater(t, s.held, 9_900)
		for i := range 2_000 {
			s.claim([]byte(fmt.Sprint("x", i)), 0)
		}
		assert.Less(t, s.held, 2_100)
		check(t, s)
	})
}

// Many goroutines, few keys: whoever has claimed a key has it alone, and each key is done once.
func TestClaimsOfManyGoroutines(t *testing.T) {
	t.Parallel()
	const goroutines, keys = 16, 200
	s := NewMemoryStore(keys, time.Hour)
	var holders, done [keys]atomic.Int32
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(g), 2))
			for range 5000 {
				n := random.IntN(keys)
				key := fmt.Sprint(n)
				state, mine := s.claim([]byte(key), 0)
				switch state {
				case Claimed:
					if holders[n].Add(1) != 1 || done[n].Load() != 0 {
						t.Error("claimed by two, or after it was done")
					}
					runtime.Gosched()
					finish := random.IntN(10) == 0
					if finish {
						done[n].Add(1)
					}
					holders[n].Add(-1)
					if !s.end(mine, finish) {
						t.Error("a claim was lost")
					}
				case Done:
					if done[n].Load() != 1 {
						t.Error("done, and yet not handled once")
					}
				case InProgress:
				}
			}
		})
	}
	wg.Wait()
	check(t, s)
}

func TestAMemoryStoreShowsNoKeys(t *testing.T) {
	t.Parallel()
	s := NewMemoryStore(7, time.Hour)
	_, err := s.Claim(t.Context(), "hunter2")
	require.NoError(t, err)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d"} {
		assert.Equal(t, "webhook.MemoryStore{size: 7, ttl: 1h0m0s}", fmt.Sprintf(verb, s))
	}
	assert.Equal(t, "webhook.MemoryStore{size: 7, ttl: 1h0m0s}", s.LogValue().String())
}
