package main

import (
	"context"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func BenchmarkSend(b *testing.B)         { sendInMemory().run(b) }
func BenchmarkSendLoopback(b *testing.B) { sendOverLoopback().run(b) }
func BenchmarkMany(b *testing.B)         { manySends(plainAddress, true).run(b) }
func BenchmarkManyTLS(b *testing.B)      { manySends(secureAddress, false).run(b) }
func BenchmarkRow(b *testing.B)          { listRows().run(b) }
func BenchmarkPages(b *testing.B)        { listPages().run(b) }
func BenchmarkWebhook(b *testing.B)      { receive().run(b) }

// comparisons returns the comparison of each benchmark, by its name.
func comparisons() map[string]comparison {
	return map[string]comparison{
		"Send":         sendInMemory(),
		"SendLoopback": sendOverLoopback(),
		"Many":         manySends(plainAddress, true),
		"ManyTLS":      manySends(secureAddress, false),
		"Row":          listRows(),
		"Pages":        listPages(),
		"Webhook":      receive(),
	}
}

// A comparison has several contenders do the same work.
type comparison struct {
	contenders []contender
	units      int           // units of work in one operation, such as rows; 0 means 1
	minimum    int           // operations in a turn, at least; 0 means 1
	turn       time.Duration // processor time that a contender takes before its floor does; 0 means 5 ms
}

// A contender is a client, or the same work by hand.
type contender struct {
	name    string
	prepare preparation
	floor   preparation // equal work by hand; nil for a floor
}

// A preparation returns the operation to measure. The preparation itself is not measured.
type preparation func(tb testing.TB) operation

// An operation does its work n times. It fails if a response was not understood: a client that understands nothing is fast.
type operation func(ctx context.Context, n int) error

// run measures each contender in a benchmark of its own.
func (c comparison) run(b *testing.B) {
	b.Helper()
	for _, contender := range c.contenders {
		b.Run(contender.name, func(b *testing.B) { c.measure(b, contender) })
	}
}

// measure lets a contender and its floor take turns, so that other load on the machine affects both.
func (c comparison) measure(b *testing.B, contender contender) {
	b.Helper()
	operations := []operation{contender.prepare(b)}
	if contender.floor != nil {
		operations = append(operations, contender.floor(b))
	}
	counts := make([]int, len(operations))
	for i := range operations {
		counts[i] = calibrate(b, operations[i], max(1, c.minimum), max(c.turn, 5*time.Millisecond))
	}
	totals := make([]sample, len(operations))
	runtime.GC()
	for b.Loop() {
		for turn := range 2 * len(operations) { // there and back, so that each is as often first as last
			i := min(turn, 2*len(operations)-1-turn)
			s := use(b, operations[i], counts[i])
			s.units *= max(1, c.units)
			totals[i].add(s)
		}
	}
	own := totals[0]
	units := float64(own.units)
	b.ReportMetric(float64(own.wall)/units, "ns/op")
	b.ReportMetric(float64(own.cpu)/units, "cpu-ns/op")
	b.ReportMetric(float64(own.allocs)/units, "mallocs/op")
	if contender.floor != nil {
		floor := totals[1]
		b.ReportMetric(float64(own.wall)/float64(floor.wall)*float64(floor.units)/units, "time-ratio")
		b.ReportMetric(float64(own.cpu)/float64(floor.cpu)*float64(floor.units)/units, "cpu-ratio")
	}
}

// A sample is the cost of some units of work.
type sample struct {
	cpu    time.Duration // user and system time of the process, including the garbage collector
	wall   time.Duration
	allocs uint64
	units  int
}

func (s *sample) add(more sample) {
	s.cpu += more.cpu
	s.wall += more.wall
	s.allocs += more.allocs
	s.units += more.units
}

// use does n operations and returns their cost.
func use(tb testing.TB, run operation, n int) sample {
	tb.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu := processorTime(tb)
	began := time.Now()
	require.NoError(tb, run(tb.Context(), n))
	wall := time.Since(began)
	cpu = processorTime(tb) - cpu
	runtime.ReadMemStats(&after)
	return sample{cpu: cpu, wall: wall, allocs: after.Mallocs - before.Mallocs, units: n}
}

// processorTime returns the user and system time of the process so far.
func processorTime(tb testing.TB) time.Duration {
	tb.Helper()
	var r syscall.Rusage
	require.NoError(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// calibrate warms an operation up, and returns how often it can be done in a turn, but not less than minimum. It counts processor time, which
// neither a busy machine nor the connections of the first run make longer.
func calibrate(tb testing.TB, run operation, minimum int, turn time.Duration) int {
	tb.Helper()
	use(tb, run, minimum)
	for n := minimum; ; n *= 2 {
		if cpu := use(tb, run, n).cpu; cpu >= turn {
			return max(minimum, int(float64(n)*float64(turn)/float64(cpu)))
		}
	}
}
