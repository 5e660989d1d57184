package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
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

	"github.com/messaging-service/messaging-go/webhook"
)

// storeFunc is a store that is a function.
type storeFunc func(context.Context, string, func(context.Context) error) error

func (f storeFunc) Once(ctx context.Context, key string, handle func(context.Context) error) error {
	return f(ctx, key, handle)
}

// keysOf returns a store that handles everything and notes the keys.
func keysOf(keys *[]string) webhook.Store {
	return storeFunc(func(ctx context.Context, key string, handle func(context.Context) error) error {
		*keys = append(*keys, key)
		return handle(ctx)
	})
}

func TestStoreHandlesOnce(t *testing.T) {
	t.Parallel()
	var in inbox[webhook.SMSMessage]
	h := hooks(webhook.WithStore(webhook.NewMemoryStore(1000, time.Hour))).SMS(in.handle)
	in.err = errors.New("not yet")
	assert.Equal(t, 500, call(t, h, get("id=1&from=1111")).Code)
	assert.Equal(t, 500, call(t, h, get("id=1&from=1111")).Code, "a failure gives the claim back")
	in.err = nil
	assert.Equal(t, 200, call(t, h, get("id=1&from=1111")).Code)
	assert.Equal(t, 200, call(t, h, get("id=1&from=1111")).Code)
	assert.Equal(t, 200, call(t, h, get("id=1&from=1111&attempt=2")).Code, "the ID is the key")
	assert.Len(t, in.got, 3)
	assert.Equal(t, 200, call(t, h, get("id=2&from=1111")).Code)
	assert.Len(t, in.got, 4)
}

func TestStorePanicReleases(t *testing.T) {
	t.Parallel()
	runs := 0
	h := hooks(webhook.WithStore(webhook.NewMemoryStore(1000, time.Hour))).SMS(func(context.Context, webhook.SMSMessage) error {
		if runs++; runs == 1 {
			panic("no")
		}
		return nil
	})
	assert.Equal(t, 500, call(t, h, get(honest)).Code)
	assert.Equal(t, 200, call(t, h, get(honest)).Code)
	assert.Equal(t, 2, runs)
}

func TestStoreManyAtOnce(t *testing.T) {
	t.Parallel()
	for _, query := range []string{"id=1&from=1111", "from=1111&message=no+id", "from=1111&message=no+id&timestamp=1791038663"} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var runs atomic.Int32
				h := hooks(webhook.WithStore(webhook.NewMemoryStore(1000, time.Hour))).SMS(func(context.Context, webhook.SMSMessage) error {
					runs.Add(1)
					time.Sleep(time.Second)
					return nil
				})
				var wg sync.WaitGroup
				var handled, inProgress atomic.Int32
				for range 64 {
					wg.Go(func() {
						switch call(t, h, get(query)).Code {
						case http.StatusOK:
							handled.Add(1)
						case http.StatusServiceUnavailable:
							inProgress.Add(1)
						}
					})
				}
				wg.Wait()
				assert.EqualValues(t, 1, runs.Load())
				assert.EqualValues(t, 1, handled.Load())
				assert.EqualValues(t, 63, inProgress.Load())
				assert.Equal(t, 200, call(t, h, get(query)).Code)
				assert.EqualValues(t, 1, runs.Load())
			})
		})
	}
}

// Two genuine "yes" are two messages, unless the second comes at once.
func TestDuplicateWindow(t *testing.T) {
	t.Parallel()
	const second = time.Second
	for _, tt := range []struct {
		name    string
		query   string
		at      []time.Duration // the clock of the test begins at a full minute
		handled []bool
	}{
		{"by default", "from=1111&message=yes", []time.Duration{0, second, 4 * second, 5 * second, 9 * second, 10 * second}, []bool{true, false, false, true, false, true}},
		{"beginning late", "from=1111&message=yes", []time.Duration{51 * second, 54 * second, 56 * second}, []bool{true, false, true}},
		{"with a time", "from=1111&message=yes&timestamp=1791038663", []time.Duration{0, 61 * second, 50 * time.Minute}, []bool{true, false, false}},
		{"with an ID", "from=1111&message=yes&id=1", []time.Duration{0, 61 * second}, []bool{true, false}},
		{"with a time that cannot be read", "from=1111&message=yes&timestamp=yesterday", []time.Duration{0, 4 * second, 6 * second}, []bool{true, false, true}},
		{"with a zero time", "from=1111&message=yes&timestamp=0", []time.Duration{0, 4 * second, 6 * second}, []bool{true, false, true}},
		{"with a date", "from=1111&message=yes&date=2026-10-03", []time.Duration{0, 4 * second, 6 * second}, []bool{true, false, true}},
		{"with a time without seconds", "from=1111&message=yes&date=2026-10-03+14:44", []time.Duration{0, 4 * second, 6 * second}, []bool{true, false, true}},
		{"with a placeholder for an ID", "from=1111&message=yes&id=null", []time.Duration{0, 4 * second, 6 * second}, []bool{true, false, true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var in inbox[webhook.SMSMessage]
				h := hooks(webhook.WithStore(webhook.NewMemoryStore(1000, time.Hour))).SMS(in.handle)
				for i, at := range tt.at {
					time.Sleep(time.Until(began.Add(at)))
					before := len(in.got)
					assert.Equal(t, 200, call(t, h, get(tt.query)).Code)
					assert.Equal(t, tt.handled[i], len(in.got) > before, "at %s", at)
				}
			})
		})
	}
}

// A function slower than the lease is given up: the next delivery is handled, and a good end of either counts for both.
func TestLease(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		lease  time.Duration
		second bool // comes when the lease of the first is over, while that is still running
		fails  bool // the first
		runs   int32
	}{
		{"no other call", 0, false, false, 1},
		{"another comes", 0, true, false, 2},
		{"another comes, the first fails", 0, true, true, 2},
		{"no other call, the first fails", 0, false, true, 2},
		{"a longer lease", 5 * time.Minute, false, false, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var runs atomic.Int32
				store := webhook.NewMemoryStore(10, 24*time.Hour)
				lease := time.Minute
				if tt.lease > 0 {
					store.Lease, lease = tt.lease, tt.lease
				}
				h := hooks(webhook.WithStore(store)).SMS(func(context.Context, webhook.SMSMessage) error {
					if runs.Add(1) > 1 {
						return nil
					}
					time.Sleep(lease + 30*time.Second)
					if tt.fails {
						return errors.New("no")
					}
					return nil
				})
				done := make(chan struct{})
				go func() {
					call(t, h, get(honest))
					close(done)
				}()
				time.Sleep(lease - time.Second)
				assert.Equal(t, 503, call(t, h, get(honest)).Code)
				time.Sleep(2 * time.Second)
				if tt.second {
					assert.Equal(t, 200, call(t, h, get(honest)).Code)
				}
				<-done
				assert.Equal(t, 200, call(t, h, get(honest)).Code)
				assert.Equal(t, tt.runs, runs.Load())
			})
		})
	}
}

// A failure of the handle function gives no claim back that another call has taken over.
func TestLeaseLostReleasesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := webhook.NewMemoryStore(10, time.Hour)
		wait := func(d time.Duration, err error) func(context.Context) error {
			return func(context.Context) error {
				time.Sleep(d)
				return err
			}
		}
		go func() { assert.Error(t, s.Once(t.Context(), "a", wait(90*time.Second, errors.New("no")))) }()
		time.Sleep(70 * time.Second)
		go func() { assert.NoError(t, s.Once(t.Context(), "a", wait(50*time.Second, nil))) }()
		time.Sleep(30 * time.Second) // the first has failed
		assert.ErrorIs(t, s.Once(t.Context(), "a", wait(0, nil)), webhook.ErrInProgress)
		time.Sleep(time.Minute)
		assert.NoError(t, s.Once(t.Context(), "a", func(context.Context) error { t.Error("handled again"); return nil }))
	})
}

func TestStoreFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("hunter2")
	for _, tt := range []struct {
		name   string
		store  storeFunc
		err    error // of the handle function
		status int
		runs   int
	}{
		{"before", func(context.Context, string, func(context.Context) error) error { return broken }, nil, 503, 0},
		{"after", func(ctx context.Context, _ string, handle func(context.Context) error) error {
			_ = handle(ctx)
			return broken
		}, nil, 503, 1},
		{"and so does the function", func(ctx context.Context, _ string, handle func(context.Context) error) error {
			_ = handle(ctx)
			return broken
		}, errors.New("no"), 500, 1},
		{"and forgets that the function failed", func(ctx context.Context, _ string, handle func(context.Context) error) error {
			_ = handle(ctx)
			return nil
		}, errors.New("no"), 500, 1},
		{"in progress", func(context.Context, string, func(context.Context) error) error {
			return fmt.Errorf("wrapped: %w", webhook.ErrInProgress)
		}, nil, 503, 0},
		{"handled before", func(context.Context, string, func(context.Context) error) error { return nil }, nil, 200, 0},
		{"panics before", func(context.Context, string, func(context.Context) error) error { panic("hunter2") }, nil, 500, 0},
		{"panics after", func(ctx context.Context, _ string, handle func(context.Context) error) error {
			_ = handle(ctx)
			panic("hunter2")
		}, nil, 500, 1},
		{"the function says that it is in progress", func(ctx context.Context, _ string, handle func(context.Context) error) error {
			return handle(ctx)
		}, webhook.ErrInProgress, 500, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := inbox[webhook.SMSMessage]{err: tt.err}
			assert.Equal(t, tt.status, call(t, hooks(webhook.WithStore(tt.store)).SMS(in.handle), get(honest)).Code)
			assert.Len(t, in.got, tt.runs)
		})
	}
}

// A store can put a transaction into the context of the handle function, and keeps it when the caller hangs up.
func TestStoreContext(t *testing.T) {
	t.Parallel()
	ctx, hangUp := context.WithCancel(context.WithValue(t.Context(), contextKey{}, "request"))
	type transactionKey struct{}
	store := storeFunc(func(ctx context.Context, _ string, handle func(context.Context) error) error {
		hangUp()
		assert.Equal(t, "request", ctx.Value(contextKey{}))
		_, ok := ctx.Deadline()
		assert.True(t, ok)
		err := handle(context.WithValue(ctx, transactionKey{}, "transaction"))
		assert.NoError(t, ctx.Err())
		return err
	})
	h := hooks(webhook.WithStore(store)).SMS(func(ctx context.Context, _ webhook.SMSMessage) error {
		assert.Equal(t, "transaction", ctx.Value(transactionKey{}))
		assert.Equal(t, "request", ctx.Value(contextKey{}))
		return ctx.Err()
	})
	assert.Equal(t, 200, call(t, h, get(honest).WithContext(ctx)).Code)
}

func TestMemoryStore(t *testing.T) {
	t.Parallel()
	ran := func(s *webhook.MemoryStore, key string) bool {
		ran := false
		require.NoError(t, s.Once(t.Context(), key, func(context.Context) error { ran = true; return nil }))
		return ran
	}
	t.Run("capacity", func(t *testing.T) {
		t.Parallel()
		s := webhook.NewMemoryStore(3, time.Hour)
		for i := range 10 {
			assert.True(t, ran(s, fmt.Sprint(i)))
			for j := max(0, i-2); j <= i; j++ {
				assert.False(t, ran(s, fmt.Sprint(j)), "%d after %d", j, i)
			}
		}
		assert.True(t, ran(s, "6"), "the oldest is forgotten first")
	})
	t.Run("capacity leaves what is in progress", func(t *testing.T) {
		t.Parallel()
		s := webhook.NewMemoryStore(1, time.Hour)
		require.NoError(t, s.Once(t.Context(), "a", func(context.Context) error {
			for i := range 100 {
				assert.True(t, ran(s, fmt.Sprint(i)))
			}
			assert.ErrorIs(t, s.Once(t.Context(), "a", nil), webhook.ErrInProgress)
			return nil
		}))
		assert.False(t, ran(s, "a"))
	})
	t.Run("time to remember", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s := webhook.NewMemoryStore(100, time.Minute)
			assert.True(t, ran(s, "a"))
			time.Sleep(time.Minute - 1)
			assert.False(t, ran(s, "a"))
			time.Sleep(time.Nanosecond)
			assert.True(t, ran(s, "a"))
			time.Sleep(time.Minute - 1)
			assert.False(t, ran(s, "a"))
		})
	})
	t.Run("any key", func(t *testing.T) {
		t.Parallel()
		s := webhook.NewMemoryStore(100, time.Hour)
		for _, key := range []string{"", "\x00", strings.Repeat("x", 1000), strings.Repeat("x", 1001)} {
			assert.True(t, ran(s, key))
			assert.False(t, ran(s, key))
		}
	})
	t.Run("without capacity", func(t *testing.T) {
		t.Parallel()
		for _, s := range []*webhook.MemoryStore{webhook.NewMemoryStore(0, time.Hour), webhook.NewMemoryStore(-1, time.Hour), webhook.NewMemoryStore(10, 0), {}} {
			assert.True(t, ran(s, "a"))
			assert.True(t, ran(s, "a"))
		}
	})
	t.Run("end of the goroutine", func(t *testing.T) {
		t.Parallel()
		s := webhook.NewMemoryStore(10, time.Hour)
		var wg sync.WaitGroup
		wg.Go(func() { _ = s.Once(t.Context(), "a", func(context.Context) error { runtime.Goexit(); return nil }) })
		wg.Wait()
		assert.True(t, ran(s, "a"))
	})
	t.Run("panic", func(t *testing.T) {
		t.Parallel()
		s := webhook.NewMemoryStore(10, time.Hour)
		assert.Panics(t, func() { _ = s.Once(t.Context(), "a", func(context.Context) error { panic("no") }) })
		assert.True(t, ran(s, "a"))
	})
}

// simpleStore is a store as simple as it can be, for one goroutine.
type simpleStore struct {
	capacity int
	remember time.Duration
	handled  []string // the oldest first
	until    map[string]time.Time
}

func (s *simpleStore) once(key string, handle func() error) (ran bool) {
	s.handled = slices.DeleteFunc(s.handled, func(key string) bool { return !time.Now().Before(s.until[key]) })
	if slices.Contains(s.handled, key) {
		return false
	}
	if handle() == nil {
		s.until[key] = time.Now().Add(s.remember)
		if s.handled = append(s.handled, key); len(s.handled) > s.capacity {
			s.handled = s.handled[1:]
		}
	}
	return true
}

// A long random life of two stores that must agree.
func TestMemoryStoreRandom(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			capacity := 1 + random.IntN(40)
			s := webhook.NewMemoryStore(capacity, time.Minute)
			simple := simpleStore{capacity: capacity, remember: time.Minute, until: map[string]time.Time{}}
			for step := range 2000 {
				if random.IntN(4) == 0 {
					time.Sleep(time.Duration(random.IntN(4000)) * time.Millisecond)
				}
				var result error
				if random.IntN(4) == 0 {
					result = errors.New("no")
				}
				key, ran := fmt.Sprint(random.IntN(60)), false
				want := simple.once(key, func() error { return result })
				err := s.Once(t.Context(), key, func(context.Context) error { ran = true; return result })
				require.Equal(t, want, ran, "seed %d step %d", seed, step)
				require.Equal(t, want && result != nil, err != nil)
			}
		})
	}
}

// Many goroutines, few keys: a key is handled by one at a time, and once.
func TestMemoryStoreManyGoroutines(t *testing.T) {
	t.Parallel()
	const goroutines, keys = 16, 200
	s := webhook.NewMemoryStore(keys, time.Hour)
	var holders, handled [keys]atomic.Int32
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(g), 2))
			for range 5000 {
				n := random.IntN(keys)
				err := s.Once(t.Context(), fmt.Sprint(n), func(context.Context) error {
					defer holders[n].Add(-1)
					if holders[n].Add(1) != 1 || handled[n].Load() != 0 {
						t.Error("handled by two at once, or again")
					}
					runtime.Gosched()
					if random.IntN(10) > 0 {
						return errors.New("not yet")
					}
					handled[n].Add(1)
					return nil
				})
				if err == nil && handled[n].Load() != 1 {
					t.Error("remembered, and yet not handled once")
				}
			}
		})
	}
	wg.Wait()
}
