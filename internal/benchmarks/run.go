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

// A rowName names a contender of a benchmark, such as messaging-go in Send.
type rowName struct{ benchmark, name string }

// isOurs reports whether the contender is this library.
func (r rowName) isOurs() bool { return strings.HasPrefix(r.name, "messaging-go") }

// A row has the measurements of a contender: for each metric a value for each round.
type row struct {
	rowName

	metrics map[string][]float64
}

// A program is the test binary with the benchmarks.
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

// bench runs the benchmarks that match a pattern. Their process has an empty environment, so that no client finds settings there.
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

// parseRows reads the lines that package testing writes for benchmarks, such as "BenchmarkSend/messaging-go 2 5000 ns/op".
func parseRows(out string) ([]row, error) {
	var rows []row
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		name, isResult := strings.CutPrefix(line, "Benchmark")
		if !isResult || len(fields) < 2 {
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

// pattern returns the value of -test.bench that matches this contender alone.
func (r rowName) pattern() string {
	parts := strings.Split("Benchmark"+r.benchmark+"/"+strings.ReplaceAll(r.name, " ", "_"), "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

// measure measures all contenders in each round, in a random order.
func (p program) measure(ctx context.Context, s settings, progress io.Writer) ([]row, error) {
	rows, err := p.list(ctx, s)
	if err != nil {
		return nil, err
	}
	for round := range s.rounds {
		began := time.Now()
		for _, i := range rand.Perm(len(rows)) {
			if err := p.measureOnce(ctx, &rows[i], s.length); err != nil {
				return nil, err
			}
		}
		_, _ = fmt.Fprintf(progress, "round %d of %d took %s\n", round+1, s.rounds, time.Since(began).Round(time.Second))
	}
	return rows, nil
}

// list returns an empty row for each contender to measure. It runs each of them once.
func (p program) list(ctx context.Context, s settings) ([]row, error) {
	rows, err := p.bench(ctx, s.only.String(), "1x")
	if err != nil {
		return nil, err
	}
	if s.ours {
		rows = slices.DeleteFunc(rows, func(r row) bool { return !r.isOurs() })
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("no benchmark is named like %q", s.only)
	}
	for i := range rows {
		rows[i].metrics = map[string][]float64{}
	}
	return rows, nil
}

// measureOnce measures a contender in one process, and adds the values to its row.
func (p program) measureOnce(ctx context.Context, r *row, length time.Duration) error {
	measured, err := p.bench(ctx, r.pattern(), length.String())
	if err != nil {
		return err
	}
	if len(measured) != 1 {
		return fmt.Errorf("%s: %d results, want 1", r.pattern(), len(measured))
	}
	for metric, values := range measured[0].metrics {
		r.metrics[metric] = append(r.metrics[metric], values...)
	}
	return nil
}

// A spread is a median with the quartiles around it.
type spread struct{ Lower, Median, Upper float64 }

// spreadOf returns the spread of some values, which is zero if there are none.
func spreadOf(values []float64) spread {
	sorted := slices.Sorted(slices.Values(values))
	return spread{quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75)}
}

// quantile returns a quantile of sorted values. It interpolates between the two values around it.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	place := q * float64(len(sorted)-1)
	below := int(place)
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (place-float64(below))*(sorted[above]-sorted[below])
}
