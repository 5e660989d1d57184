package messagingtest

import (
	"context"
	"math"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// statusesOf sends n messages, one after the other, and returns the status of each response, or 0.
func statusesOf(t *testing.T, client *http.Client, s *Server, n int) []int {
	t.Helper()
	var all []int
	for range n {
		all = append(all, send(t, client, s, goodBody).status)
	}
	return all
}

// tally counts equal values.
func tally[V comparable](values []V) map[V]int {
	counts := map[V]int{}
	for _, v := range values {
		counts[v]++
	}
	return counts
}

func TestInjectRandomlyShare(t *testing.T) {
	t.Parallel()
	faults := []Fault{FaultAcceptThenDrop(), FaultDropUnread(), FaultSlow(time.Second), FaultTruncated(), FaultNotJSON(), FaultStatus(503, 0)}
	for _, share := range []float64{0.01, 0.3, 0.5, 1} {
		s := NewServer(t)
		s.InjectRandomly(1, share, faults...)
		const n = 60_000
		var taken []Fault
		for range n {
			taken = append(taken, nextFault(t.Context(), s))
		}
		counts := tally(taken)
		// Five standard deviations of a binomial distribution; the seed is fixed.
		within := func(p float64) float64 { return 5 * math.Sqrt(n*p*(1-p)) }
		assert.InDelta(t, n*(1-share), counts[Fault{}], within(share), "share %v", share)
		for _, fault := range faults {
			each := share / float64(len(faults))
			assert.InDelta(t, n*each, counts[fault], within(each), "share %v: %v", share, fault)
		}
	}
}

func TestInjectRandomlyFaultNamedTwice(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	s.InjectRandomly(1, 1, FaultNotJSON(), FaultDropUnread(), FaultNotJSON())
	var taken []Fault
	for range 3000 {
		taken = append(taken, nextFault(t.Context(), s))
	}
	assert.InDelta(t, 2000, tally(taken)[FaultNotJSON()], 130)
}

func TestInjectRandomlyIsRepeatable(t *testing.T) {
	t.Parallel()
	run := func(seed uint64) []int {
		s := NewServer(t)
		s.InjectRandomly(seed, 0.5, FaultDropUnread(), FaultStatus(429, -1), FaultStatus(500, 0), FaultAcceptThenDrop())
		return statusesOf(t, newClient(t), s, 200)
	}
	first := run(7)
	assert.Equal(t, first, run(7))
	assert.NotEqual(t, first, run(8))
	counts := tally(first)
	assert.Len(t, counts, 4, "%v", counts)
	for status, count := range counts {
		assert.Less(t, count, 150, "%d", status)
	}
}

func TestInjectRandomlyIsRepeatableConcurrently(t *testing.T) {
	t.Parallel()
	run := func() map[int]int {
		s := NewServer(t)
		s.InjectRandomly(7, 0.5, FaultDropUnread(), FaultStatus(429, -1), FaultStatus(500, 0))
		client := newClient(t)
		var mu sync.Mutex
		var all []int
		var wg sync.WaitGroup
		for range 8 {
			requests := []*http.Request{}
			for range 25 {
				requests = append(requests, newRequest(t, s, goodBody))
			}
			wg.Go(func() {
				for _, req := range requests {
					r := do(client, req)
					mu.Lock()
					all = append(all, r.status)
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		assert.Equal(t, 200, s.Requests())
		counts := tally(all)
		assert.Len(t, s.Sent(), counts[200])
		return counts
	}
	first := run()
	assert.Equal(t, first, run())
}

func TestInjectComesBeforeInjectRandomly(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	client := newClient(t)
	s.Inject(FaultStatus(429, 0), 1)
	s.InjectRandomly(1, 1, FaultStatus(503, 0))
	s.Inject(Fault{}, 1)
	s.Inject(FaultStatus(400, 0), 1)
	assert.Equal(t, []int{429, 200, 400, 503, 503}, statusesOf(t, client, s, 5))
	s.Inject(FaultStatus(404, 0), 2)
	assert.Equal(t, []int{404, 404, 503}, statusesOf(t, client, s, 3))
}

func TestInjectDrawsNothing(t *testing.T) {
	t.Parallel()
	run := func(waiting int) []Fault {
		s := NewServer(t)
		s.InjectRandomly(3, 0.5, FaultNotJSON(), FaultDropUnread())
		for range waiting {
			s.Inject(Fault{}, 1)
			require.Equal(t, Fault{}, nextFault(t.Context(), s))
		}
		var drawn []Fault
		for range 100 {
			drawn = append(drawn, nextFault(t.Context(), s))
		}
		return drawn
	}
	assert.Equal(t, run(0), run(10))
}

func TestInjectRandomlyOnListRequest(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	s.InjectRandomly(1, 1, FaultStatus(503, 0))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/api/sms", nil)
	require.NoError(t, err)
	assert.Equal(t, http.StatusServiceUnavailable, do(newClient(t), req).status)
}

func TestInjectRandomlyEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*Server){
		"by a share of zero":   func(s *Server) { s.InjectRandomly(1, 0, FaultStatus(503, 0)) },
		"where there are none": func(s *Server) { s.InjectRandomly(1, 1) },
		"by Reset":             func(s *Server) { s.Reset() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewServer(t)
			client := newClient(t)
			s.InjectRandomly(1, 1, FaultStatus(503, 0))
			s.InjectRandomly(1, 1, FaultStatus(400, 0))
			assert.Equal(t, 400, send(t, client, s, goodBody).status, "the second call is in the place of the first")
			end(s)
			assert.Equal(t, []int{200, 200, 200}, statusesOf(t, client, s, 3))
		})
	}
}

func TestInjectRandomlyCopiesFaults(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	faults := []Fault{FaultStatus(503, 0)}
	s.InjectRandomly(1, 1, faults...)
	faults[0] = Fault{}
	assert.Equal(t, 503, send(t, newClient(t), s, goodBody).status)
}

func TestInjectRandomlyRefusesMisuse(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	assert.PanicsWithValue(t, "messagingtest: InjectRandomly(7, 1.5, []): the share is not in 0 to 1",
		func() { s.InjectRandomly(7, 1.5) })
	assert.PanicsWithValue(t, "messagingtest: FaultStatus(99): not in 200 to 599", func() { s.InjectRandomly(7, 0.3, FaultDropUnread(), FaultStatus(99, 0)) })
	for _, share := range []float64{-0.001, 1.001, math.Inf(1), math.Inf(-1), math.NaN()} {
		assert.Panics(t, func() { s.InjectRandomly(1, share, FaultDropUnread()) }, share)
	}
	for _, code := range []int{-1, 0, 99, 600} {
		assert.Panics(t, func() { s.InjectRandomly(1, 0, FaultStatus(code, 0)) }, code)
	}
	assert.Equal(t, slices.Repeat([]int{200}, 3), statusesOf(t, newClient(t), s, 3), "a refused call changes nothing")
}

// nextFault returns the fault of the next request.
func nextFault(ctx context.Context, s *Server) Fault {
	fault, _ := s.arrive(ctx)
	return fault
}
