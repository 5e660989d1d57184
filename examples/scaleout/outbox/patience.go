package outbox

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

const (
	// callTimeout is how long one call of the engine may take before it is made again.
	callTimeout = 2 * time.Second
	// shortestPause and longestPause bound the pauses between calls.
	shortestPause = 20 * time.Millisecond
	longestPause  = 2 * time.Second
)

// insist calls the engine until it has answered, for as long as the context lives: a node that is lost or a cluster without a
// leader is a pause and not a failure. A call that was made more than once may have been carried out by an earlier try; repeated
// says so.
func insist(ctx context.Context, log *slog.Logger, call func(ctx context.Context) error) (repeated bool, err error) {
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		limited, cancel := context.WithTimeout(ctx, callTimeout)
		err := call(limited)
		cancel()
		if err == nil || isAnswer(err) {
			return repeated, err
		}
		if repeated {
			log.WarnContext(ctx, "the engine does not answer, trying again", slog.Any("error", err))
		}
		repeated = true
		if !sleep(ctx, jitter(pause)) {
			return repeated, errors.Join(ctx.Err(), err)
		}
	}
}

// isAnswer tells an answer from a failure that may pass.
func isAnswer(err error) bool {
	var api *jetstream.APIError
	const badRequest = 400
	for _, missing := range []error{jetstream.ErrStreamNotFound, jetstream.ErrConsumerNotFound, jetstream.ErrBucketNotFound} {
		if errors.Is(err, missing) {
			return true // the engine is not prepared
		}
	}
	return engine.IsTaken(err) || errors.Is(err, jetstream.ErrKeyNotFound) || errors.Is(err, jetstream.ErrInvalidKey) ||
		errors.Is(err, nats.ErrMaxPayload) || errors.Is(err, nats.ErrConnectionClosed) || errors.As(err, &api) && api.Code == badRequest
}

// sleep waits, and reports false where the context ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// jitter gives a random time of up to d, so that many processes do not come back at once.
func jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return rand.N(d) + 1 //nolint:gosec // chance, not a secret
}
