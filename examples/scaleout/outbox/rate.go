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
	"github.com/messaging-service/messaging-go/examples/scaleout/metrics"
)

const (
	// rateKey is the key of the shared rateState.
	rateKey = "rate"
	// reserveAhead is the span of permits that a worker reserves at once, and how far ahead of the engine's clock they may lie.
	reserveAhead = 100 * time.Millisecond
	// rateTTL is how long a worker relies on the absence of a limit.
	rateTTL = time.Second
)

// rateState is the rate limit that all workers share: the n-th permit from Next on is for the time Next + n/PerSecond.
type rateState struct {
	PerSecond float64 `json:"perSecond"`
	// Next is the time of the next free permit, in nanoseconds of the engine's clock.
	Next int64 `json:"next"`
}

// interval returns the time between two permits.
func (s rateState) interval() time.Duration {
	return time.Duration(float64(time.Second) / s.PerSecond)
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
	l := &limiter{bucket: bucket, log: slog.New(slog.DiscardHandler)}
	for {
		rate, revision, err := l.read(ctx)
		if err != nil {
			return err
		}
		rate.PerSecond = perSecond
		if conflict, err := l.write(ctx, rate, revision); err != nil || !conflict {
			return err
		}
	}
}

// permit allows one request between two moments of the elapsed time.
type permit struct{ from, until time.Duration }

// noLimit is a permit that is always valid.
func noLimit() permit { return permit{until: math.MaxInt64} }

func (p permit) isValid(now time.Duration) bool { return now >= p.from && now <= p.until }

// limiter hands out the permits of one worker for one priority. It reserves several at a time from the shared rate. A permit that is not
// used in its time is lost. So at most rate + burst requests begin in any second, whatever stalls: burst is the number of permits in a
// tenth of a second, at least 1.
type limiter struct {
	bucket  jetstream.KeyValue
	clock   *clock
	log     *slog.Logger
	monitor *metrics.Set
	ahead   time.Duration // how far ahead it may reserve: urgent messages further than others, so that they are not outrun

	unlimitedUntil atomic.Int64 // by the elapsed time
	waiting        atomic.Int64

	turn    chan struct{} // its one element guards the permits
	permits []time.Time   // by the engine's clock
	slack   time.Duration // how long each is valid
}

func newLimiter(bucket jetstream.KeyValue, clock *clock, log *slog.Logger, monitor *metrics.Set, ahead time.Duration) *limiter {
	l := &limiter{bucket: bucket, clock: clock, log: log, monitor: monitor, ahead: ahead, turn: make(chan struct{}, 1)}
	l.turn <- struct{}{}
	return l
}

// wait returns a permit when it becomes valid, or an error if ctx ends first.
func (l *limiter) wait(ctx context.Context) (permit, error) {
	if int64(l.clock.elapsed()) < l.unlimitedUntil.Load() {
		return noLimit(), ctx.Err()
	}
	l.waiting.Add(1)
	defer l.waiting.Add(-1)
	select {
	case <-l.turn:
		defer func() { l.turn <- struct{}{} }()
	case <-ctx.Done():
		return permit{}, ctx.Err()
	}
	for {
		for len(l.permits) > 0 {
			at := l.permits[0]
			l.permits = l.permits[1:]
			reading, err := l.clock.read(ctx)
			if err != nil {
				return permit{}, err
			}
			p := reading.window(at, l.slack)
			if !sleep(ctx, p.from-l.clock.elapsed()) {
				return permit{}, ctx.Err()
			}
			if p.isValid(l.clock.elapsed()) {
				return p, nil
			}
		}
		if limited, err := l.reserve(ctx); err != nil || !limited {
			return noLimit(), err
		}
	}
}

// reserve reserves permits for the callers that wait, or waits until that is possible. It reports false if there is no limit.
func (l *limiter) reserve(ctx context.Context) (limited bool, err error) {
	rate, revision, err := l.read(ctx)
	if err != nil {
		return true, err
	}
	if rate.PerSecond <= 0 {
		l.unlimitedUntil.Store(int64(l.clock.elapsed() + rateTTL))
		return false, nil
	}
	now, err := l.clock.now(ctx)
	if err != nil {
		return true, err
	}
	// Workers reserve only what is due soon. What lies beyond that comes from a clock that was wrong.
	const tolerance = 2 * time.Second
	first, span := time.Unix(0, rate.Next), max(reserveAhead, rate.interval())
	if beyond := first.Sub(now); beyond > 2*span+tolerance {
		l.log.ErrorContext(ctx, "the shared rate limit was ahead of the engine's clock and has been reset", slog.Duration("by", beyond))
		l.monitor.Count("scaleout_alarms_total", "kind", "rate_reset")
		first = now
	} else if wait := beyond - l.ahead; wait > 0 {
		sleep(ctx, min(wait, rateTTL)+jitter(minPause/4))
		return true, ctx.Err()
	}
	if first.Before(now) {
		first = now
	}
	n := min(l.waiting.Load(), max(1, int64(rate.PerSecond*reserveAhead.Seconds())))
	rate.Next = first.Add(time.Duration(n) * rate.interval()).UnixNano()
	conflict, err := l.write(ctx, rate, revision)
	if err != nil {
		return true, err
	}
	if conflict { // if the write was ours after all, its permits are lost
		sleep(ctx, jitter(minPause/4))
		return true, ctx.Err()
	}
	l.slack = span
	for i := range n {
		l.permits = append(l.permits, first.Add(time.Duration(i)*rate.interval()))
	}
	return true, nil
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
		return false, fmt.Errorf("outbox: writing the rate: %w", err)
	}
	return false, nil
}
