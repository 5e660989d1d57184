package messagingriver

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// maxRate is more than any account has.
const maxRate = 1_000_000

// pace has a process wait for its turns under the rate of all processes before it claims messages. The database hands them out,
// and each message is sent at its own turn: so the rate holds at every moment, also when processes start, die or freeze. A turn
// that a process did not use in time is lost.
type pace struct {
	waiting   *semaphore.Weighted // holds one: a process takes no more turns before the last ones are due
	unlimited atomic.Int64        // until when no limit is known, as uptime
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

// turns takes the next turns, for up to n of those messages that wait, and returns shortly before the first.
func (o *Outbox[TTx]) turns(ctx context.Context, c channel, n int, probe bool) (turns, error) {
	if err := o.rate.waiting.Acquire(ctx, 1); err != nil {
		return turns{}, nil // the worker stops
	}
	defer o.rate.waiting.Release(1)
	if int64(uptime()) < o.rate.unlimited.Load() {
		return turns{n: n}, nil
	}
	waiting, err := o.database.keys(ctx, o.next("", probe), n, c.channel.String()) // a turn that nobody uses would be lost
	if err != nil || len(waiting) == 0 {
		return turns{}, err
	}
	reserved, limited, err := o.reserve(ctx, len(waiting))
	if err != nil {
		return turns{}, err
	}
	if !limited {
		o.rate.unlimited.Store(int64(uptime() + time.Second))
		return turns{n: len(waiting)}, nil
	}
	if sleep(ctx, time.Until(reserved.first)-early) != nil {
		return turns{}, nil
	}
	return reserved, nil
}

// keep waits for a turn. Who comes too late, as after a freeze, waits for another one.
func (o *Outbox[TTx]) keep(ctx context.Context, turn time.Time) error {
	for !turn.IsZero() {
		if err := sleep(ctx, time.Until(turn)); err != nil {
			return err
		}
		if time.Since(turn) < tooLate {
			return nil
		}
		reserved, _, err := o.reserve(ctx, 1)
		if err != nil {
			return err
		}
		turn = reserved.first
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// reserve takes up to n of the next turns from the database, those of a quarter of a second, and reports whether there is a
// limit. The turns follow those that were taken before, but begin no earlier than half a
// burst ago: the other half is for the time that a message takes to the service. A turn far ahead is of a clock that was set
// back.
func (o *Outbox[TTx]) reserve(ctx context.Context, n int) (turns, bool, error) {
	type given struct{ rate, ahead, n float64 }
	const rate = "COALESCE(rate, CAST($2 AS DOUBLE PRECISION))"
	const some = "EARLIER(CAST($1 AS DOUBLE PRECISION), LATER(1, FLOOR(" + rate + " / 4)))"
	found, err := fetch(ctx, o.database, func(g *given) []any { return []any{&g.rate, &g.ahead, &g.n} }, `
		UPDATE messaging_rate SET next_at = `+some+` * 1000 / `+rate+` + EARLIER(CLOCK + 60000 + 10000 / `+rate+`,
			LATER(next_at, CLOCK - 500 / `+rate+` * (CASE WHEN CAST($3 AS BIGINT) > 0 THEN $3 ELSE LATER(1, `+rate+` / 10) END - 1)))
		WHERE name = 'account' AND `+rate+` > 0 RETURNING `+rate+`, next_at - CLOCK, `+some, n, o.options.Rate, o.options.Burst)
	if err != nil || len(found) == 0 {
		return turns{}, false, err
	}
	milliseconds := func(f float64) time.Duration { return time.Duration(f * float64(time.Millisecond)) }
	g := found[0]
	return turns{int(g.n), time.Now().Add(milliseconds(g.ahead - g.n*1000/g.rate)), milliseconds(1000 / g.rate)}, true, nil
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
