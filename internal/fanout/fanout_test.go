package fanout_test

import (
	"context"
	"iter"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/fanout"
)

func count(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

func refuse(context.Context, int) int { return -1 }

func TestEveryItemHasOneResultWithItsIndex(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, 2, 7, 64} {
		seen := make([]int, 1000)
		for r := range fanout.Run(t.Context(), count(1000), workers, func(_ context.Context, i int) int { return i * i }, refuse) {
			require.Equal(t, r.Index, r.Item)
			require.Equal(t, r.Item*r.Item, r.Out)
			seen[r.Index]++
		}
		assert.Equal(t, slices.Repeat([]int{1}, 1000), seen)
	}
}

func TestNoMoreThanTheWorkersAreBusyAndAllOfThemAre(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var busy, most atomic.Int32
		begin := time.Now()
		for range fanout.Run(t.Context(), count(40), 8, func(context.Context, int) int {
			if n := busy.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(time.Second)
			busy.Add(-1)
			return 0
		}, refuse) {
			continue
		}
		assert.Equal(t, int32(8), most.Load())
		assert.Equal(t, 5*time.Second, time.Since(begin), "40 items of a second each, 8 at once")
	})
}

func TestItemsAreTakenInTheCallersGoroutineAndNoEarlierThanNeeded(t *testing.T) {
	t.Parallel()
	taken := 0 // no lock: the race detector would tell
	results := 0
	for range fanout.Run(t.Context(), func(yield func(int) bool) {
		for ; taken < 100; taken++ {
			if !yield(taken) {
				return
			}
		}
	}, 3, func(_ context.Context, i int) int { return i }, refuse) {
		results++
		assert.LessOrEqual(t, taken-results, 4, "taken ahead of the results")
	}
}

func TestBreakBeginsNothingMoreAndWaitsForWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var begun, ended atomic.Int32
		for range fanout.Run(t.Context(), count(1_000_000), 4, func(context.Context, int) int {
			begun.Add(1)
			time.Sleep(time.Second)
			ended.Add(1)
			return 0
		}, refuse) {
			break
		}
		assert.Equal(t, begun.Load(), ended.Load())
		assert.LessOrEqual(t, begun.Load(), int32(5))
		synctest.Wait()
	})
}

func TestAContextThatEndsStopsTheTakingAndEveryTakenItemHasItsResult(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	taken, results, refused := 0, 0, 0
	for r := range fanout.Run(ctx, func(yield func(int) bool) {
		for i := range 1_000_000 {
			taken++
			if !yield(i) {
				return
			}
		}
	}, 4, func(_ context.Context, i int) int { return i }, refuse) {
		results++
		if r.Out == -1 {
			refused++
		}
		if results == 50 {
			cancel()
		}
	}
	assert.Equal(t, taken, results)
	assert.Equal(t, 1, refused)
	assert.Less(t, taken, 70)
}

func TestAPanicOfTheCallerOrTheItemsLeavesNoGoroutine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // a goroutine that is left would deadlock the bubble
		assert.Panics(t, func() {
			for range fanout.Run(t.Context(), count(10), 2, func(_ context.Context, i int) int { return i }, refuse) {
				panic("caller")
			}
		})
		assert.Panics(t, func() {
			for range fanout.Run(t.Context(), func(yield func(int) bool) {
				yield(1)
				panic("items")
			}, 2, func(_ context.Context, i int) int { return i }, refuse) {
				continue
			}
		})
		synctest.Wait()
	})
}

func TestMemoryIsFlat(t *testing.T) {
	var before, during runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for r := range fanout.Run(t.Context(), count(300_000), 16, func(_ context.Context, i int) []byte { return make([]byte, 100) }, func(context.Context, int) []byte { return nil }) {
		if r.Index == 299_000 {
			runtime.GC()
			runtime.ReadMemStats(&during)
		}
	}
	assert.Less(t, int64(during.HeapAlloc)-int64(before.HeapAlloc), int64(1<<20))
}

func BenchmarkRun(b *testing.B) {
	for range fanout.Run(b.Context(), count(b.N), 16, func(_ context.Context, i int) int { return i }, refuse) {
		continue
	}
}
