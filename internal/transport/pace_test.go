package transport

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
)

const (
	testGap = 20 * time.Millisecond
	sooner  = testGap / 2
)

// began returns outcomes of requests that began so many milliseconds ago.
func began(health Health, ago ...int) (all []heard) {
	for _, ms := range ago {
		o := heard{health: health, at: time.Now(), began: time.Now().Add(time.Duration(-ms) * time.Millisecond), cause: errReset}
		if health == Healthy {
			o.at = o.began
		}
		all = append(all, o)
	}
	return all
}

func TestIsEven(t *testing.T) {
	for name, tc := range map[string]struct {
		accepted, throttled []int
		shown               int
		maybe               bool
	}{
		"even":                    {[]int{100, 80, 60, 40}, []int{95, 70, 55}, 3, true},
		"even, jitter":            {[]int{101, 80, 61, 38}, []int{97, 69, 57}, 3, true},
		"in another order":        {[]int{40, 100, 60, 80}, []int{55, 95, 70}, 3, true},
		"two at once taken":       {[]int{100, 80, 79, 40}, []int{95, 70, 55}, 3, false},
		"refused after their gap": {[]int{100, 80, 60}, []int{90, 20}, 2, false},
		"a burst":                 {[]int{100, 100, 100, 99, 99}, []int{98, 97, 70}, 3, false},
		"nothing taken":           {nil, []int{98, 97, 70}, 0, true},
		"long ago":                {[]int{1100, 1080, 1060, 1040}, []int{1095, 1070, 1055}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &Breaker{last: append(began(Healthy, tc.accepted...), began(Throttling, tc.throttled...)...)}
				shown, maybe := b.isEven(time.Now())
				assert.Equal(t, tc.maybe, maybe)
				assert.Equal(t, tc.shown, shown)
			})
		})
	}
}

// paced returns a breaker that hears of a request after the other, and the changes.
func paced(outcomes ...[]heard) (b *Breaker, changes []Change) {
	b = new(Breaker)
	for _, o := range slices.Concat(outcomes...) {
		if change := b.leave(b.generation.Load(), &o, "", false); change != nil {
			changes = append(changes, *change)
		}
	}
	return b, changes
}

func TestBreakerPacesWhenThreeShowEvenSpacing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		accepted := began(Healthy, 100, 80, 60, 40)
		b, changes := paced(accepted, began(Throttling, 95, 70))
		assert.Empty(t, changes)
		assert.NotNil(t, b.pacer(), "they wait for the third")
		assert.Zero(t, b.Gap())
		b, changes = paced(accepted, began(Throttling, 95, 70, 55))
		assert.Equal(t, []Change{{Trouble: Trouble{Cause: errReset}, Paced: true}}, changes)
		assert.Equal(t, firstGap, b.Gap())
		b, changes = paced(accepted, began(Throttling, 95, 70), began(Healthy, 39))
		assert.Empty(t, changes)
		assert.Nil(t, b.pacer(), "it takes two at once")
	})
}

func newPace(gap time.Duration) *pace {
	p := &pace{gap: gap, following: gap, changes: 1, earlier: mostGap}
	p.rate = rate.NewLimiter(rate.Every(gap), 1)
	p.confirmed.Store(true)
	return p
}

func TestPaceIgnoresAStaleOutcome(t *testing.T) {
	p := newPace(testGap)
	assert.True(t, p.hear(&turn{gap: sooner, changes: 1}, Healthy))
	assert.Equal(t, sooner, p.gap)
	for _, stale := range []Health{Healthy, Throttling} {
		assert.True(t, p.hear(&turn{gap: sooner / 2, changes: 1}, stale))
		assert.True(t, p.hear(&turn{gap: sooner, changes: 1}, stale))
	}
	assert.Equal(t, sooner, p.gap)
	assert.Zero(t, p.tooShort)
}

func TestPaceEndsBeyondItsBounds(t *testing.T) {
	assert.False(t, newPace(2*leastGap).hear(&turn{gap: leastGap / 2, changes: 1}, Healthy))
	assert.False(t, newPace(mostGap).hear(&turn{gap: mostGap, changes: 1}, Throttling))
}

func TestEndOfAPaceLetsTheLineGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, p := new(Breaker), newPace(time.Second)
		b.pace.Store(p)
		require.True(t, p.take(new(turn)))
		var waits turn
		go func() {
			time.Sleep(testGap)
			b.endPace(p)
		}()
		start := time.Now()
		require.NoError(t, p.wait(t.Context(), &waits))
		p.leave(&waits)
		assert.Less(t, time.Since(start), 2*testGap)
		assert.Zero(t, b.Gap())
	})
}
