package inbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

// How long the engine may take, in all and for one attempt. A service waits for 5 to 30 seconds; what it gets before that is an
// answer that tells it to call again. A cluster that has lost a node needs some seconds to agree on another leader.
const (
	claimTimeout   = 3 * time.Second
	publishTimeout = 5 * time.Second
	settleTimeout  = 3 * time.Second
	attempt        = 1500 * time.Millisecond
	minPause       = 10 * time.Millisecond
	maxPause       = 250 * time.Millisecond
)

// ErrUnavailable says that the engine did not answer in time. What was asked of it may have been done or not.
var ErrUnavailable = errors.New("inbox: the engine does not answer")

// permanentError is an error for which asking again is no use.
type permanentError struct{ error }

func (e permanentError) Unwrap() error { return e.error }

// patiently calls step until it returns nil or a permanentError, or the time is over. A step is to be one that may be done twice. It goes on
// when the caller has gone: what was begun is better ended than left to a lease.
//
// While there is no connection nothing is asked: the request would wait in a buffer, and be done when nobody waits for it.
func retry(ctx context.Context, c *engine.Connection, patience time.Duration, step func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	last := errors.New("no connection")
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		if c.NATS.IsConnected() {
			last = try(ctx, step)
			if final := (permanentError{}); last == nil || errors.As(last, &final) {
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

// try makes one attempt, so that an answer that was lost does not use up all of the time.
func try(ctx context.Context, step func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	return step(ctx)
}
