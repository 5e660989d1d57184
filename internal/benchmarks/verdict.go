package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// verdicts compares with the targets.
func (r report) verdicts() string {
	lines := []string{row([]string{"what", "as a ratio to", "target", "measured", "verdict"}), "|---|---|---|---|---|"}
	add := func(what, against, target, measured string, reached bool, why string) {
		verdict := "reached"
		if !reached {
			verdict = "**missed**: " + why
		}
		lines = append(lines, row([]string{what, against, target, measured, verdict}))
	}
	for _, w := range r.works {
		for _, t := range w.targets {
			if !r.has(w.name, t.contender) {
				continue
			}
			value, measured := t.measured(r.samples[w.name])
			limit, against := fmt.Sprintf("%g", t.limit), ""
			if t.against != "" {
				limit, against = fmt.Sprintf("%.2f", t.limit), t.against
			}
			if t.atLeast {
				add(t.what, against, "at least "+limit, measured, value >= t.limit, t.why)
			} else {
				add(t.what, against, "at most "+limit, measured, value <= t.limit, t.why)
			}
		}
	}
	if seen, ok := r.observed["list-kept"]; ok {
		kept := seen.Kept[nameOurs]
		add(fmt.Sprintf("One row kept of each of %d pages: live heap", seen.KeptRows), "", fmt.Sprintf("less than one page, %s KiB", kibibytes(seen.Page)),
			kibibytes(kept)+" KiB", kept < seen.Page, "a row that is kept keeps more alive than itself")
	}
	if points := r.observed["million"].Points; len(points) > 2 {
		first, last := points[1], points[len(points)-1]
		highest := slices.MaxFunc(points[1:], func(a, b heapPoint) int { return cmp.Compare(a.Heap, b.Heap) })
		what := number(float64(last.Messages), 0) + " messages through SendAll: "
		const most = 16 << 20
		add(what+"live heap", "", "under 16 MiB", fmt.Sprintf("%.1f MiB", float64(highest.Heap)/(1<<20)), highest.Heap < most, "something is kept of every message")
		growth := highest.Heap - first.Heap
		add(what+"growth of it after the first tenth", "", "at most 64 KiB", kibibytes(growth)+" KiB", growth <= 64<<10,
			"a collection finds a little more or less in the pools of net/http and of encoding/json, or something is kept of every message")
		left := last.Goroutines - points[0].Goroutines
		add(what+"goroutines left", "", "0", strconv.Itoa(left), left <= 0, "the senders had not ended when they were counted")
	}
	for _, s := range r.observed["storm"].Storms {
		if s.Off {
			continue
		}
		const what = "64 senders to a service that takes 50 a second: "
		least := s.Capacity() * 85 / 100
		add(what+"accepted", "", fmt.Sprintf("at least %d of %d", least, s.Capacity()), strconv.Itoa(s.Accepted), s.Accepted >= least,
			"the breaker opens too often, or for too long")
		add(what+"requests a second", "", "at most 100", number(s.Rate(), 1), s.Rate() <= 100, "the breaker lets too many pass when it closes")
	}
	return strings.Join(lines, "\n")
}

// measured is the figure that a target is about, as it counts and as it is shown.
func (t target) measured(samples map[string][]sample) (value float64, shown string) {
	if t.against == "" {
		s := spreadOf(values(samples[t.contender], t.metric))
		return math.Round(s.Median*10) / 10, fmt.Sprintf("%.1f (%.1f–%.1f)", s.Median, s.Lower, s.Upper)
	}
	s := spreadOf(ratios(samples[t.contender], samples[t.against], t.metric))
	return round(s.Median), s.String()
}
