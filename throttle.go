package messaging

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// A throttle is the rate of a SendAll to a service that throttles it, found as TCP finds its own: it falls when more than a tenth of the
// responses of a period are throttled, and grows after a period without any. Until the service throttles there is none.
type throttle struct {
	on atomic.Bool

	mu       sync.Mutex
	limiter  *rate.Limiter // nil while it is off
	isNew    bool          // the rate is a guess that was never too high: it doubles
	calm     int           // periods in a row without throttling
	cutAt    time.Time     // what began before says nothing of the present rate
	row      int           // throttled in a row
	rowBegan time.Time     // when the first of them began: an earlier message that was accepted says nothing
	took     float64       // messages a second that the service took before it took none, or 0
	period   throttleCounts
	before   throttleCounts // the period before
}

// throttleCounts is what happened in a period.
type throttleCounts struct {
	began     time.Time
	begun     int // messages
	accepted  int
	throttled int
}

// isHigh reports whether more than a tenth of the responses were throttled.
func (c *throttleCounts) isHigh() bool { return 10*c.throttled > c.accepted+c.throttled }

func perSecond(n int, in time.Duration) float64 {
	return float64(n) / max(in, throttlePeriod/5).Seconds()
}

const (
	throttlePeriod = time.Second / 2
	leastThrottled = 8  // in a period, that turn it on: one recipient may be throttled alone
	leastRate      = 1. // messages a second
	trickle        = 2. // while the service takes none
)

// isOn reports whether the service throttles the SendAll, and not one message alone.
func (t *throttle) isOn() bool { return t.on.Load() }

// wait waits for the turn of the next message, or until the context ends.
func (t *throttle) wait(ctx context.Context) {
	if !t.isOn() {
		return
	}
	t.mu.Lock()
	t.tick(time.Now())
	t.period.begun++
	var delay time.Duration
	if t.limiter != nil {
		delay = t.limiter.Reserve().Delay() // not Wait, which does not wait if the deadline is nearer than the turn
	}
	t.mu.Unlock()
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// hear takes a response to a message that began at a time into account.
func (t *throttle) hear(began time.Time, throttled bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	t.tick(now)
	if !began.After(t.cutAt) {
		return
	}
	if throttled {
		t.hearThrottled(began, now)
		return
	}
	t.period.accepted++
	if !began.Before(t.rowBegan) {
		t.row = 0
	}
	if t.took > 0 { // it takes messages again
		t.setRate(0.9 * t.took)
		t.took = 0
		t.restart(now)
	}
}

func (t *throttle) hearThrottled(began, now time.Time) {
	t.period.throttled++
	if t.row == 0 {
		t.rowBegan = began
	}
	t.row++
	isRow := t.row >= leastThrottled
	if t.limiter == nil && (isRow || t.period.throttled >= leastThrottled && t.period.isHigh()) {
		t.turnOn(now, isRow)
	}
}

// tick ends the period if it is over, and sets the rate of the next.
func (t *throttle) tick(now time.Time) {
	if now.Sub(t.period.began) < throttlePeriod {
		return
	}
	switch {
	case t.limiter == nil:
	case t.period.throttled > 1 && t.period.isHigh():
		t.cut(now)
		return
	case t.period.throttled > 0:
		t.calm = 0
		t.isNew = t.isNew && t.period.accepted == 0
	case t.period.accepted > 0:
		t.grow(now)
	}
	t.next(now)
}

func (t *throttle) next(now time.Time) {
	t.before = t.period
	t.period = throttleCounts{began: now}
}

// turnOn begins with half of what was sent lately. If the service took messages and now takes none, it begins with a trickle, until it takes
// one.
func (t *throttle) turnOn(now time.Time, takesNone bool) {
	t.limiter = rate.NewLimiter(leastRate, 1)
	t.on.Store(true)
	t.isNew = true
	if takesNone && t.before.accepted > 0 {
		t.took = t.lately(now)
		t.setRate(trickle)
	} else {
		sent := t.period.accepted + t.period.throttled
		t.setRate(perSecond(sent, now.Sub(t.period.began)) / 2)
	}
	t.restart(now)
}

// cut lowers the rate a little or, if the service took far less, towards what it took.
func (t *throttle) cut(now time.Time) {
	limit := float64(t.limiter.Limit())
	next := 0.85 * limit
	took := t.lately(now)
	t.isNew = took < limit/5
	if t.isNew {
		next = max(took, limit/4)
	}
	t.setRate(next)
	t.restart(now)
}

// lately returns how many messages the service took in the last second, which is this period and the one before.
func (t *throttle) lately(now time.Time) float64 {
	began := t.before.began
	if began.IsZero() {
		began = t.period.began
	}
	return perSecond(t.before.accepted+t.period.accepted, now.Sub(began))
}

func (t *throttle) setRate(perSecond float64) {
	t.limiter.SetLimit(rate.Limit(max(perSecond, leastRate)))
}

// restart begins a period at another rate.
func (t *throttle) restart(now time.Time) {
	t.calm = 0
	t.row = 0
	t.cutAt = now
	t.next(now)
}

// grow raises the rate by a twentieth, and the more the longer all is calm. A rate that is far above what begins bounds nothing, and goes.
func (t *throttle) grow(now time.Time) {
	growth := min(0.02*float64(int(1)<<min(t.calm/2, 6)), 1)
	if t.isNew {
		growth = 1
	}
	t.calm++
	next := float64(t.limiter.Limit()) * (1 + growth)
	used := float64(t.period.begun+1) / now.Sub(t.period.began).Seconds()
	if next > 4*used {
		t.limiter = nil
		t.on.Store(false)
		return
	}
	t.setRate(next)
}
