package transport

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// maxInFlight is how many requests of one account, channel and kind are in flight at once.
const maxInFlight = 256

// Slots limits the requests in flight of one account, for one channel and kind, and tracks how long its responses take. It is safe for
// concurrent use. A nil Slots has no slots and no usual time.
type Slots struct {
	taken chan struct{} // one element for each request in flight
	usual atomic.Int64  // a running mean of how long responses take, or 0
}

// NewSlots returns Slots that are all free.
func NewSlots() *Slots { return &Slots{taken: make(chan struct{}, maxInFlight)} }

// usualTime returns how long a response usually takes, or 0 if that is not known yet.
func (s *Slots) usualTime() time.Duration {
	if s == nil {
		return 0
	}
	return time.Duration(s.usual.Load())
}

// addTime adds the time of a response to the running mean.
func (s *Slots) addTime(took time.Duration) {
	if s == nil {
		return
	}
	const weight = 16
	usual := s.usualTime()
	if usual == 0 {
		usual = took
	}
	s.usual.Store(int64(usual + (took-usual)/weight))
}

// longSilence returns how long a response may be missing before that counts as a failure of the service.
func (s *Slots) longSilence() time.Duration { return max(time.Second, 4*s.usualTime()) }

// LateError is in the chain of the error of a call that was not sent, because a slot or its turn would come too late.
type LateError struct{ reason string }

func (e *LateError) Error() string { return e.reason }

// acquireSlot acquires a slot for a request, and waits if none is free.
func (c *call) acquireSlot(ctx context.Context) error {
	slots := c.request.Slots
	if slots == nil || !c.transport.OwnBase {
		return nil
	}
	select {
	case slots.taken <- struct{}{}:
		c.held.hasSlot = true
		return nil
	default:
		return c.wait(ctx, "a connection", c.waitForSlot)
	}
}

func (c *call) waitForSlot(ctx context.Context) error {
	slots := c.request.Slots
	began := time.Now()
	maxWait := c.transport.MaxWait - c.used.waited
	beforeDeadline := c.untilDeadline()
	timer := time.NewTimer(min(maxWait, beforeDeadline))
	defer timer.Stop()
	select {
	case slots.taken <- struct{}{}:
		c.held.hasSlot = true
		c.used.waited += time.Since(began)
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		c.outcome.Wait = slots.usualTime()
		return lateError(beforeDeadline < maxWait)
	}
}

func (c *call) releaseSlot() {
	if c.held.hasSlot {
		c.held.hasSlot = false
		<-c.request.Slots.taken
	}
}

// Limiter is a rate limit, whose turns come in the order in which they were reserved. It is safe for concurrent use.
type Limiter struct {
	mu    sync.Mutex // held while a turn is reserved and, if it comes too late, given back
	turns *rate.Limiter
}

// NewLimiter returns a Limiter for so many requests a second on average, and for burst at once.
func NewLimiter(perSecond float64, burst int) *Limiter {
	return &Limiter{turns: rate.NewLimiter(rate.Limit(perSecond), burst)}
}

// reserve reserves the next turn, and returns how long until it comes. If that is longer than atMost, it gives the turn back and returns nil. No
// other turn is reserved meanwhile: package rate takes back the last turn only.
func (l *Limiter) reserve(atMost time.Duration) (turn *rate.Reservation, delay time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	turn = l.turns.Reserve()
	delay = turn.Delay()
	if delay > max(atMost, 0) {
		turn.Cancel()
		return nil, delay
	}
	return turn, delay
}

// waitForTurn waits for a turn of the rate limit. A turn that would come too late is given back at once.
func (c *call) waitForTurn(ctx context.Context) error {
	if c.transport.Limit == nil {
		return nil
	}
	turn, delay := c.transport.Limit.reserve(c.longestWait())
	if delay == 0 {
		return nil
	}
	return c.wait(ctx, "the rate limit", func(ctx context.Context) error {
		if turn != nil && delay > c.longestWait() { // because an observer took long
			turn.Cancel()
			turn = nil
		}
		if turn == nil {
			c.outcome.Wait = delay
			return lateError(delay > c.untilDeadline())
		}
		if err := sleep(ctx, delay); err != nil {
			turn.Cancel()
			return err
		}
		c.used.waited += delay
		return nil
	})
}

// lateError says which bound a wait would pass: the caller's deadline, or MaxWait.
func lateError(isDeadline bool) error {
	if isDeadline {
		return errors.Join(context.DeadlineExceeded, &LateError{context.DeadlineExceeded.Error()})
	}
	return &LateError{"longer than MaxWait of the RetryPolicy"}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// wait performs a wait as an observed step. Its error names the object of the wait.
func (c *call) wait(ctx context.Context, object string, wait func(context.Context) error) error {
	waiting, end := c.request.Observe.begin(ctx, Wait, c.outcome.Attempts+1)
	err := wait(waiting)
	if err != nil {
		text := err.Error()
		if late, ok := errors.AsType[*LateError](err); ok {
			text = late.reason
		}
		err = &safeError{"waiting for " + object + ": " + text, err}
	}
	end(Outcome{Err: err})
	return err
}
