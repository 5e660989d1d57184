package transport

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A timer that fires late, because the process stood still, leaves a second for the response that the kernel holds.
func TestTimeoutThatIsNoticedLateLeavesASecond(t *testing.T) {
	for name, tc := range map[string]struct {
		late, want time.Duration // how late the timer fires, and how long the context then lasts
	}{
		"in time":          {0, 0},
		"a little late":    {frozen - 1, 0},
		"a second late":    {frozen, time.Second},
		"20 seconds later": {20 * time.Second, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var ctx limited
				ctx.begin(t.Context(), began.Add(-tc.late))
				defer ctx.stop()
				<-ctx.Done()
				assert.Equal(t, tc.want, time.Since(began))
				require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
			})
		})
	}
}

// The second is not the caller's: their context is obeyed.
func TestLateTimeoutObeysTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		caller, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		var ctx limited
		ctx.begin(caller, began.Add(-time.Minute))
		defer ctx.stop()
		<-ctx.Done()
		assert.Equal(t, 300*time.Millisecond, time.Since(began))
	})
}

func TestAttemptHasTheEarlierDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		caller, cancel := context.WithDeadline(t.Context(), now.Add(2*time.Second))
		defer cancel()
		for own, want := range map[time.Duration]time.Duration{time.Second: time.Second, 3 * time.Second: 2 * time.Second} {
			var ctx limited
			ctx.begin(caller, now.Add(own))
			deadline, ok := ctx.Deadline()
			assert.True(t, ok)
			assert.Equal(t, now.Add(want), deadline)
			ctx.stop()
			require.ErrorIs(t, ctx.Err(), context.Canceled)
		}
	})
}
