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
	// rateKey is where the rate and the next free permit stand.
	rateKey = "rate"
	// ahead is for how much time a worker takes permits at once, and how far behind it may catch up. It bounds what a killed
	// worker takes with it, and how much more than the rate a short moment may see.
	ahead = 100 * time.Millisecond
	// rateKnown is for how long a worker believes to know the rate.
	rateKnown = time.Second
	// clockKnown is for how long a worker believes to know by how much its clock differs from the engine's.
	clockKnown = 30 * time.Second
)

// shared is the rate as all workers have it: the n-th permit from Next on is for the time Next + n/PerSecond.
type shared struct {
	PerSecond float64 `json:"perSecond"`
	// Next is the time of the next permit that nobody has, in nanoseconds of the engine's clock.
	Next int64 `json:"next"`
}

// SetRate sets how many requests all workers together begin in a second; 0 is no limit. Workers that run follow within a second.
func SetRate(ctx context.Context, c *engine.Connection, perSecond float64) error {
	const slowest, fastest = 1e-3, 1e6
	if perSecond != 0 && !(perSecond >= slowest && perSecond <= fastest) {
		return fmt.Errorf("outbox: a rate of %v per second; want 0 for none, or %v to %v", perSecond, slowest, fastest)
	}
	bucket, err := c.Bucket(ctx, engine.Limits)
	if err != nil {
		return err
	}
	value, err := json.Marshal(shared{PerSecond: perSecond})
	if err == nil {
		_, err = bucket.Put(ctx, rateKey, value)
	}
	if err != nil {
		return fmt.Errorf("outbox: setting the rate: %w", err)
	}
	return nil
}

// limiter gives the permits of one worker, which it takes from the shared rate several at a time. A permit that nobody uses is
// lost; none is given twice.
type limiter struct {
	bucket jetstream.KeyValue
	clock  clock
	log    *slog.Logger

	unlimited atomic.Int64 // until when, as nanoseconds since began
	began     time.Time
	waiting   atomic.Int64

	turn chan struct{} // who holds its one element may use what follows

	permits  []time.Time // of this machine's clock
	rate     float64     // at which they were taken
	stale    time.Duration
	measured time.Time // when the engine's clock was read
	engine   time.Time // what it showed
}

func newLimiter(bucket jetstream.KeyValue, log *slog.Logger) *limiter {
	l := &limiter{bucket: bucket, clock: clock{bucket, log}, log: log, began: time.Now(), turn: make(chan struct{}, 1)}
	l.turn <- struct{}{}
	return l
}

// wait returns when a request may begin, or with an error where the context ends before.
func (l *limiter) wait(ctx context.Context) error {
	if int64(time.Since(l.began)) < l.unlimited.Load() {
		return ctx.Err()
	}
	l.waiting.Add(1)
	defer l.waiting.Add(-1)
	select {
	case <-l.turn:
		defer func() { l.turn <- struct{}{} }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		for len(l.permits) > 0 {
			permit := l.permits[0]
			l.permits = l.permits[1:]
			if time.Since(permit) > l.stale {
				continue // it would be a burst by now
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

// sleepUntil waits for a permit's time. It reports false where the rate was changed meanwhile: the permits are worth nothing then.
func (l *limiter) sleepUntil(ctx context.Context, permit time.Time) (valid bool, err error) {
	for {
		left := time.Until(permit)
		if !sleep(ctx, min(left, rateKnown)) {
			return false, ctx.Err()
		}
		if left <= rateKnown {
			return true, nil
		}
		if rate, _, err := l.read(ctx); err != nil || rate.PerSecond != l.rate {
			return false, err
		}
	}
}

// reserve takes permits for those who wait, or finds that there is no limit.
func (l *limiter) reserve(ctx context.Context) (limited bool, err error) {
	for {
		rate, revision, err := l.read(ctx)
		if err != nil {
			return true, err
		}
		if rate.PerSecond <= 0 {
			l.unlimited.Store(int64(time.Since(l.began) + rateKnown))
			return false, nil
		}
		now, err := l.engineNow(ctx)
		if err != nil {
			return true, err
		}
		interval := time.Duration(float64(time.Second) / rate.PerSecond)
		n := min(l.waiting.Load(), max(1, int64(math.Ceil(rate.PerSecond*ahead.Seconds()))))
		first := time.Unix(0, rate.Next)
		if earliest := now.Add(-ahead); first.Before(earliest) {
			first = earliest
		}
		rate.Next = first.Add(time.Duration(n) * interval).UnixNano()
		taken, err := l.write(ctx, rate, revision)
		if err != nil {
			return true, err
		}
		if taken { // or perhaps ours: then those permits are lost
			if !sleep(ctx, jitter(5*time.Millisecond)) {
				return true, ctx.Err()
			}
			continue
		}
		l.rate, l.stale = rate.PerSecond, 2*ahead+interval
		difference := l.measured.Sub(l.engine)
		for i := range n {
			l.permits = append(l.permits, first.Add(time.Duration(i)*interval+difference))
		}
		return true, nil
	}
}

func (l *limiter) read(ctx context.Context) (rate shared, revision uint64, err error) {
	var found jetstream.KeyValueEntry
	_, err = insist(ctx, l.log, func(ctx context.Context) (err error) {
		found, err = l.bucket.Get(ctx, rateKey)
		return err
	})
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return shared{}, 0, nil
	}
	if err == nil {
		err = json.Unmarshal(found.Value(), &rate)
	}
	if err != nil {
		return shared{}, 0, fmt.Errorf("outbox: reading the rate: %w", err)
	}
	return rate, found.Revision(), nil
}

func (l *limiter) write(ctx context.Context, rate shared, revision uint64) (taken bool, err error) {
	value, err := json.Marshal(rate)
	if err == nil {
		_, err = insist(ctx, l.log, func(ctx context.Context) (err error) {
			_, err = l.bucket.Update(ctx, rateKey, value, revision)
			return err
		})
	}
	if engine.IsTaken(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("outbox: taking permits: %w", err)
	}
	return false, nil
}

// engineNow estimates the engine's time, from what it was a while ago and what has passed since.
func (l *limiter) engineNow(ctx context.Context) (time.Time, error) {
	if l.engine.IsZero() || time.Since(l.measured) > clockKnown {
		now, err := l.clock.now(ctx)
		if err != nil {
			return time.Time{}, err
		}
		l.engine, l.measured = now, time.Now()
	}
	return l.engine.Add(time.Since(l.measured)), nil
}
