package messaging

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
)

// When a service stops accepting messages, the last ones accepted arrive among the first throttled ones.
func TestThrottleReturnsToTheRateBefore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		throttle := newThrottle()
		respond := func(isThrottled bool) {
			began := time.Now()
			time.Sleep(5 * time.Millisecond)
			throttle.record(began, isThrottled)
		}
		for range 100 { // 200 a second
			respond(false)
		}
		for range minThrottled - 1 {
			respond(true)
		}
		respond(false)
		respond(true)
		require.True(t, throttle.isOn())
		for range 2 * minThrottled {
			respond(true)
		}
		assert.InDelta(t, probeRate, float64(throttle.limiter.Limit()), 0.01)
		time.Sleep(throttlePeriod - time.Millisecond)
		respond(false) // the period of the throttled probes ends while this one is under way
		assert.Greater(t, float64(throttle.limiter.Limit()), 100.0)
	})
}

// The next message already waits for its turn at the slow rate of the probes.
func TestThrottleWakesTheNextMessageWhenAProbeIsAccepted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		throttle := newThrottle()
		for range 100 {
			time.Sleep(5 * time.Millisecond)
			throttle.record(time.Now(), false)
		}
		for range 2 * minThrottled {
			time.Sleep(5 * time.Millisecond)
			throttle.record(time.Now(), true)
		}
		require.InDelta(t, probeRate, float64(throttle.limiter.Limit()), 0.01)
		throttle.wait(t.Context())
		probed := time.Now()
		go func() {
			time.Sleep(10 * time.Millisecond)
			throttle.record(probed.Add(time.Millisecond), false)
		}()
		throttle.wait(t.Context())
		assert.Equal(t, 10*time.Millisecond, time.Since(probed))
	})
}

// A page of a proxy in place of a response leaves its message unknown, so the throttle does not try what the service takes.
func TestThrottleThatLosesMessagesFallsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		throttle := newThrottle()
		respond := func(record func(began time.Time)) {
			throttle.wait(t.Context())
			began := time.Now()
			time.Sleep(10 * time.Millisecond)
			record(began)
		}
		accept := func(began time.Time) { throttle.record(began, false) }
		for range 50 {
			respond(accept)
			respond(throttle.recordLost)
		}
		require.True(t, throttle.isOn())
		for range 100 {
			respond(accept)
		}
		before := throttle.limiter.Limit()
		respond(throttle.recordLost)
		for range 50 {
			respond(accept)
		}
		assert.Less(t, throttle.limiter.Limit(), before, "one of a hundred is too many")
	})
}

// Another message may be accepted between the response to a throttled one and the decision about it.
func TestThrottleGivesUpNothingAfterAnAcceptedMessage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		throttle := newThrottle()
		throttle.record(time.Now(), true)
		time.Sleep(20 * time.Second)
		throttle.record(time.Now(), true)
		assert.Equal(t, 40*time.Second, throttle.giveUpIn(time.Minute))
		throttle.record(time.Now(), false)
		assert.Equal(t, time.Minute, throttle.giveUpIn(time.Minute))
	})
}

func TestThrottleAdapt(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		state    throttleState
		period   throttleCounts
		loses    bool
		want     throttleState
		wantRate float64
	}{
		"searching, all accepted":   {throttleSearching, throttleCounts{begun: 50, accepted: 50}, false, throttleSearching, 200},
		"searching, some throttled": {throttleSearching, throttleCounts{begun: 50, accepted: 49, throttled: 1}, false, throttleSteady, 100},
		"searching, too fast":       {throttleSearching, throttleCounts{begun: 50, accepted: 40, throttled: 10}, false, throttleSteady, 85},
		"searching, far too fast":   {throttleSearching, throttleCounts{begun: 50, accepted: 5, throttled: 45}, false, throttleSearching, 25},
		"searching, no response":    {throttleSearching, throttleCounts{begun: 50}, false, throttleSearching, 100},
		"searching, few sent":       {throttleSearching, throttleCounts{begun: 5, accepted: 5}, false, throttleOff, float64(rate.Inf)},
		"steady, all accepted":      {throttleSteady, throttleCounts{begun: 50, accepted: 50}, false, throttleSteady, 102},
		"steady, some throttled":    {throttleSteady, throttleCounts{begun: 50, accepted: 49, throttled: 1}, false, throttleSteady, 100},
		"steady, too fast":          {throttleSteady, throttleCounts{begun: 50, accepted: 40, throttled: 10}, false, throttleSteady, 85},
		"steady, far too fast":      {throttleSteady, throttleCounts{begun: 50, accepted: 5, throttled: 45}, false, throttleSearching, 25},
		"steady, one lost":          {throttleSteady, throttleCounts{begun: 50, accepted: 45, throttled: 1}, true, throttleSteady, 81},
		"steady, few sent":          {throttleSteady, throttleCounts{begun: 5, accepted: 5}, false, throttleOff, float64(rate.Inf)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			tt.period.startedAt = start
			throttle := &throttle{state: tt.state, limiter: rate.NewLimiter(100, 1), losesMessages: tt.loses, period: tt.period}
			throttle.adapt(start.Add(throttlePeriod))
			assert.Equal(t, tt.want, throttle.state)
			assert.InDelta(t, tt.wantRate, throttle.limit(), 0.01)
		})
	}
}
