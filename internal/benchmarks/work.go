package main

import (
	"context"
	"regexp"
	"time"
)

// work is something that several contenders do, each in its own way, to be measured beside each other.
type work struct {
	name  string // as -only selects it
	units int    // how many of what is counted one operation does; 0 is 1
	// longer is how many times the usual length a run takes, where an operation is long; 0 is 1.
	longer int
	floor  string // the contender that the others are divided by
	// The columns of the table are ratios to the floor, then figures.
	ratios     []metric
	figures    []figure
	targets    []target
	contenders []contender
}

// contender is one way to do a work.
type contender struct {
	name string
	// matched names the contender that sends and reads the same bytes by hand, for a client with a service of its own.
	matched string
	// hidden keeps a contender out of the table: it is only there to be divided by.
	hidden bool
	// prepare makes what is measured; what it does itself does not count.
	prepare func(ctx context.Context, at service) (operation, error)
}

// metric is one of the figures of a sample.
type metric struct {
	name string
	of   func(sample) float64
}

var (
	cpuTime = metric{"CPU", func(s sample) float64 { return s.CPU }}
	wall    = metric{"time", func(s sample) float64 { return s.Wall }}
	rate    = metric{"throughput", func(s sample) float64 {
		if s.Wall == 0 {
			return 0
		}
		return float64(time.Second) / s.Wall
	}}
	allocs    = metric{"allocations", func(s sample) float64 { return s.Allocs }}
	allocated = metric{"bytes", func(s sample) float64 { return s.Bytes }}
)

// figure is a column with a metric in a unit.
type figure struct {
	metric

	title   string
	divisor float64
	digits  int
}

var (
	cpuMicros    = figure{cpuTime, "CPU µs", float64(time.Microsecond), 2}
	cpuNanos     = figure{cpuTime, "CPU ns", 1, 0}
	wallMicros   = figure{wall, "time µs", float64(time.Microsecond), 2}
	wallMillis   = figure{wall, "time ms", float64(time.Millisecond), 1}
	perSecond    = figure{rate, "per second", 1, 0}
	allocsEach   = figure{allocs, "allocations", 1, 1}
	allocsPerRow = figure{allocs, "allocations", 1, 2}
	bytesEach    = figure{allocated, "bytes", 1, 0}
)

// target is what a contender should reach.
type target struct {
	what      string // as the page names it
	contender string
	metric    metric
	// against is the contender to divide by. Where it is empty the figure itself counts.
	against string
	limit   float64
	atLeast bool // else at most
	// why says what the time goes to, for the page to say beside a target that is missed.
	why string
}

func (w work) contender(name string) (contender, bool) {
	for _, c := range w.contenders {
		if c.name == name {
			return c, true
		}
	}
	return contender{}, false
}

// contests are the works, in the order of the report.
func contests() []work {
	return []work{
		sendInMemory(), sendOverLoopback(), firstSend(), newClients(),
		manySends(16), manySends(64), manySendsOverTLS(), manySendsOverHTTP2(),
		listRows(), listAheadWorking(), listAhead(),
		receive(), breakerOpen(),
	}
}

// observation is something that one client is watched at, once.
type observation struct {
	name    string
	observe func(ctx context.Context, short bool) (observed, error)
}

func observations() []observation {
	return []observation{
		{"list-kept", observeKeptRows},
		{"million", observeMillion},
		{"storm", observeStorm},
	}
}

// selected keeps those whose names match.
func selected[T any](all []T, name func(T) string, only *regexp.Regexp) []T {
	var some []T
	for _, one := range all {
		if only.MatchString(name(one)) {
			some = append(some, one)
		}
	}
	return some
}
