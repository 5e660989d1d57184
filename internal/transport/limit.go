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
	soft bool // the rate is a guess, so that nobody is turned away for want of time

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
	sleeper // nil before the first wait

	repeat  bool          // it is for another attempt
	called  bool          // a turn is due, and kept for it
	gap     time.Duration // of a pace, after which it was taken
	changes int           // of that gap, until then
}

// sleeper wakes a call that waits. It has room for one.
type sleeper chan struct{}

func newSleeper() sleeper { return make(sleeper, 1) }

func (s sleeper) wake() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// sleep returns when it is woken or the time is over, or the error of the context if that ends before.
func (s sleeper) sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s:
	case <-timer.C:
	}
	return nil
}

// take takes a turn if one is due, and no other call is to have it.
func (l *Limit) take(t *turn) bool {
	if l == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.sleeper == nil && len(l.line)+l.called > 0 || !l.rate.Allow() {
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

// wait waits in the line until a turn is due: at its end, or at the front if the call was called before. It fails if the context ends,
// or will have ended by then.
func (l *Limit) wait(ctx context.Context, t *turn) error {
	l.leave(t)
	l.mu.Lock()
	defer l.mu.Unlock()
	place := len(l.line)
	if t.sleeper != nil {
		place = 0
	}
	if deadline, ok := ctx.Deadline(); ok && !l.soft && time.Until(deadline) < l.until(place+l.called+1) {
		return context.DeadlineExceeded
	}
	t.sleeper = newSleeper()
	l.line = slices.Insert(l.line, place, t)
	for {
		delay := forever
		if i := l.first(); l.line[i] == t {
			if delay = l.until(l.called + 1); delay <= 0 {
				l.line = slices.Delete(l.line, i, i+1)
				t.called = true
				l.called++
				l.next()
				return nil
			}
		}
		l.mu.Unlock()
		err := t.sleep(ctx, delay)
		l.mu.Lock()
		if err != nil {
			i := slices.Index(l.line, t)
			l.line = slices.Delete(l.line, i, i+1)
			l.next()
			return err
		}
	}
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
		l.line[l.first()].wake()
	}
}

// until returns how long until so many turns are due.
func (l *Limit) until(turns int) time.Duration {
	missing := float64(turns) - l.rate.Tokens()
	return time.Duration(min(math.Ceil(missing/float64(l.rate.Limit())*float64(time.Second)), math.MaxInt64/2))
}
