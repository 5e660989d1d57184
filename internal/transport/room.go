package transport

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// places is how many requests of one account, channel and kind are in flight at once.
const places = 256

// A Room has the places of one account, for one channel and kind, and knows how long its responses take. It is safe for concurrent use.
// A nil Room has no places and no usual time.
type Room struct {
	places chan struct{}
	usual  atomic.Int64 // a running mean of how long responses take, or 0
}

// NewRoom returns an empty room.
func NewRoom() *Room { return &Room{places: make(chan struct{}, places)} }

// usualTime returns how long a response usually takes, or 0 if that is not known yet.
func (r *Room) usualTime() time.Duration {
	if r == nil {
		return 0
	}
	return time.Duration(r.usual.Load())
}

// addTime adds how long a response took to the running mean.
func (r *Room) addTime(took time.Duration) {
	if r == nil {
		return
	}
	const weight = 16
	usual := r.usualTime()
	if usual == 0 {
		usual = took
	}
	r.usual.Store(int64(usual + (took-usual)/weight))
}

// silence returns how long no response may come until that says something of the service.
func (r *Room) silence() time.Duration { return max(time.Second, 4*r.usualTime()) }

// LateError is in the chain of an error of a call that was not sent, because a place or its turn would come too late.
type LateError struct{ reason string }

func (e *LateError) Error() string { return e.reason }

// takePlace takes a place among the requests in flight, and waits for one if there is none.
func (c *call) takePlace(ctx context.Context) error {
	room := c.request.Room
	if room == nil || !c.transport.OwnBase {
		return nil
	}
	select {
	case room.places <- struct{}{}:
		c.holdsPlace = true
		return nil
	default:
	}
	return c.wait(ctx, "a connection", func(ctx context.Context) error {
		began := time.Now()
		longest := c.longestWait()
		isDeadline := longest < c.transport.MaxWait-c.waited
		timer := time.NewTimer(longest)
		defer timer.Stop()
		select {
		case room.places <- struct{}{}:
			c.holdsPlace = true
			c.waited += time.Since(began)
			return ctx.Err()
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			c.outcome.Wait = room.usualTime()
			return lateError(isDeadline)
		}
	})
}

func (c *call) leavePlace() {
	if c.holdsPlace {
		c.holdsPlace = false
		<-c.request.Room.places
	}
}

// takeTurn takes a turn of the rate limit, and waits until it comes. If it comes too late, it is given back at once.
func (c *call) takeTurn(ctx context.Context) error {
	if c.transport.Limit == nil {
		return nil
	}
	turn := c.transport.Limit.Reserve()
	delay := turn.Delay()
	if delay == 0 {
		return nil
	}
	return c.wait(ctx, "the rate limit", func(ctx context.Context) error {
		if delay > c.longestWait() {
			turn.Cancel()
			c.outcome.Wait = delay
			return lateError(delay > c.untilDeadline())
		}
		if err := sleep(ctx, delay); err != nil {
			turn.Cancel()
			return err
		}
		c.waited += delay
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

// wait performs a wait as an observed step. what names it in an error.
func (c *call) wait(ctx context.Context, what string, wait func(context.Context) error) error {
	waiting, end := c.request.Observe.begin(ctx, Wait, c.outcome.Attempts+1)
	err := wait(waiting)
	if err != nil {
		text := err.Error()
		if late, ok := errors.AsType[*LateError](err); ok {
			text = late.reason
		}
		err = &namedError{"waiting for " + what + ": " + text, err}
	}
	end(Outcome{Err: err})
	return err
}
