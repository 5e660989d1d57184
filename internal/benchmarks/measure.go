package main

import (
	"context"
	"fmt"
	"runtime"
	"syscall"
	"time"
)

// operation does n times what is measured.
type operation func(ctx context.Context, n int) error

// sample is what one operation cost, on average of one run.
type sample struct {
	// CPU is processor time of the process in nanoseconds: user and system, the garbage collector's included.
	CPU float64
	// Wall is time on the clock in nanoseconds.
	Wall float64
	// Allocs and Bytes are what was allocated.
	Allocs float64
	Bytes  float64
}

// usage is what the process has used so far.
type usage struct {
	at            time.Time
	cpu           time.Duration
	allocs, bytes uint64
}

// processorTime is user and system time of this process.
func processorTime() (time.Duration, error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0, fmt.Errorf("getrusage: %w", err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()), nil
}

func heapUse() (objects, bytes uint64) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs, m.TotalAlloc
}

// measure runs an operation for about as long as it is told, after as long a start that does not count, and says what
// one of its units cost. An operation may consist of several units, as a listing does of rows.
func measure(ctx context.Context, run operation, units int, length time.Duration) (sample, error) {
	n, err := calibrate(ctx, run, length)
	if err != nil {
		return sample{}, err
	}
	runtime.GC()
	var before, after usage
	before.allocs, before.bytes = heapUse()
	if before.cpu, err = processorTime(); err != nil {
		return sample{}, err
	}
	before.at = time.Now()
	if err = run(ctx, n); err != nil {
		return sample{}, err
	}
	after.at = time.Now()
	if after.cpu, err = processorTime(); err != nil {
		return sample{}, err
	}
	after.allocs, after.bytes = heapUse()
	return after.since(before, n*units), nil
}

func (u usage) since(before usage, n int) sample {
	each := 1 / float64(n)
	return sample{
		CPU:    float64(u.cpu-before.cpu) * each,
		Wall:   float64(u.at.Sub(before.at)) * each,
		Allocs: float64(u.allocs-before.allocs) * each,
		Bytes:  float64(u.bytes-before.bytes) * each,
	}
}

// calibrate warms the operation up and says how many of it take the given time.
func calibrate(ctx context.Context, run operation, length time.Duration) (int, error) {
	for n := 1; ; n *= 2 {
		began := time.Now()
		if err := run(ctx, n); err != nil {
			return 0, err
		}
		if took := time.Since(began); took >= length/4 {
			return max(1, int(float64(n)*float64(length)/float64(took))), nil
		}
	}
}
