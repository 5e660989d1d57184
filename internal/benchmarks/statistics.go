package main

import "slices"

// spread is a median with the quartiles around it.
type spread struct{ Lower, Median, Upper float64 }

// spreadOf sorts a copy. Of no values it is zero.
func spreadOf(values []float64) spread {
	sorted := slices.Sorted(slices.Values(values))
	return spread{quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75)}
}

// quantile interpolates between the two values next to the place.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	place := q * float64(len(sorted)-1)
	below := int(place)
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (place-float64(below))*(sorted[above]-sorted[below])
}

// ratios divides round by round: what else the machine did in a round weighs on both.
func ratios(of, to []sample, m metric) []float64 {
	out := make([]float64, 0, len(of))
	for round := range min(len(of), len(to)) {
		if d := m.of(to[round]); d != 0 {
			out = append(out, m.of(of[round])/d)
		}
	}
	return out
}

func values(samples []sample, m metric) []float64 {
	out := make([]float64, 0, len(samples))
	for _, s := range samples {
		out = append(out, m.of(s))
	}
	return out
}
