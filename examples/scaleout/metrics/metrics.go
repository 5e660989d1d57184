// Package metrics counts what a process does, for a Prometheus server to read.
package metrics

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Set is a set of counters and gauges, and an http.Handler that shows them in Prometheus's text format. It is safe for concurrent use. A
// nil Set counts nothing.
type Set struct {
	mu       sync.Mutex
	counters map[string]float64
	gauges   map[string]func() float64
}

// New returns an empty set.
func New() *Set { return &Set{counters: map[string]float64{}, gauges: map[string]func() float64{}} }

// Count adds one to a counter. Labels are pairs of a name and a value from a small fixed set.
func (s *Set) Count(name string, labels ...string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counters[series(name, labels)]++
}

// Gauge adds a value that is read when the set is shown.
func (s *Set) Gauge(name string, value func() float64, labels ...string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gauges[series(name, labels)] = value
}

// Value returns the value of a counter.
func (s *Set) Value(name string, labels ...string) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counters[series(name, labels)]
}

func series(name string, labels []string) string {
	var parts []string
	for pair := range slices.Chunk(labels, 2) {
		parts = append(parts, fmt.Sprintf("%s=%q", pair[0], pair[1]))
	}
	if parts == nil {
		return name
	}
	return name + "{" + strings.Join(parts, ",") + "}"
}

// ServeHTTP shows the set.
func (s *Set) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	counters, gauges := maps.Clone(s.counters), maps.Clone(s.gauges)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	for _, name := range slices.Sorted(maps.Keys(counters)) {
		_, _ = fmt.Fprintln(w, name, counters[name])
	}
	for _, name := range slices.Sorted(maps.Keys(gauges)) {
		_, _ = fmt.Fprintln(w, name, gauges[name]())
	}
}
