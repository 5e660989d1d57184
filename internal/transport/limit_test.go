package transport

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// line has calls wait for a turn, one behind the other, and returns the order and times of their turns.
type lined struct {
	mu    sync.Mutex
	order []string
	at    []time.Duration
}

func (l *lined) call(t *testing.T, calls *sync.WaitGroup, limit *Limit, name string, repeat bool) {
	t.Helper()
	began := time.Now()
	calls.Go(func() {
		mine := turn{repeat: repeat}
		defer limit.leave(&mine)
		for !limit.take(&mine) {
			assert.NoError(t, limit.wait(t.Context(), &mine))
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.order, l.at = append(l.order, name), append(l.at, time.Since(began))
	})
	synctest.Wait()
}

func TestLimitServesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit, calls, l := NewLimit(1, 1), sync.WaitGroup{}, lined{}
		for _, name := range []string{"a", "b", "c", "d"} {
			l.call(t, &calls, limit, name, false)
		}
		calls.Wait()
		assert.Equal(t, []string{"a", "b", "c", "d"}, l.order)
		assert.Equal(t, []time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second}, l.at)
	})
}

func TestLimitGivesEverySecondTurnToANewCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit, calls, l := NewLimit(1, 1), sync.WaitGroup{}, lined{}
		l.call(t, &calls, limit, "first", false)
		for range 3 {
			l.call(t, &calls, limit, "repeat", true)
		}
		for range 2 {
			l.call(t, &calls, limit, "new", false)
		}
		calls.Wait()
		assert.Equal(t, []string{"first", "repeat", "new", "repeat", "new", "repeat"}, l.order)
	})
}

// A call that leaves the line for a turn and then waits for something else holds nobody up, and does not lose its place.
func TestLimitGoesOnWithoutACallThatWaitsElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit, calls, l := NewLimit(1, 1), sync.WaitGroup{}, lined{}
		l.call(t, &calls, limit, "first", false)
		var slow turn
		require.False(t, limit.take(&slow))
		require.NoError(t, limit.wait(t.Context(), &slow))
		l.call(t, &calls, limit, "second", false)
		limit.leave(&slow) // it waits for a breaker
		l.call(t, &calls, limit, "third", false)
		l.call(t, &calls, limit, "fourth", false)
		assert.Equal(t, []string{"first", "second"}, l.order)
		require.False(t, limit.take(&slow))
		require.NoError(t, limit.wait(t.Context(), &slow))
		assert.Equal(t, []string{"first", "second"}, l.order, "it is at the front")
		assert.True(t, limit.take(&slow))
		limit.leave(&slow)
		calls.Wait()
		assert.Equal(t, []string{"first", "second", "third", "fourth"}, l.order)
	})
}

func TestLimitEndsACallWhosePlaceComesTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit, calls, l := NewLimit(1, 1), sync.WaitGroup{}, lined{}
		for range 4 {
			l.call(t, &calls, limit, "x", false)
		}
		began := time.Now()
		short, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		require.ErrorIs(t, limit.wait(short, new(turn)), context.DeadlineExceeded)
		assert.Zero(t, time.Since(began), "at once")
		long, cancel := context.WithTimeout(t.Context(), 4500*time.Millisecond)
		defer cancel()
		var mine turn
		require.NoError(t, limit.wait(long, &mine))
		limit.leave(&mine)
		assert.Equal(t, 4*time.Second, time.Since(began))
		calls.Wait()
	})
}

func TestLimitPassesOnTheTurnOfACallThatLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit, calls, l := NewLimit(1, 1), sync.WaitGroup{}, lined{}
		l.call(t, &calls, limit, "first", false)
		ctx, cancel := context.WithCancel(t.Context())
		calls.Go(func() { assert.ErrorIs(t, limit.wait(ctx, new(turn)), context.Canceled) })
		synctest.Wait()
		l.call(t, &calls, limit, "second", false)
		cancel()
		calls.Wait()
		assert.Equal(t, []time.Duration{0, time.Second}, l.at)
	})
}
