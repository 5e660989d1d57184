package messaging

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// A throttle turns off when the service no longer needs it, so that workers take messages directly again.
func TestThrottleThatBoundsNothingGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		throttle := newThrottle()
		time.Sleep(time.Millisecond)
		for range minThrottled {
			throttle.record(time.Now(), true)
		}
		assert.True(t, throttle.isOn())
		for range 20 {
			time.Sleep(throttlePeriod)
			throttle.wait(t.Context())
			throttle.record(time.Now(), false)
		}
		assert.False(t, throttle.isOn())
	})
}

func TestThrottleBeginsAboveATenth(t *testing.T) {
	for throttledOfTwenty, begins := range map[int]bool{1: false, 4: true} {
		synctest.Test(t, func(t *testing.T) {
			throttle := newThrottle()
			for i := range 1000 {
				time.Sleep(time.Millisecond)
				throttle.record(time.Now(), i%(20/throttledOfTwenty) == 0)
			}
			assert.Equal(t, begins, throttle.isOn(), "%d of 20", throttledOfTwenty)
		})
	}
}
