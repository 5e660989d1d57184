package messaging

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// A throttle limits the rate of a SendAll while the service throttles it. The rate is found as TCP finds its own: it falls when more than a
// tenth of the responses of a period are throttled, and grows after a period without any. Until the service throttles there is no limit.
type throttle struct {
	on atomic.Bool

	mu           sync.Mutex
	limiter      *rate.Limiter // nil while it is off
	isSearching  bool          // the rate is a guess that was never too high, so it doubles
	quietPeriods int           // in a row, without a throttled response
	rateSetAt    time.Time     // messages that began before say nothing about the present rate
	throttledRow int           // throttled responses in a row
	goodRate     float64       // messages a second that the service accepted before it accepted none, or 0
	rateBefore   float64       // messages a second that the service accepted before the throttle was on; 0 once it has accepted one since
	isCostly     bool          // a throttled message was left unknown, so the rate must not be found by trying
	period       throttleCounts
	previous     throttleCounts
}

// throttleCounts counts what happened in a period.
type throttleCounts struct {
	startedAt time.Time
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
	minThrottled   = 8   // responses in a period that turn it on: a few may be about one recipient
	minRate        = 1.  // messages a second
	probeRate      = 1.5 // while the service accepts none
)

// isOn reports whether the service throttles the SendAll, and not one message alone.
func (t *throttle) isOn() bool { return t.on.Load() }

// wait waits for the turn of the next message, or until the context ends.
func (t *throttle) wait(ctx context.Context) {
	if !t.isOn() {
		return
	}
	timer := time.NewTimer(t.reserve())
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// reserve takes the turn of the next message, and returns how long until it comes.
func (t *throttle) reserve() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tick(time.Now())
	t.period.begun++
	if t.limiter == nil {
		return 0
	}
	return t.limiter.Reserve().Delay() // not Wait, which does not wait if the deadline is nearer than the turn
}

// recordLost counts a throttled response that left its message unknown, such as the page of a proxy.
func (t *throttle) recordLost(began time.Time) {
	t.mu.Lock()
	t.isCostly = true
	t.mu.Unlock()
	t.record(began, true)
}

// record counts the response to a message that began at a time.
func (t *throttle) record(began time.Time, isThrottled bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	t.tick(now)
	if !began.After(t.rateSetAt) {
		return
	}
	if isThrottled {
		t.recordThrottled(now)
		return
	}
	t.period.accepted++
	t.throttledRow = 0
	t.rateBefore = 0
	if t.goodRate > 0 { // the service accepts messages again
		t.setRate(now, 0.9*t.goodRate)
		t.goodRate = 0
	}
}

func (t *throttle) recordThrottled(now time.Time) {
	t.period.throttled++
	t.throttledRow++
	acceptsNone := t.throttledRow >= minThrottled
	isHigh := t.period.throttled >= minThrottled && t.period.isHigh()
	switch {
	case t.limiter == nil && (acceptsNone || isHigh):
		t.turnOn(now, acceptsNone)
	case acceptsNone && t.rateBefore > 0: // it has accepted none since the throttle was turned on
		t.probe(now)
	}
}

// tick ends the period if it is over, and sets the rate of the next one.
func (t *throttle) tick(now time.Time) {
	if now.Sub(t.period.startedAt) < throttlePeriod {
		return
	}
	switch {
	case t.limiter == nil:
	case t.goodRate > 0: // a probe is slow enough, and the first that is accepted must count
	case t.isTooFast():
		t.decrease(now)
		return
	case t.period.throttled > 0:
		t.quietPeriods = 0
		t.isSearching = t.isSearching && t.period.accepted == 0
	case t.period.accepted > 0:
		t.increase(now)
	}
	t.nextPeriod(now)
}

// isTooFast reports whether the service throttled too many messages of the period.
func (t *throttle) isTooFast() bool {
	if t.isCostly {
		return t.period.throttled > 0
	}
	return t.period.throttled > 1 && t.period.isHigh()
}

func (t *throttle) nextPeriod(now time.Time) {
	t.previous = t.period
	t.period = throttleCounts{startedAt: now}
}

// turnOn starts with half of the recent rate. If the service accepted messages and now accepts none, it starts with the probe rate, until the
// service accepts one.
func (t *throttle) turnOn(now time.Time, acceptsNone bool) {
	t.limiter = rate.NewLimiter(minRate, 1)
	t.on.Store(true)
	t.isSearching = true
	if t.previous.accepted > 0 {
		t.rateBefore = t.acceptedRate(now)
	}
	if acceptsNone && t.rateBefore > 0 {
		t.probe(now)
		return
	}
	sent := t.period.accepted + t.period.throttled
	t.setRate(now, perSecond(sent, now.Sub(t.period.startedAt))/2)
}

// probe sends single messages until the service accepts one, and then almost as many as it accepted before.
func (t *throttle) probe(now time.Time) {
	t.goodRate = t.rateBefore
	t.rateBefore = 0
	t.setRate(now, probeRate)
}

// decrease lowers the rate a little or, if the service accepted far less, towards what it accepted.
func (t *throttle) decrease(now time.Time) {
	limit := float64(t.limiter.Limit())
	accepted := t.acceptedRate(now)
	t.isSearching = accepted < limit/5
	switch {
	case t.isSearching:
		t.setRate(now, max(accepted, limit/4))
	case t.isCostly:
		t.setRate(now, min(0.85*limit, 0.9*accepted))
	default:
		t.setRate(now, 0.85*limit)
	}
}

// acceptedRate returns how many messages a second the service accepted in this period and the previous one.
func (t *throttle) acceptedRate(now time.Time) float64 {
	startedAt := t.previous.startedAt
	if startedAt.IsZero() {
		startedAt = t.period.startedAt
	}
	return perSecond(t.previous.accepted+t.period.accepted, now.Sub(startedAt))
}

// setRate starts a period with another rate.
func (t *throttle) setRate(now time.Time, perSecond float64) {
	t.limiter.SetLimit(rate.Limit(max(perSecond, minRate)))
	t.quietPeriods = 0
	t.throttledRow = 0
	t.rateSetAt = now
	t.nextPeriod(now)
}

// increase raises the rate by a fiftieth, and by more the longer no response is throttled. A rate that is far above what is sent limits
// nothing, so the throttle turns off.
func (t *throttle) increase(now time.Time) {
	doublings := min(t.quietPeriods/2, 6)
	growth := min(0.02*float64(int(1)<<doublings), 1)
	switch {
	case t.isSearching:
		growth = 1
	case t.isCostly:
		growth = 0.02
	}
	t.quietPeriods++
	next := float64(t.limiter.Limit()) * (1 + growth)
	used := float64(t.period.begun+1) / now.Sub(t.period.startedAt).Seconds()
	if next > 4*used {
		t.limiter = nil
		t.on.Store(false)
		return
	}
	t.limiter.SetLimit(rate.Limit(next))
}
