package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// contender is one client in one benchmark, such as messaging-go in Send. A name that begins with messaging-go is this library's.
type contender struct{ benchmark, name string }

func (c contender) isOurs() bool { return strings.HasPrefix(c.name, "messaging-go") }

// row is what was measured of a contender: the values of each metric, one for each round.
type row struct {
	contender

	metrics map[string][]float64
}

// program is the test binary with the benchmarks.
type program struct{ file string }

// build compiles the benchmarks. The caller removes the program.
func build(ctx context.Context, errs io.Writer) (program, func() error, error) {
	folder, err := os.MkdirTemp("", "benchmarks")
	if err != nil {
		return program{}, nil, err
	}
	remove := func() error { return os.RemoveAll(folder) }
	p := program{filepath.Join(folder, "benchmarks.test")}
	compile := exec.CommandContext(ctx, "go", "test", "-c", "-o", p.file, ".")
	compile.Stderr = errs
	if err := compile.Run(); err != nil {
		return program{}, nil, errors.Join(fmt.Errorf("the benchmarks cannot be compiled: %w", err), remove())
	}
	return p, remove, nil
}

// bench runs the benchmarks that a pattern matches, in a process without environment, so that no client finds settings there.
func (p program) bench(ctx context.Context, pattern, length string) ([]row, error) {
	command := exec.CommandContext(ctx, p.file, "-test.run=^$", "-test.bench="+pattern, "-test.benchtime="+length)
	command.Env = []string{}
	var out bytes.Buffer
	command.Stdout = &out
	command.Stderr = &out
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", pattern, err, out.Bytes())
	}
	return parseRows(out.String())
}

// parseRows reads the lines that package testing writes of benchmarks.
func parseRows(out string) ([]row, error) {
	var rows []row
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		name, ok := strings.CutPrefix(line, "Benchmark")
		if !ok || len(fields) < 2 {
			continue
		}
		name, _, _ = strings.Cut(name, " ")
		name = strings.TrimSuffix(strings.TrimSpace(name), fmt.Sprintf("-%d", runtime.GOMAXPROCS(0)))
		r := row{metrics: map[string][]float64{}}
		r.benchmark, r.name, _ = strings.Cut(strings.ReplaceAll(name, "_", " "), "/")
		for pair := range slices.Chunk(fields[2:], 2) {
			value, err := strconv.ParseFloat(pair[0], 64)
			if err != nil || len(pair) != 2 {
				return nil, fmt.Errorf("%q cannot be read", line)
			}
			r.metrics[pair[1]] = []float64{value}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// pattern is the value of -test.bench that matches this contender alone.
func (c contender) pattern() string {
	parts := strings.Split("Benchmark"+c.benchmark+"/"+strings.ReplaceAll(c.name, " ", "_"), "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

// measure measures round by round. In each, the contenders follow each other in another order.
func (p program) measure(ctx context.Context, s settings, progress io.Writer) ([]row, error) {
	all, err := p.bench(ctx, s.only.String(), "1x")
	if err != nil {
		return nil, err
	}
	if s.ours {
		all = slices.DeleteFunc(all, func(r row) bool { return !r.isOurs() })
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no benchmark is named like %q", s.only)
	}
	for i := range all {
		all[i].metrics = map[string][]float64{}
	}
	for round := range s.rounds {
		began := time.Now()
		for _, i := range rand.Perm(len(all)) {
			measured, err := p.bench(ctx, all[i].pattern(), s.length.String())
			if err != nil {
				return nil, err
			}
			if len(measured) != 1 {
				return nil, fmt.Errorf("%s: %d results, want 1", all[i].pattern(), len(measured))
			}
			for metric, values := range measured[0].metrics {
				all[i].metrics[metric] = append(all[i].metrics[metric], values...)
			}
		}
		_, _ = fmt.Fprintf(progress, "round %d of %d took %s\n", round+1, s.rounds, time.Since(began).Round(time.Second))
	}
	return all, nil
}

// spread is a median with the quartiles around it.
type spread struct{ Lower, Median, Upper float64 }

// spreadOf returns the spread of some values, which is zero if there are none.
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
