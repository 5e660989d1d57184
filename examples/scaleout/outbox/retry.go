package outbox

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

const (
	// callTimeout bounds one call to the engine.
	callTimeout = 2 * time.Second
	// minPause and maxPause bound the pauses between calls.
	minPause = 20 * time.Millisecond
	maxPause = 2 * time.Second
)

// retry calls the engine until it responds or ctx ends: a lost node or a cluster without a leader is a pause, not a failure. If retried
// is true, an earlier try may have been carried out with its response lost.
func retry(ctx context.Context, log *slog.Logger, call func(ctx context.Context) error) (retried bool, err error) {
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		callCtx, cancel := context.WithTimeout(ctx, callTimeout)
		err := call(callCtx)
		cancel()
		if err == nil || isPermanent(err) {
			return retried, err
		}
		if retried {
			log.WarnContext(ctx, "the engine does not respond, retrying", slog.Any("error", err))
		}
		retried = true
		if !sleep(ctx, jitter(pause)) {
			return retried, errors.Join(ctx.Err(), err)
		}
	}
}

// isPermanent reports whether err is the engine's response rather than a failure that may pass.
func isPermanent(err error) bool {
	if engine.IsConflict(err) || engine.IsPresent(err) {
		return true
	}
	for _, permanent := range []error{
		jetstream.ErrStreamNotFound, jetstream.ErrConsumerNotFound, jetstream.ErrBucketNotFound, // the engine is not prepared
		jetstream.ErrKeyNotFound, jetstream.ErrInvalidKey, nats.ErrMaxPayload, nats.ErrConnectionClosed, ErrFull,
	} {
		if errors.Is(err, permanent) {
			return true
		}
	}
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && api.Code == http.StatusBadRequest
}

// sleep waits for d. It reports false if ctx ends first.
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

// jitter returns a random duration of up to d, so that many processes do not come back at once.
func jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return rand.N(d) + 1 //nolint:gosec // chance, not a secret
}
