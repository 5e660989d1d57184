package messaging

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A throttle limits the rate of a SendAll while the service throttles it. The rate is found as in TCP: it falls when more than a tenth of the
// responses of a period are throttled, and grows after a period without any.
//
// Its states, and what leads from one to another:
//
//	from        to          when                                                      the rate becomes
//	off         searching   minThrottled responses are throttled, and over a tenth    half of what was sent
//	off         probing     minThrottled in a row, and messages were accepted before  probeRate
//	searching   -           a period has accepted messages and none throttled         twice the rate
//	searching   steady      a period has both                                         the same
//	steady      -           a period has accepted messages and none throttled         higher, by more each time
//	either      steady      a period is too fast                                      a little lower
//	either      searching   a period is too fast, and under a fifth was accepted      a quarter of the rate
//	either      probing     minThrottled in a row, and none accepted since off        probeRate
//	either      off         the rate is far above what is sent                        unlimited
//	probing     searching   a message is accepted                                     almost restoreRate
//
// Either is searching or steady, and a dash means no other state.
type throttle struct {
	mu             sync.Mutex // guards all fields
	state          throttleState
	limiter        *rate.Limiter // nil until the throttle first turns on
	losesMessages  bool          // a throttled message was left unknown. The throttle is careful from then on: see isTooFast, fall and growth
	throttledSince time.Time     // the first throttled response after the last accepted message, or zero

	// To probe:
	restoreRate   float64       // what the service accepted before the throttle turned on, a second; 0 once it accepts a message again
	probeAccepted chan struct{} // closed when the service accepts a probe; nil before the first

	// To find the rate:
	period         throttleCounts
	previous       throttleCounts
	countFrom      time.Time // responses to messages that began before say nothing about the present rate
	throttledInRow int       // responses
	quietPeriods   int       // in a row, steady and without a throttled response
}

func newThrottle() *throttle {
	return &throttle{period: throttleCounts{startedAt: time.Now()}}
}

// A throttleState says what the rate of a throttle is.
type throttleState int

const (
	// There is no limit. The throttle turns on when the service throttles many messages, and off when the limit is far above what is sent.
	throttleOff throttleState = iota
	// The rate is a guess. It doubles until it is too high.
	throttleSearching
	// The service accepted messages before, and now accepts none. Single messages go out slowly until it accepts one. The rate then returns
	// to almost what the service accepted before.
	throttleProbing
	// The rate follows what the service accepts, in small steps.
	throttleSteady
)

// throttleCounts counts what happened in a period.
type throttleCounts struct {
	startedAt time.Time
	begun     int // messages
	accepted  int
	throttled int
}

// responses returns how many responses came.
func (c *throttleCounts) responses() int { return c.accepted + c.throttled }

// isHigh reports whether more than a tenth of the responses were throttled.
func (c *throttleCounts) isHigh() bool { return 10*c.throttled > c.responses() }

// usedRate returns how many messages a second were sent, with the next one.
func (c *throttleCounts) usedRate(now time.Time) float64 {
	return float64(c.begun+1) / now.Sub(c.startedAt).Seconds()
}

// perSecond returns a rate. A time that is too short to say anything counts as a fifth of a period.
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
func (t *throttle) isOn() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state != throttleOff
}

// wait waits for the turn of the next message, until a probe is accepted, or until the context ends.
func (t *throttle) wait(ctx context.Context) {
	wait, probeAccepted := t.reserve()
	if wait == 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-probeAccepted: // the turn was set at the probing rate
	}
}

// reserve takes the turn of the next message, and returns how long until it comes: 0 while the throttle is off. While the throttle is
// probing, the channel is closed when the service accepts a message; otherwise it is nil.
func (t *throttle) reserve() (wait time.Duration, probeAccepted <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state == throttleOff {
		return 0, nil
	}
	t.tick(time.Now())
	t.period.begun++
	wait = t.limiter.Reserve().Delay() // not Wait, which does not wait if the deadline is nearer than the turn
	if t.state == throttleProbing {
		probeAccepted = t.probeAccepted
	}
	return wait, probeAccepted
}

// giveUpIn returns how long it takes until the service has throttled every message for as long as after.
func (t *throttle) giveUpIn(after time.Duration) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.throttledSince.IsZero() { // it has accepted another message in the meantime
		return after
	}
	return time.Until(t.throttledSince.Add(after))
}

// record counts the response to a message that began at began.
func (t *throttle) record(began time.Time, isThrottled bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.recordResponse(began, isThrottled)
}

// recordLost counts a throttled response that left its message unknown, such as the page of a proxy.
func (t *throttle) recordLost(began time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.losesMessages = true
	t.recordResponse(began, true)
}

func (t *throttle) recordResponse(began time.Time, isThrottled bool) {
	now := time.Now()
	t.tick(now)
	switch {
	case !isThrottled:
		t.throttledSince = time.Time{}
	case t.throttledSince.IsZero():
		t.throttledSince = now
	}
	if !began.After(t.countFrom) {
		return
	}
	if isThrottled {
		t.recordThrottled(now)
	} else {
		t.recordAccepted(now)
	}
}

func (t *throttle) recordAccepted(now time.Time) {
	t.period.accepted++
	t.throttledInRow = 0
	if t.state == throttleProbing {
		t.endProbe(now)
	}
	t.restoreRate = 0
}

func (t *throttle) recordThrottled(now time.Time) {
	t.period.throttled++
	t.throttledInRow++
	switch t.state {
	case throttleOff:
		throttlesMany := t.period.throttled >= minThrottled && t.period.isHigh()
		if t.acceptsNone() || throttlesMany {
			t.turnOn(now)
		}
	case throttleSearching, throttleSteady:
		if t.acceptedBefore() && t.acceptsNone() {
			t.probe(now)
		}
	case throttleProbing: // until a message is accepted
	}
}

// acceptsNone reports whether so many responses in a row were throttled that the service seems to accept no message.
func (t *throttle) acceptsNone() bool { return t.throttledInRow >= minThrottled }

// acceptedBefore reports whether the service accepted messages before the throttle turned on, and none since.
func (t *throttle) acceptedBefore() bool { return t.restoreRate > 0 }

// turnOn starts with half of the recent rate. If the service accepted messages and now accepts none, it starts to probe.
func (t *throttle) turnOn(now time.Time) {
	t.limiter = rate.NewLimiter(minRate, 1)
	if t.previous.accepted > 0 {
		t.restoreRate = t.acceptedRate(now)
	}
	if t.acceptedBefore() && t.acceptsNone() {
		t.probe(now)
		return
	}
	sentRate := perSecond(t.period.responses(), now.Sub(t.period.startedAt))
	t.enter(throttleSearching, sentRate/2, now)
}

// probe sends single messages until the service accepts one.
func (t *throttle) probe(now time.Time) {
	t.probeAccepted = make(chan struct{})
	t.enter(throttleProbing, probeRate, now)
}

// endProbe sends almost as many messages as the service accepted before, beginning with the one that waits for its turn.
func (t *throttle) endProbe(now time.Time) {
	t.enter(throttleSearching, 0.9*t.restoreRate, now)
	close(t.probeAccepted)
}

// enter begins a state with its rate, in messages a second, and a new period.
func (t *throttle) enter(state throttleState, newRate float64, now time.Time) {
	t.state = state
	t.setRate(newRate)
	t.countAnew(now)
	t.nextPeriod(now)
}

// tick ends the period if it is over. The period decides about the state and the rate only while searching or steady; otherwise a response does.
func (t *throttle) tick(now time.Time) {
	if now.Sub(t.period.startedAt) < throttlePeriod {
		return
	}
	if t.state == throttleSearching || t.state == throttleSteady {
		t.adapt(now)
	}
	t.nextPeriod(now)
}

// adapt sets the state and the rate, in messages a second, that follow from a period of searching or steady.
func (t *throttle) adapt(now time.Time) {
	var state throttleState
	var newRate float64
	if t.isTooFast() {
		state, newRate = t.fall(now)
		t.countAnew(now)
	} else {
		state, newRate = t.next(now)
		t.countQuiet() // after next: the rate grows by the quiet periods before this one
	}
	t.state = state
	t.setRate(newRate)
}

func (t *throttle) nextPeriod(now time.Time) {
	t.previous = t.period
	t.period = throttleCounts{startedAt: now}
}

// next returns the state and the rate that follow from a period that is not too fast. Its cases and those of fall are rows of the table of
// throttle.
func (t *throttle) next(now time.Time) (state throttleState, newRate float64) {
	limit := t.limit()
	if t.period.accepted == 0 {
		return t.state, limit
	}
	if t.period.throttled > 0 {
		return throttleSteady, limit
	}
	higher := limit * (1 + t.growth())
	isFarAboveUse := higher > 4*t.period.usedRate(now)
	if isFarAboveUse {
		return throttleOff, float64(rate.Inf) // reserve still takes a turn if it ended the period
	}
	return t.state, higher
}

// fall returns the state and the rate that follow from a period that is too fast.
func (t *throttle) fall(now time.Time) (state throttleState, newRate float64) {
	limit := t.limit()
	accepted := t.acceptedRate(now)
	switch {
	case accepted < limit/5:
		return throttleSearching, limit / 4
	case t.losesMessages:
		return throttleSteady, min(0.85*limit, 0.9*accepted)
	default:
		return throttleSteady, 0.85 * limit
	}
}

// countQuiet counts the period if it is quiet: steady and without a throttled response.
func (t *throttle) countQuiet() {
	switch {
	case t.period.throttled > 0:
		t.quietPeriods = 0
	case t.period.accepted > 0 && t.state == throttleSteady:
		t.quietPeriods++
	}
}

// growth returns the fraction by which the rate grows after a period without a throttled response. A search doubles it. Otherwise it grows by
// a fiftieth, and by more the longer no response is throttled, unless a throttled message may be lost.
func (t *throttle) growth() float64 {
	const slowest = 0.02
	switch {
	case t.state == throttleSearching:
		return 1
	case t.losesMessages:
		return slowest
	default:
		doublings := min(t.quietPeriods/2, 6)
		return min(slowest*float64(int(1)<<doublings), 1)
	}
}

// isTooFast reports whether the service throttled too many messages of the period. One is too many if a throttled message may be lost.
func (t *throttle) isTooFast() bool {
	if t.losesMessages {
		return t.period.throttled > 0
	}
	return t.period.throttled > 1 && t.period.isHigh()
}

// acceptedRate returns how many messages a second the service accepted in this period and the previous one.
func (t *throttle) acceptedRate(now time.Time) float64 {
	startedAt := t.previous.startedAt
	if startedAt.IsZero() {
		startedAt = t.period.startedAt
	}
	return perSecond(t.previous.accepted+t.period.accepted, now.Sub(startedAt))
}

// countAnew ignores the responses to messages that began before, because the rate was different then.
func (t *throttle) countAnew(now time.Time) {
	t.countFrom = now
	t.throttledInRow = 0
	t.quietPeriods = 0
}

// setRate sets the rate, in messages a second.
func (t *throttle) setRate(newRate float64) {
	t.limiter.SetLimit(rate.Limit(max(newRate, minRate)))
}

// limit returns the rate, in messages a second.
func (t *throttle) limit() float64 { return float64(t.limiter.Limit()) }
