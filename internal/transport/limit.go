package transport

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A Limit is a rate limit, with the line of the calls that wait for their turns. The line orders only sleeping: the first leaves it when
// a turn is due, takes that when it is about to write, and goes to the front again if the turn has passed by then. It is safe for
// concurrent use and runs no goroutine.
type Limit struct {
	rate *rate.Limiter

	mu       sync.Mutex
	line     []*turn
	called   int  // calls that have left the line and not yet taken a turn
	repeated bool // the last turn went to a repeat
}

// NewLimit returns a Limit of perSecond requests on average and burst at once.
func NewLimit(perSecond float64, burst int) *Limit {
	return &Limit{rate: rate.NewLimiter(rate.Limit(perSecond), burst)}
}

// turn is what a call has of a Limit.
type turn struct {
	repeat bool          // it is for another attempt
	nudge  chan struct{} // has room for one: look whether it is the first; nil before the first wait
	called bool
}

// take takes a turn if one is due, and no other call is to have it.
func (l *Limit) take(t *turn) bool {
	if l == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.nudge == nil && len(l.line)+l.called > 0 || !l.rate.Allow() {
		return false
	}
	l.repeated = t.repeat
	l.next() // another may be the first now
	return true
}

// leave ends the claim of a call that was called: it has taken its turn, or waits for something else.
func (l *Limit) leave(t *turn) {
	if t.called {
		l.mu.Lock()
		defer l.mu.Unlock()
		t.called = false
		l.called--
		l.next()
	}
}

// wait waits until a turn is due. It fails if the context ends, or will have ended by then.
func (l *Limit) wait(ctx context.Context, t *turn) error {
	l.leave(t)
	if !l.join(ctx, t) {
		return context.DeadlineExceeded
	}
	for {
		delay := l.attend(t)
		if t.called {
			return nil
		}
		timer := time.NewTimer(delay)
		select {
		case <-ctx.Done():
			timer.Stop()
			l.mu.Lock()
			defer l.mu.Unlock()
			l.line = slices.DeleteFunc(l.line, func(other *turn) bool { return other == t })
			l.next()
			return ctx.Err()
		case <-t.nudge:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// join puts a call into the line: at its end, or at the front if it was called before. It reports whether its turn can come in time.
func (l *Limit) join(ctx context.Context, t *turn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	place := len(l.line)
	if t.nudge != nil {
		place = 0
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < l.until(place+l.called+1) {
		return false
	}
	if t.nudge == nil {
		t.nudge = make(chan struct{}, 1)
	}
	l.line = slices.Insert(l.line, place, t)
	return true
}

// attend returns how long a call sleeps, or calls it.
func (l *Limit) attend(t *turn) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := l.first()
	if l.line[i] != t {
		return forever
	}
	delay := l.until(l.called + 1)
	if delay <= 0 {
		l.line = slices.Delete(l.line, i, i+1)
		t.called = true
		l.called++
		l.next()
	}
	return delay
}

// first returns the place in the line of the call whose turn is next. While new calls wait, at most every second turn is for a repeat.
func (l *Limit) first() int {
	if l.repeated {
		return max(0, slices.IndexFunc(l.line, func(t *turn) bool { return !t.repeat }))
	}
	return 0
}

// next has the first in line look again.
func (l *Limit) next() {
	if len(l.line) > 0 {
		select {
		case l.line[l.first()].nudge <- struct{}{}:
		default:
		}
	}
}

// until returns how long until so many turns are due.
func (l *Limit) until(turns int) time.Duration {
	missing := float64(turns) - l.rate.Tokens()
	return time.Duration(min(math.Ceil(missing/float64(l.rate.Limit())*float64(time.Second)), math.MaxInt64/2))
}
