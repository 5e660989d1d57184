package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain lets the program start itself here too.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && (os.Args[1] == roleServer || os.Args[1] == roleWorker) {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestShortRunMeasuresInProcessesOfItsOwnAndWritesNoFile(t *testing.T) {
	t.Chdir(t.TempDir())
	var out, errs bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-short", "-only", "^(send-first|many-tls)$"}, strings.NewReader(""), &out, &errs), errs.String())
	assert.Contains(t, out.String(), "| net/http by hand | 1.00 (1.00–1.00) |")
	assert.Contains(t, out.String(), "| **messaging-go** |")
	assert.Contains(t, out.String(), "| **messaging-go, SendAll** |")
	assert.NotContains(t, out.String(), "One send in memory", "what was not measured has no verdict")
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	assert.Empty(t, files)
}

func TestReportGoesToTheFileThatIsNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	var out, errs bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-rounds", "2", "-length", "1ms", "-only", "^send-first$", "-o", "page.md"}, strings.NewReader(""), &out, &errs), errs.String())
	assert.Empty(t, out.String())
	assert.Contains(t, errs.String(), "round 2 of 2")
	page, err := os.ReadFile("page.md")
	require.NoError(t, err)
	assert.Contains(t, string(page), "# Benchmarks")
}

func TestWorkerTellsWhatWentWrong(t *testing.T) {
	t.Parallel()
	for _, told := range []task{{Work: "no such work"}, {Work: "send-memory", Contender: "nobody"}} {
		input, err := json.Marshal(told)
		require.NoError(t, err)
		var out bytes.Buffer
		require.NoError(t, runWorker(t.Context(), bytes.NewReader(input), &out))
		var r result
		require.NoError(t, json.Unmarshal(out.Bytes(), &r))
		assert.Contains(t, r.Error, told.Work)
	}
}

func TestServerEndsWithItsInput(t *testing.T) {
	t.Parallel()
	in, closer := io.Pipe()
	out, written := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- runServer(t.Context(), in, written) }()
	var at service
	require.NoError(t, json.NewDecoder(out).Decode(&at))
	assert.Contains(t, at.Plain, "http://127.0.0.1:")
	assert.Contains(t, at.Secure, "https://127.0.0.1:")
	require.NoError(t, closer.Close())
	require.NoError(t, <-ended)
}

func TestFlags(t *testing.T) {
	for name, c := range map[string]struct {
		arguments []string
		want      string // of the output file
		err       string
	}{
		"part of the works":           {[]string{"-only", "webhook"}, "", ""},
		"part of them, into a file":   {[]string{"-only", "webhook", "-o", "part.md"}, "part.md", ""},
		"all, into a file":            {[]string{"-o", "all.md"}, "all.md", ""},
		"all, in the wrong folder":    {nil, "", "go -C internal/benchmarks run ."},
		"short never writes":          {[]string{"-short", "-o", "all.md"}, "", ""},
		"no rounds":                   {[]string{"-rounds", "0", "-o", "x"}, "", "more than 0"},
		"no expression":               {[]string{"-only", "("}, "", "invalid value"},
		"an argument that is no flag": {[]string{"all"}, "", "unexpected argument"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			s, err := parse(c.arguments, io.Discard)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, s.output)
		})
	}
}

func TestNothingToMeasureIsAnError(t *testing.T) {
	t.Parallel()
	err := run(t.Context(), []string{"-only", "no such work"}, strings.NewReader(""), io.Discard, io.Discard)
	assert.ErrorContains(t, err, "no such work")
}

func TestEachContenderRunsOnceInEachRoundInAnotherOrder(t *testing.T) {
	t.Parallel()
	all := selected(contests(), func(w work) string { return w.name }, mustMatch("^(send-memory|webhook)$"))
	p := plan{works: all, observations: observations(), rounds: 6, length: 7, short: true}
	var orders [6][]string
	seen := map[string]int{}
	measured, err := p.run(t.Context(), func(_ context.Context, told task) (result, error) {
		assert.True(t, told.Short)
		if told.Contender == "" {
			return result{Observed: observed{KeptRows: 1}}, nil
		}
		assert.EqualValues(t, 7, told.Length)
		key := told.Work + told.Contender
		if told.Work == "send-memory" {
			orders[seen[key]] = append(orders[seen[key]], told.Contender)
		}
		seen[key]++
		return result{Sample: sample{CPU: float64(seen[key])}}, nil
	}, io.Discard)
	require.NoError(t, err)
	assert.Len(t, measured.observed, len(observations()))
	for _, w := range all {
		for _, c := range w.contenders {
			assert.Equal(t, []sample{{CPU: 1}, {CPU: 2}, {CPU: 3}, {CPU: 4}, {CPU: 5}, {CPU: 6}}, measured.samples[w.name][c.name], c.name)
		}
	}
	for _, order := range orders[1:] {
		assert.ElementsMatch(t, orders[0], order)
		assert.NotEqual(t, orders[0], order)
	}
}

func TestRunEndsWithTheFirstError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	calls := 0
	_, err := plan{works: contests(), rounds: 3}.run(t.Context(), func(context.Context, task) (result, error) {
		calls++
		return result{}, broken
	}, io.Discard)
	require.ErrorIs(t, err, broken)
	assert.Equal(t, 1, calls)
}
