package messaging

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// A throttle limits the rate of a SendAll while the service throttles it. The rate is found as in TCP: it falls when more than a tenth of the
// responses of a period are throttled, and grows after a period without any. A throttle is in one of these states:
//
//   - Off: there is no limit. It is turned on when the service throttles many messages, and off again when the limit is far above what is sent.
//   - Searching: the rate is a guess. It doubles until it is too high.
//   - Probing: the service accepted messages before, and now accepts none. Single messages go out slowly until it accepts one. The rate then
//     returns to almost what the service accepted before.
//   - Steady: the rate follows what the service accepts, in small steps.
type throttle struct {
	on atomic.Bool

	mu             sync.Mutex
	limiter        *rate.Limiter // nil while it is off
	isSearching    bool
	rateAfterProbe float64       // messages a second; 0 unless it is probing
	probeAccepted  chan struct{} // closed when the service accepts a probe; nil before the first
	rateBeforeOn   float64       // messages a second that the service accepted before the throttle was on; 0 once it has accepted one since
	losesMessages  bool          // a throttled message was left unknown, so the rate must not be found by trying
	quietPeriods   int           // in a row, without a throttled response
	throttledInRow int           // responses
	rateSetAt      time.Time     // messages that began before say nothing about the present rate
	period         throttleCounts
	previous       throttleCounts
}

// isProbing reports whether the service has accepted no message since the throttle began to probe.
func (t *throttle) isProbing() bool { return t.rateAfterProbe > 0 }

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

// wait waits for the turn of the next message, until a probe is accepted, or until the context ends.
func (t *throttle) wait(ctx context.Context) {
	if !t.isOn() {
		return
	}
	wait, probeAccepted := t.reserve()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-probeAccepted: // the turn is one of the slow rate
	}
}

// reserve takes the turn of the next message, and returns how long until it comes. While the throttle is probing, the channel is closed when
// the service accepts a message; otherwise it is nil.
func (t *throttle) reserve() (wait time.Duration, probeAccepted <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tick(time.Now())
	t.period.begun++
	if t.limiter == nil {
		return 0, nil
	}
	wait = t.limiter.Reserve().Delay() // not Wait, which does not wait if the deadline is nearer than the turn
	if t.isProbing() {
		probeAccepted = t.probeAccepted
	}
	return wait, probeAccepted
}

// recordLost counts a throttled response that left its message unknown, such as the page of a proxy.
func (t *throttle) recordLost(began time.Time) {
	t.mu.Lock()
	t.losesMessages = true
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
	t.throttledInRow = 0
	t.rateBeforeOn = 0
	if t.isProbing() {
		t.setRate(now, 0.9*t.rateAfterProbe)
		t.rateAfterProbe = 0
		close(t.probeAccepted)
	}
}

func (t *throttle) recordThrottled(now time.Time) {
	t.period.throttled++
	t.throttledInRow++
	acceptsNone := t.throttledInRow >= minThrottled
	isHigh := t.period.throttled >= minThrottled && t.period.isHigh()
	switch {
	case t.limiter == nil && (acceptsNone || isHigh):
		t.turnOn(now, acceptsNone)
	case acceptsNone && t.rateBeforeOn > 0: // it has accepted none since the throttle was turned on
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
	case t.isProbing(): // a probe is slow enough, and the first that is accepted must count
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
	if t.losesMessages {
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
		t.rateBeforeOn = t.acceptedRate(now)
	}
	if acceptsNone && t.rateBeforeOn > 0 {
		t.probe(now)
		return
	}
	sent := t.period.accepted + t.period.throttled
	t.setRate(now, perSecond(sent, now.Sub(t.period.startedAt))/2)
}

// probe sends single messages until the service accepts one, and then almost as many as it accepted before.
func (t *throttle) probe(now time.Time) {
	t.rateAfterProbe = t.rateBeforeOn
	t.rateBeforeOn = 0
	t.probeAccepted = make(chan struct{})
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
	case t.losesMessages:
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
	t.throttledInRow = 0
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
	case t.losesMessages:
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
