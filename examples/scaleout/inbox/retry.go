package inbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

// Timeouts for the engine: for each kind of call, and for one attempt. Services wait 5 to 30 seconds for a response; a failure within that
// time makes them call again. A cluster that has lost a node needs some seconds to elect a leader.
const (
	claimTimeout   = 3 * time.Second
	publishTimeout = 5 * time.Second
	settleTimeout  = 3 * time.Second
	attemptTimeout = 1500 * time.Millisecond
	minPause       = 10 * time.Millisecond
	maxPause       = 250 * time.Millisecond
)

// ErrUnavailable means that the engine did not respond in time. It may or may not have done what it was asked.
var ErrUnavailable = errors.New("inbox: the engine does not respond")

// permanentError is an error that a retry would not change.
type permanentError struct{ error }

func (e permanentError) Unwrap() error { return e.error }

// retry calls step until it returns nil or a permanentError, or until timeout. The step must be safe to repeat. It continues if the caller
// is gone: completing the work is better than leaving it to a lease.
//
// Without a connection, retry does not call step: the request would wait in a buffer and run after retry has returned.
func retry(ctx context.Context, c *engine.Connection, timeout time.Duration, step func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	last := errors.New("no connection")
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		if c.NATS.IsConnected() {
			last = try(ctx, step)
			if permanent := (permanentError{}); last == nil || errors.As(last, &permanent) {
				return last
			}
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%w: %w", ErrUnavailable, last)
		}
	}
}

// try makes one attempt. It has its own timeout, so that one lost response does not use up all of the time.
func try(ctx context.Context, step func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	return step(ctx)
}
