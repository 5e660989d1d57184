package main

import (
	"context"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Each benchmark has one contender after the other do the same work, by turns with a floor that does it by hand.

func BenchmarkSend(b *testing.B)         { sendInMemory().bench(b) }
func BenchmarkSendLoopback(b *testing.B) { sendOverLoopback().bench(b) }
func BenchmarkMany(b *testing.B)         { manySends(plainAddress, true).bench(b) }
func BenchmarkManyTLS(b *testing.B)      { manySends(secureAddress, false).bench(b) }
func BenchmarkRow(b *testing.B)          { listRows().bench(b) }
func BenchmarkPages(b *testing.B)        { listPages().bench(b) }
func BenchmarkWebhook(b *testing.B)      { receive().bench(b) }

// works are those of the benchmarks, by their names.
func works() map[string]work {
	return map[string]work{
		"Send": sendInMemory(), "SendLoopback": sendOverLoopback(),
		"Many": manySends(plainAddress, true), "ManyTLS": manySends(secureAddress, false),
		"Row": listRows(), "Pages": listPages(), "Webhook": receive(),
	}
}

// work is something that several clients do, each in its own way.
type work struct {
	contenders []way
	units      int           // how many of what is counted one operation does; 0 is 1
	least      int           // of the operations in a turn; 0 is 1
	turn       time.Duration // processor time that a contender takes before its floor does; 0 is 5 ms
}

// way is how one client does a work.
type way struct {
	name    string
	prepare preparation
	floor   preparation // equal work by hand; nil for a floor
}

// preparation returns what is measured. What it does itself does not count.
type preparation func(tb testing.TB) operation

// operation does n times what is measured.
type operation func(ctx context.Context, n int) error

// sample is what one unit of an operation cost, on average.
type sample struct {
	cpu, wall time.Duration // cpu is user and system time of the process, the garbage collector's included
	allocs    uint64
	units     int
}

func (s *sample) add(more sample) {
	s.cpu += more.cpu
	s.wall += more.wall
	s.allocs += more.allocs
	s.units += more.units
}

func (w work) bench(b *testing.B) {
	b.Helper()
	for _, c := range w.contenders {
		b.Run(c.name, func(b *testing.B) { w.measure(b, c) })
	}
}

// measure lets a contender and its floor take turns, so that what else the machine does weighs on both.
func (w work) measure(b *testing.B, c way) {
	b.Helper()
	run := []operation{c.prepare(b)}
	if c.floor != nil {
		run = append(run, c.floor(b))
	}
	counts := make([]int, len(run))
	for i := range run {
		counts[i] = calibrate(b, run[i], max(1, w.least), max(w.turn, 5*time.Millisecond))
	}
	total := make([]sample, len(run))
	runtime.GC()
	for b.Loop() {
		for turn := range 2 * len(run) { // as often first as second
			i := min(turn, 2*len(run)-1-turn)
			s := use(b, run[i], counts[i])
			s.units *= max(1, w.units)
			total[i].add(s)
		}
	}
	own := total[0]
	units := float64(own.units)
	b.ReportMetric(float64(own.wall)/units, "ns/op")
	b.ReportMetric(float64(own.cpu)/units, "cpu-ns/op")
	b.ReportMetric(float64(own.allocs)/units, "mallocs/op")
	if c.floor != nil {
		floor := total[1]
		b.ReportMetric(float64(own.wall)/float64(floor.wall)*float64(floor.units)/units, "time-ratio")
		b.ReportMetric(float64(own.cpu)/float64(floor.cpu)*float64(floor.units)/units, "cpu-ratio")
	}
}

// use does n operations and returns what they cost.
func use(tb testing.TB, run operation, n int) sample {
	tb.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, began := processorTime(tb), time.Now()
	require.NoError(tb, run(tb.Context(), n))
	took, used := time.Since(began), processorTime(tb)-cpu
	runtime.ReadMemStats(&after)
	return sample{cpu: used, wall: took, allocs: after.Mallocs - before.Mallocs, units: n}
}

func processorTime(tb testing.TB) time.Duration {
	tb.Helper()
	var r syscall.Rusage
	require.NoError(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// calibrate warms an operation up and returns how many of it take a turn of processor time, from least up: a busy machine does not
// make that shorter, and neither do the connections that the first run establishes.
func calibrate(tb testing.TB, run operation, least int, turn time.Duration) int {
	tb.Helper()
	use(tb, run, least)
	for n := least; ; n *= 2 {
		if took := use(tb, run, n).cpu; took >= turn {
			return max(least, int(float64(n)*float64(turn)/float64(took)))
		}
	}
}
