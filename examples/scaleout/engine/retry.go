package engine

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// CallTimeout bounds one call to the engine.
	CallTimeout = 1500 * time.Millisecond
	// minPause and maxPause bound the pauses between calls.
	minPause = 20 * time.Millisecond
	maxPause = 500 * time.Millisecond
)

var errDisconnected = errors.New("no connection")

// Retry calls the engine until it responds or ctx ends: a lost node or a cluster without a leader is a pause, not a failure. If retried
// is true, an earlier try may have been carried out with its response lost.
//
// Without a connection, Retry does not call: the request would wait in a buffer, and be carried out after Retry has returned.
func (c *Connection) Retry(ctx context.Context, call func(ctx context.Context) error) (retried bool, err error) {
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		switch {
		case c.NATS.IsClosed():
			return retried, nats.ErrConnectionClosed
		case c.NATS.IsConnected():
			callCtx, cancel := context.WithTimeout(ctx, CallTimeout)
			err = call(callCtx)
			cancel()
		default:
			err = errDisconnected
		}
		if err == nil || isPermanent(err) {
			return retried, err
		}
		if retried {
			c.Log.WarnContext(ctx, "the engine does not respond, retrying", slog.Any("error", err))
		}
		retried = true
		if !Sleep(ctx, Jitter(pause)) {
			return retried, errors.Join(ctx.Err(), err)
		}
	}
}

// isPermanent reports whether err is the engine's response rather than a failure that may pass.
func isPermanent(err error) bool {
	if IsConflict(err) || IsPresent(err) {
		return true
	}
	for _, permanent := range []error{
		jetstream.ErrStreamNotFound, jetstream.ErrConsumerNotFound, jetstream.ErrBucketNotFound, // the engine is not prepared
		jetstream.ErrKeyNotFound, jetstream.ErrInvalidKey, jetstream.ErrLimitMarkerTTLNotSupported, nats.ErrMaxPayload, ErrFull,
	} {
		if errors.Is(err, permanent) {
			return true
		}
	}
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && api.Code == http.StatusBadRequest
}

// Sleep waits for d. It reports false if ctx ends first.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Jitter returns a random duration of up to d, so that many processes do not come back at once.
func Jitter(d time.Duration) time.Duration {
	return rand.N(max(d, 0) + 1) //nolint:gosec // chance, not a secret
}
