package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync/atomic"
	"time"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/metrics"
)

const (
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

func sharedRate(o *Outbox) *shared[rateState] { return &shared[rateState]{outbox: o, key: "rate"} }

// interval returns the time between two permits.
func (s rateState) interval() time.Duration {
	return time.Duration(float64(time.Second) / s.PerSecond)
}

// SetRate sets the number of requests per second that all workers together may start; 0 means no limit. Running workers follow within
// a second.
func (o *Outbox) SetRate(ctx context.Context, perSecond float64) (err error) {
	const slowest, fastest = 1e-3, 1e6
	if perSecond != 0 && !(perSecond >= slowest && perSecond <= fastest) {
		return fmt.Errorf("outbox: the rate is %v per second, want %v to %v, or 0 for no limit", perSecond, slowest, fastest)
	}
	value := sharedRate(o)
	for swapped := false; err == nil && !swapped; {
		var rate rateState
		var revision uint64
		if rate, revision, err = value.read(ctx, 0); err == nil {
			rate.PerSecond = perSecond
			swapped, err = value.swap(ctx, rate, revision)
		}
	}
	return err
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
	shared  *shared[rateState]
	clock   *clock
	monitor *metrics.Set
	ahead   time.Duration // how far ahead it may reserve: urgent messages further than others, so that they are not outrun

	waiting  atomic.Int64
	reserved chan []permit // its one element is taken by who uses it; unlike a mutex, waiting for it can be canceled
}

func newLimiter(o *Outbox, clock *clock, monitor *metrics.Set, ahead time.Duration) *limiter {
	l := &limiter{shared: sharedRate(o), clock: clock, monitor: monitor, ahead: ahead, reserved: make(chan []permit, 1)}
	l.reserved <- nil
	return l
}

// wait returns a permit when it becomes valid, or an error if ctx ends first.
func (l *limiter) wait(ctx context.Context) (permit, error) {
	if rate, _, err := l.shared.read(ctx, rateTTL); err != nil || rate.PerSecond <= 0 {
		return noLimit(), errors.Join(err, ctx.Err())
	}
	l.waiting.Add(1)
	defer l.waiting.Add(-1)
	var reserved []permit
	select {
	case reserved = <-l.reserved:
		defer func() { l.reserved <- reserved }()
	case <-ctx.Done():
		return permit{}, ctx.Err()
	}
	for {
		for len(reserved) > 0 {
			p := reserved[0]
			reserved = reserved[1:]
			if !engine.Sleep(ctx, p.from-l.clock.elapsed()) {
				return permit{}, ctx.Err()
			}
			if p.isValid(l.clock.elapsed()) {
				return p, nil
			}
		}
		var limited bool
		var err error
		if reserved, limited, err = l.reserve(ctx); err != nil || !limited {
			return noLimit(), err
		}
	}
}

// reserve reserves permits for the callers that wait, or waits a moment if none can be had yet. It reports false if there is no limit.
func (l *limiter) reserve(ctx context.Context) (reserved []permit, limited bool, err error) {
	rate, revision, err := l.shared.read(ctx, 0)
	if err != nil {
		return nil, true, err
	}
	if rate.PerSecond <= 0 {
		return nil, false, nil
	}
	reading, err := l.clock.read(ctx)
	if err != nil {
		return nil, true, err
	}
	// Workers reserve only what is due soon. What lies beyond that comes from a clock that was wrong.
	const tolerance = 2 * time.Second
	now := reading.now(l.clock.elapsed())
	first, span := time.Unix(0, rate.Next), max(reserveAhead, rate.interval())
	if beyond := first.Sub(now); beyond > 2*span+tolerance {
		alarm(ctx, l.clock.engine.Log, l.monitor, "rate_reset",
			"the shared rate limit was ahead of the engine's clock and has been reset", slog.Duration("by", beyond))
		first = now
	} else if wait := beyond - l.ahead; wait > 0 {
		engine.Sleep(ctx, min(wait, rateTTL)+engine.Jitter(shortPause/4))
		return nil, true, ctx.Err()
	}
	if first.Before(now) {
		first = now
	}
	n := min(l.waiting.Load(), max(1, int64(rate.PerSecond*reserveAhead.Seconds())))
	rate.Next = first.Add(time.Duration(n) * rate.interval()).UnixNano()
	ok, err := l.shared.swap(ctx, rate, revision)
	if err != nil {
		return nil, true, err
	}
	if !ok { // if the write was ours after all, its permits are lost
		engine.Sleep(ctx, engine.Jitter(shortPause/4))
		return nil, true, ctx.Err()
	}
	for i := range n {
		reserved = append(reserved, reading.window(first.Add(time.Duration(i)*rate.interval()), span))
	}
	return reserved, true, nil
}
