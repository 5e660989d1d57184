package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSpreadIsTheMedianWithItsQuartiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		values []float64
		want   spread
	}{
		"none":      {nil, spread{}},
		"one":       {[]float64{3}, spread{3, 3, 3}},
		"two":       {[]float64{4, 2}, spread{2.5, 3, 3.5}},
		"odd":       {[]float64{5, 1, 4, 2, 3}, spread{2, 3, 4}},
		"even":      {[]float64{8, 1, 2, 4}, spread{1.75, 3, 5}},
		"one stray": {[]float64{1, 1, 1, 1, 100}, spread{1, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, spreadOf(c.values))
		})
	}
}

func TestSpreadLeavesTheValuesInTheirOrder(t *testing.T) {
	t.Parallel()
	values := []float64{3, 1, 2}
	spreadOf(values)
	assert.Equal(t, []float64{3, 1, 2}, values)
}

func TestRatiosAreTakenWithinARound(t *testing.T) {
	t.Parallel()
	ours := []sample{{CPU: 2}, {CPU: 30}, {CPU: 400}}
	floor := []sample{{CPU: 4}, {CPU: 10}, {CPU: 100}}
	assert.Equal(t, []float64{0.5, 3, 4}, ratios(ours, floor, cpuTime), "not the ratio of the medians, which is 3")
}

func TestRatiosLeaveOutWhatCannotBeDivided(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []float64{2}, ratios([]sample{{CPU: 1}, {CPU: 2}, {CPU: 3}}, []sample{{CPU: 0}, {CPU: 1}}, cpuTime))
	assert.Empty(t, ratios(nil, []sample{{CPU: 1}}, cpuTime))
}

func TestThroughputIsTheInverseOfTime(t *testing.T) {
	t.Parallel()
	assert.InDelta(t, 2000, rate.of(sample{Wall: 500_000}), 1e-9)
	assert.Zero(t, rate.of(sample{}))
	assert.Equal(t, []float64{0.5}, ratios([]sample{{Wall: 200}}, []sample{{Wall: 100}}, rate), "twice the time is half the throughput")
}
