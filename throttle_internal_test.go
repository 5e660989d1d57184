package messaging

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// When a service stops accepting messages, the last ones accepted arrive among the first throttled ones.
func TestThrottleReturnsToTheRateBefore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		throttle := new(throttle)
		throttle.period.startedAt = time.Now()
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
		respond(false)
		assert.Greater(t, float64(throttle.limiter.Limit()), 100.0)
	})
}
