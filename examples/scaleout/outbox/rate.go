package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

const (
	// rateKey is the key of the shared rateState.
	rateKey = "rate"
	// reserveAhead is the span of permits that a worker reserves at once, and the span of unused permits that it may catch up on. It
	// bounds the permits that are lost with a killed worker, and how far a burst can exceed the rate.
	reserveAhead = 100 * time.Millisecond
	// rateTTL is how long a worker relies on the rate it has read.
	rateTTL = time.Second
	// clockTTL is how long a worker relies on its measurement of the engine's clock.
	clockTTL = 30 * time.Second
)

// rateState is the rate limit that all workers share: the n-th permit from Next on is for the time Next + n/PerSecond.
type rateState struct {
	PerSecond float64 `json:"perSecond"`
	// Next is the time of the next free permit, in nanoseconds of the engine's clock.
	Next int64 `json:"next"`
}

// SetRate sets the number of requests per second that all workers together may start; 0 means no limit. Running workers follow within
// a second.
func SetRate(ctx context.Context, c *engine.Connection, perSecond float64) error {
	const slowest, fastest = 1e-3, 1e6
	if perSecond != 0 && !(perSecond >= slowest && perSecond <= fastest) {
		return fmt.Errorf("outbox: the rate is %v per second, want %v to %v, or 0 for no limit", perSecond, slowest, fastest)
	}
	bucket, err := c.Bucket(ctx, engine.Limits)
	if err != nil {
		return err
	}
	value, err := json.Marshal(rateState{PerSecond: perSecond})
	if err == nil {
		_, err = bucket.Put(ctx, rateKey, value)
	}
	if err != nil {
		return fmt.Errorf("outbox: setting the rate: %w", err)
	}
	return nil
}

// limiter hands out the permits of one worker. It reserves several at a time from the shared rate. An unused permit is lost; none is
// used twice.
type limiter struct {
	bucket jetstream.KeyValue
	clock  clock
	log    *slog.Logger

	unlimitedUntil atomic.Int64 // until when, as nanoseconds since began
	began          time.Time
	waiting        atomic.Int64

	sem chan struct{} // its one element guards the fields below; unlike a mutex, waiting for it can be canceled

	permits      []time.Time // by this machine's clock
	rate         float64     // at which the permits were reserved
	maxPermitAge time.Duration
	measured     time.Time // when the engine's clock was read
	engine       time.Time // what it showed
}

func newLimiter(bucket jetstream.KeyValue, log *slog.Logger) *limiter {
	l := &limiter{bucket: bucket, clock: clock{bucket, log}, log: log, began: time.Now(), sem: make(chan struct{}, 1)}
	l.sem <- struct{}{}
	return l
}

// wait returns when a request may start, or with an error if ctx ends first.
func (l *limiter) wait(ctx context.Context) error {
	if int64(time.Since(l.began)) < l.unlimitedUntil.Load() {
		return ctx.Err()
	}
	l.waiting.Add(1)
	defer l.waiting.Add(-1)
	select {
	case <-l.sem:
		defer func() { l.sem <- struct{}{} }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		for len(l.permits) > 0 {
			permit := l.permits[0]
			l.permits = l.permits[1:]
			if time.Since(permit) > l.maxPermitAge {
				continue // using it now would cause a burst
			}
			if valid, err := l.sleepUntil(ctx, permit); err != nil || valid {
				return err
			}
			l.permits = nil
		}
		if limited, err := l.reserve(ctx); err != nil || !limited {
			return err
		}
	}
}

// sleepUntil waits for the time of a permit. It reports false if the rate has changed in the meantime, which makes the permits void.
func (l *limiter) sleepUntil(ctx context.Context, permit time.Time) (valid bool, err error) {
	for {
		left := time.Until(permit)
		if !sleep(ctx, min(left, rateTTL)) {
			return false, ctx.Err()
		}
		if left <= rateTTL {
			return true, nil
		}
		if rate, _, err := l.read(ctx); err != nil || rate.PerSecond != l.rate {
			return false, err
		}
	}
}

// reserve reserves permits for all callers that wait. It reports false if there is no limit.
func (l *limiter) reserve(ctx context.Context) (limited bool, err error) {
	for {
		rate, revision, err := l.read(ctx)
		if err != nil {
			return true, err
		}
		if rate.PerSecond <= 0 {
			l.unlimitedUntil.Store(int64(time.Since(l.began) + rateTTL))
			return false, nil
		}
		now, err := l.engineNow(ctx)
		if err != nil {
			return true, err
		}
		interval := time.Duration(float64(time.Second) / rate.PerSecond)
		n := min(l.waiting.Load(), max(1, int64(math.Ceil(rate.PerSecond*reserveAhead.Seconds()))))
		first := time.Unix(0, rate.Next)
		if earliest := now.Add(-reserveAhead); first.Before(earliest) {
			first = earliest
		}
		rate.Next = first.Add(time.Duration(n) * interval).UnixNano()
		conflict, err := l.write(ctx, rate, revision)
		if err != nil {
			return true, err
		}
		if conflict { // if the write was ours after all, its permits are lost
			if !sleep(ctx, jitter(5*time.Millisecond)) {
				return true, ctx.Err()
			}
			continue
		}
		l.rate, l.maxPermitAge = rate.PerSecond, 2*reserveAhead+interval
		difference := l.measured.Sub(l.engine)
		for i := range n {
			l.permits = append(l.permits, first.Add(time.Duration(i)*interval+difference))
		}
		return true, nil
	}
}

func (l *limiter) read(ctx context.Context) (rate rateState, revision uint64, err error) {
	var found jetstream.KeyValueEntry
	_, err = retry(ctx, l.log, func(ctx context.Context) (err error) {
		found, err = l.bucket.Get(ctx, rateKey)
		return err
	})
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return rateState{}, 0, nil
	}
	if err == nil {
		err = json.Unmarshal(found.Value(), &rate)
	}
	if err != nil {
		return rateState{}, 0, fmt.Errorf("outbox: reading the rate: %w", err)
	}
	return rate, found.Revision(), nil
}

func (l *limiter) write(ctx context.Context, rate rateState, revision uint64) (conflict bool, err error) {
	value, err := json.Marshal(rate)
	if err == nil {
		_, err = retry(ctx, l.log, func(ctx context.Context) (err error) {
			_, err = l.bucket.Update(ctx, rateKey, value, revision)
			return err
		})
	}
	if engine.IsConflict(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("outbox: reserving permits: %w", err)
	}
	return false, nil
}

// engineNow estimates the engine's time from the last measurement and the time since.
func (l *limiter) engineNow(ctx context.Context) (time.Time, error) {
	if l.engine.IsZero() || time.Since(l.measured) > clockTTL {
		now, err := l.clock.now(ctx)
		if err != nil {
			return time.Time{}, err
		}
		l.engine, l.measured = now, time.Now()
	}
	return l.engine.Add(time.Since(l.measured)), nil
}
