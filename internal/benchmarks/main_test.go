package main

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRunMeasuresAndWritesNoFile(t *testing.T) {
	before, err := os.ReadDir(".")
	require.NoError(t, err)
	var out, errs bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-rounds", "2", "-length", "1ms", "-only", "^BenchmarkPages$"}, &out, &errs), errs.String())
	assert.Contains(t, out.String(), "# Benchmarks")
	assert.Contains(t, out.String(), "| hand-written net/http, with a decoder for this row |")
	assert.Contains(t, out.String(), "| **messaging-go, List**: ")
	assert.NotContains(t, out.String(), "messaging-go, SendAll", "what was not measured has no row")
	assert.Contains(t, errs.String(), "round 2 of 2")
	after, err := os.ReadDir(".")
	require.NoError(t, err)
	assert.Len(t, after, len(before))
}

func TestNothingToMeasureIsAnError(t *testing.T) {
	t.Parallel()
	err := run(t.Context(), []string{"-only", "no such benchmark"}, io.Discard, io.Discard)
	assert.ErrorContains(t, err, "no such benchmark")
}

func TestFlags(t *testing.T) {
	for name, c := range map[string]struct {
		arguments []string
		want      string // the folder
		err       string
	}{
		"some benchmarks":             {[]string{"-only", "Webhook"}, "", ""},
		"some, into a folder":         {[]string{"-only", "Webhook", "-o", "part"}, "part", ""},
		"all, into a folder":          {[]string{"-o", "all"}, "all", ""},
		"all, in the wrong folder":    {nil, "", "go -C internal/benchmarks run ."},
		"ours writes no page":         {[]string{"-ours"}, "", ""},
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
			assert.Equal(t, c.want, s.folder)
		})
	}
}

func TestParseRows(t *testing.T) {
	t.Parallel()
	rows, err := parseRows(`goos: linux
BenchmarkSend/hand-written_net/http    	       2	        93.00 allocs/op	      5000 cpu-ns/op	      6000 ns/op
BenchmarkSend/messaging-go,_SendAll    	       2	         0.970 cpu-ratio	      5000 ns/op
BenchmarkSend
PASS
`)
	require.NoError(t, err)
	assert.Equal(t, []row{
		{rowName{"Send", "hand-written net/http"}, map[string][]float64{"allocs/op": {93}, "cpu-ns/op": {5000}, "ns/op": {6000}}},
		{rowName{"Send", "messaging-go, SendAll"}, map[string][]float64{"cpu-ratio": {0.97}, "ns/op": {5000}}},
	}, rows)
	for _, bad := range []string{"BenchmarkSend/x 2 many ns/op", "BenchmarkSend/x 2 3"} {
		_, err = parseRows(bad)
		assert.ErrorContains(t, err, "cannot be read", bad)
	}
}

func TestPatternMatchesOneContender(t *testing.T) {
	t.Parallel()
	assert.Equal(t, `^BenchmarkMany$/^net$/^http's_default_transport,_the_same_pool$`,
		rowName{"Many", "net/http's default transport, the same pool"}.pattern())
	assert.Equal(t, `^BenchmarkWebhook$/^messaging-go,_Receiver\.SMS$`, rowName{"Webhook", "messaging-go, Receiver.SMS"}.pattern())
}

func TestSpreadIsTheMedianWithItsQuartiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		values []float64
		want   spread
	}{
		"none":      {nil, spread{}},
		"one":       {[]float64{3}, spread{3, 3, 3}},
		"two":       {[]float64{4, 2}, spread{2.5, 3, 3.5}},
		"odd":       {[]float64{5, 1, 4, 2, 3}, spread{2, 3, 4}},
		"even":      {[]float64{8, 1, 2, 4}, spread{1.75, 3, 5}},
		"one stray": {[]float64{1, 1, 1, 1, 100}, spread{1, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values := append([]float64(nil), c.values...)
			assert.Equal(t, c.want, spreadOf(c.values))
			assert.Equal(t, values, append([]float64(nil), c.values...), "sorted in a copy")
		})
	}
}
