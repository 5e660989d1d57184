package messagingriver

import (
	"context"
	"fmt"
	"math"
	"sync"
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

// turns takes the next turns, for up to n of those messages that wait, and returns shortly before the first. A zero one is at once.
func (o *Outbox[TTx]) turns(ctx context.Context, c channel, n int, probe bool) ([]time.Time, error) {
	if err := o.rate.waiting.Acquire(ctx, 1); err != nil {
		return nil, nil // the worker stops
	}
	defer o.rate.waiting.Release(1)
	if int64(uptime()) < o.rate.unlimited.Load() {
		return make([]time.Time, n), nil
	}
	waiting, err := o.database.keys(ctx, o.next("", probe), n, c.channel.String()) // a turn that nobody uses would be lost
	if err != nil || len(waiting) == 0 {
		return nil, err
	}
	given, err := o.reserve(ctx, len(waiting))
	switch {
	case err != nil:
		return nil, err
	case given == nil:
		o.rate.unlimited.Store(int64(uptime() + time.Second))
		return make([]time.Time, len(waiting)), nil
	case sleep(ctx, time.Until(given[0])-early) != nil:
		return nil, nil
	}
	return given, nil
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
		another, err := o.reserve(ctx, 1)
		if err != nil || another == nil {
			return err
		}
		turn = another[0]
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

// reserve takes up to n of the next turns from the database, those of a quarter of a second, or returns nil if there is no limit.
// The turns follow those that were taken before, but begin no earlier than half a burst ago: the other half is for the time that a
// message takes to the service. A turn far ahead is of a clock that was set back.
func (o *Outbox[TTx]) reserve(ctx context.Context, n int) (turns []time.Time, _ error) {
	type given struct{ rate, ahead, n float64 }
	const rate = "COALESCE(rate, CAST($2 AS DOUBLE PRECISION))"
	const some = "EARLIER(CAST($1 AS DOUBLE PRECISION), LATER(1, FLOOR(" + rate + " / 4)))"
	found, err := fetch(ctx, o.database, func(g *given) []any { return []any{&g.rate, &g.ahead, &g.n} }, `
		UPDATE messaging_rate SET next_at = `+some+` * 1000 / `+rate+` + EARLIER(CLOCK + 60000 + 10000 / `+rate+`,
			LATER(next_at, CLOCK - 500 / `+rate+` * (CASE WHEN CAST($3 AS BIGINT) > 0 THEN $3 ELSE LATER(1, `+rate+` / 10) END - 1)))
		WHERE name = 'account' AND `+rate+` > 0 RETURNING `+rate+`, next_at - CLOCK, `+some, n, o.options.Rate, o.options.Burst)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	now, g := time.Now(), found[0]
	for i := range int(g.n) {
		ahead := g.ahead - (g.n-float64(i))*1000/g.rate
		turns = append(turns, now.Add(time.Duration(ahead*float64(time.Millisecond))))
	}
	return turns, nil
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

// flow counts the messages of a channel that were claimed and have not begun, and those that began in about the last second. It has
// a worker claim no more than can begin soon, so that an urgent message has few others before it, and a kill costs few.
type flow struct {
	mu    sync.Mutex
	held  int
	begun float64       // each counts less as time goes by
	at    time.Duration // when begun was right, as uptime
}

// room returns how many messages may be claimed: a quarter of those that began in the last second, but one at least, without
// those that have not begun.
func (f *flow) room() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count(0)
	return max(1, int(f.begun/4)) - f.held
}

// count adds messages that have begun.
func (f *flow) count(n float64) {
	now := uptime()
	f.begun, f.at = n+f.begun*math.Exp(-(now-f.at).Seconds()), now
}

// hold counts messages that were claimed. Each calls begins or ends once.
func (f *flow) hold(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held += n
}

func (f *flow) begins() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held--
	f.count(1)
}
