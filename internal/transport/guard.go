package transport

import (
	"context"
	"time"
)

// Guard decides whether a message may go. It is asked for the n-th time, from 1.
type Guard func(ctx context.Context, n int) error

// GuardError is in the chain of an error of a call that its guard ended. It wraps that of the guard.
type GuardError struct{ error }

func (g GuardError) Unwrap() error { return g.error }

// yesFor is how long a guard's yes holds, in seconds.
const yesFor = 5

// A yes is when a guard last allowed the message, by two clocks: the process's own, and one that runs while the machine is suspended.
type yes struct {
	asked  int
	at     time.Time
	uptime int64
}

// isOld reports whether the guard has to be asked again. As uptime counts whole seconds, that may be up to a second early.
func (y *yes) isOld() bool {
	return time.Since(y.at) > yesFor*time.Second || uptime()-y.uptime >= yesFor
}

// isUnguarded reports whether the guard has to be asked before the message may go.
func (c *call) isUnguarded() bool {
	return c.request.Guard != nil && (c.yes.asked == 0 || c.yes.isOld())
}

// askGuard asks the guard, under a context in which its own calls are no part of this one. A guard whose context ended has not decided.
func (c *call) askGuard(ctx context.Context) error {
	c.transport.Limit.leave(&c.turn)
	c.yes.asked++
	if err := c.request.Guard(context.WithValue(ctx, callKey{}, nil), c.yes.asked); err != nil {
		if ctx.Err() != nil {
			return c.contextError(ctx, ctx, err)
		}
		return &namedError{"a guard stopped the message", GuardError{err}}
	}
	c.yes.at, c.yes.uptime = time.Now(), uptime()
	return nil
}
