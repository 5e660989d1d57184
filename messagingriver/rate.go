package messagingriver

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// maxRate is more than any account has.
const maxRate = 1_000_000

// pace has a process wait for its turns before it claims messages: those under the client's own rate limit, and those under the
// rate of all processes. The database hands the latter out, and each message is sent at its own turn: so the rate holds at every
// moment, also when processes start, die or freeze. A turn that a process did not use in time is lost.
type pace struct {
	own     func(ctx context.Context, n int) (context.Context, int, error)
	reserve func(ctx context.Context, n int) (turns, float64, error)

	// waiting holds one: a process takes no more turns before the last ones are due, and its lookups find the limiter free.
	waiting   *semaphore.Weighted
	known     atomic.Uint64 // the rate as bits of a float64; 0 is none, or not known yet
	unlimited atomic.Int64  // until when no limit is known, in nanoseconds since 1970
}

// tooLate is after how long a turn is lost, and early how long before it a process wakes up.
const tooLate, early = 250 * time.Millisecond, 20 * time.Millisecond

// turns are the times at which n messages are sent: if first is zero, at once.
type turns struct {
	n     int
	first time.Time
	gap   time.Duration
}

// of returns the turn of the i-th message.
func (t turns) of(i int) time.Time {
	if t.first.IsZero() {
		return time.Time{}
	}
	return t.first.Add(time.Duration(i) * t.gap)
}

// atOnce returns for how many messages a process asks for turns: those of a quarter of a second, so that a process that dies
// wastes few, and a new rate soon holds. If the rate has fallen, or is not known yet, reserve hands out fewer.
func (p *pace) atOnce() int {
	rate := math.Float64frombits(p.known.Load())
	if rate == 0 {
		return perJob
	}
	return int(max(1, min(rate/4, perJob)))
}

// wait takes the next turns of up to n messages, and returns shortly before the first, with the context to send them under.
func (p *pace) wait(ctx context.Context, n int) (context.Context, turns, error) {
	if err := p.waiting.Acquire(ctx, 1); err != nil {
		return nil, turns{}, err
	}
	defer p.waiting.Release(1)
	sending, n, err := p.own(ctx, n)
	if err != nil || time.Now().UnixNano() < p.unlimited.Load() {
		return sending, turns{n: n}, err
	}
	reserved, rate, err := p.reserve(ctx, n)
	if err != nil {
		return nil, turns{}, err
	}
	p.known.Store(math.Float64bits(rate))
	if rate == 0 {
		p.unlimited.Store(time.Now().Add(time.Second).UnixNano())
		return sending, turns{n: n}, nil
	}
	return sending, reserved, sleepUntil(ctx, reserved.first.Add(-early))
}

// keep waits for a turn. Who comes too late, as after a freeze, waits for another one.
func (p *pace) keep(ctx context.Context, turn time.Time) error {
	for !turn.IsZero() {
		if err := sleepUntil(ctx, turn); err != nil {
			return err
		}
		if time.Since(turn) < tooLate {
			return nil
		}
		reserved, _, err := p.reserve(ctx, 1)
		if err != nil {
			return err
		}
		turn = reserved.first
	}
	return nil
}

func sleepUntil(ctx context.Context, t time.Time) error {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// reserve takes up to n of the next turns from the database, those of a quarter of a second, and returns the rate, which is 0
// if there is no limit. The turns follow those that were taken before, but begin no earlier than half a
// burst ago: the other half is for the time that a message takes to the service. A turn far ahead is of a clock that was set
// back.
func (o *Outbox[TTx]) reserve(ctx context.Context, n int) (turns, float64, error) {
	type given struct{ rate, ahead, n float64 }
	const rate = "COALESCE(rate, CAST($2 AS DOUBLE PRECISION))"
	const some = "EARLIER(CAST($1 AS DOUBLE PRECISION), LATER(1, FLOOR(" + rate + " / 4)))"
	found, err := fetch(ctx, o.database, func(g *given) []any { return []any{&g.rate, &g.ahead, &g.n} }, `
		UPDATE messaging_rate SET next_at = `+some+` * 1000 / `+rate+` + EARLIER(CLOCK + 60000 + 10000 / `+rate+`,
			LATER(next_at, CLOCK - 500 / `+rate+` * (CASE WHEN CAST($3 AS BIGINT) > 0 THEN $3 ELSE LATER(1, `+rate+` / 10) END - 1)))
		WHERE name = 'account' AND `+rate+` > 0 RETURNING `+rate+`, next_at - CLOCK, `+some, n, o.options.Rate, o.options.Burst)
	if err != nil || len(found) == 0 {
		return turns{}, 0, err
	}
	milliseconds := func(f float64) time.Duration { return time.Duration(f * float64(time.Millisecond)) }
	g := found[0]
	return turns{int(g.n), time.Now().Add(milliseconds(g.ahead - g.n*1000/g.rate)), milliseconds(1000 / g.rate)}, g.rate, nil
}

// noteRate writes down this worker's own rate, so that Status knows it in a process that has other options.
func (o *Outbox[TTx]) noteRate(ctx context.Context) error {
	return o.database.exec(ctx, `
		INSERT INTO messaging_rate (name, rate, next_at) VALUES ('workers', CAST($1 AS DOUBLE PRECISION), 0)
		ON CONFLICT (name) DO UPDATE SET rate = excluded.rate WHERE messaging_rate.rate <> excluded.rate`, o.options.Rate)
}

// SetRate sets the rate of all processes, in messages a second, in place of Options.Rate, while they run. 0 returns to
// Options.Rate. It holds within about a second, and until the next SetRate.
func (o *Outbox[TTx]) SetRate(ctx context.Context, perSecond float64) error {
	if !(perSecond >= 0 && perSecond <= maxRate) {
		return fmt.Errorf("messagingriver: SetRate got %v; want 0 to %d messages a second", perSecond, maxRate)
	}
	return o.database.exec(ctx, `
		UPDATE messaging_rate SET rate = NULLIF(CAST($1 AS DOUBLE PRECISION), 0), next_at = EARLIER(next_at, CLOCK) WHERE name = 'account'`,
		perSecond)
}
