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
	add := func(what, against, target, measured string, reached bool) {
		verdict := "reached"
		if !reached {
			verdict = "**missed**"
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
				add(t.what, against, "at least "+limit, measured, value >= t.limit)
			} else {
				add(t.what, against, "at most "+limit, measured, value <= t.limit)
			}
		}
	}
	if seen, ok := r.observed["list-kept"]; ok {
		kept := seen.Kept[nameOurs]
		add(fmt.Sprintf("One row kept of each of %d pages: live heap", seen.KeptRows), "", fmt.Sprintf("less than one page, %s KiB", kibibytes(seen.Page)),
			kibibytes(kept)+" KiB", kept < seen.Page)
	}
	if points := r.observed["million"].Points; len(points) > 2 {
		first, last := points[1], points[len(points)-1]
		highest := slices.MaxFunc(points[1:], func(a, b heapPoint) int { return cmp.Compare(a.Heap, b.Heap) })
		what := number(float64(last.Messages), 0) + " messages through SendAll: "
		const most = 16 << 20
		add(what+"live heap", "", "under 16 MiB", fmt.Sprintf("%.1f MiB", float64(highest.Heap)/(1<<20)), highest.Heap < most)
		growth := highest.Heap - first.Heap
		add(what+"growth of it after the first tenth", "", "at most 64 KiB", kibibytes(growth)+" KiB", growth <= 64<<10)
		left := last.Goroutines - points[0].Goroutines
		add(what+"goroutines left", "", "0", strconv.Itoa(left), left <= 0)
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
