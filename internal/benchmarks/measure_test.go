package main

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// busy makes an operation that takes at least so long, by the clock and by the processor.
func busy(each time.Duration, runs *[]int) operation {
	return func(_ context.Context, n int) error {
		*runs = append(*runs, n)
		for range n {
			began := time.Now()
			for time.Since(began) < each {
				runtime.Gosched()
			}
		}
		return nil
	}
}

func TestMeasureDividesByOperationsAndUnits(t *testing.T) {
	var runs []int
	s, err := measure(t.Context(), busy(time.Millisecond, &runs), 10, 20*time.Millisecond)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, s.Wall, float64(100*time.Microsecond), "a tenth of an operation each")
	assert.Less(t, s.Wall, float64(time.Millisecond)*100)
	assert.Positive(t, s.CPU)
}

func TestMeasureCountsAllocations(t *testing.T) {
	var kept []*[64]byte
	s, err := measure(t.Context(), func(_ context.Context, n int) error {
		kept = make([]*[64]byte, 0, n)
		for range n {
			kept = append(kept, new([64]byte))
		}
		return nil
	}, 1, time.Millisecond)
	require.NoError(t, err)
	assert.NotEmpty(t, kept)
	assert.InDelta(t, 1, s.Allocs, 0.5)
	assert.InDelta(t, 64+8, s.Bytes, 40, "the array, and its place in the slice")
}

func TestCalibrateWarmsUpBeforeItCounts(t *testing.T) {
	var runs []int
	n, err := calibrate(t.Context(), busy(100*time.Microsecond, &runs), 8*time.Millisecond)
	require.NoError(t, err)
	assert.Equal(t, 1, runs[0])
	assert.Greater(t, len(runs), 1, "one operation is far from a quarter of the time")
	assert.Positive(t, n)
	assert.LessOrEqual(t, n, 80, "more than that cannot be done in the time")
}

func TestMeasureEndsWithTheFirstError(t *testing.T) {
	broken := errors.New("broken")
	for _, at := range []int{1, 2} {
		calls := 0
		_, err := measure(t.Context(), func(context.Context, int) error {
			if calls++; calls == at {
				return broken
			}
			return nil
		}, 1, 0)
		assert.ErrorIs(t, err, broken)
		assert.Equal(t, at, calls)
	}
}
