package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sampleReport returns a report in which each ratio of this library has the given value.
func sampleReport(ratio float64) report {
	r := report{
		settings: settings{rounds: 3, length: 300 * time.Millisecond}, machine: "A Processor, 4 cores, go1.26.0, linux/amd64",
		date: time.Date(2026, 10, 3, 14, 44, 23, 0, time.UTC), took: 5*time.Minute + 40*time.Second,
	}
	for _, path := range []string{
		"github.com/aws/aws-sdk-go-v2/service/pinpointsmsvoicev2", "github.com/google/go-github/v92", "github.com/hashicorp/go-retryablehttp",
		"github.com/line/line-bot-sdk-go/v8", "github.com/openai/openai-go/v3", "github.com/resend/resend-go/v3", "github.com/slack-go/slack",
		"github.com/stripe/stripe-go/v85", "github.com/svix/svix-webhooks", "github.com/twilio/twilio-go",
	} {
		r.modules += path + " v1.2.3\n"
	}
	for benchmark, comparison := range comparisons() {
		for i, c := range comparison.contenders {
			measured := row{rowName{benchmark, c.name}, map[string][]float64{
				"ns/op":      {6e6, 7e6, 8e6},
				"cpu-ns/op":  {5e6 + 1e5*float64(i), 5e6, 5e6},
				"mallocs/op": {40, 40, 41},
			}}
			if c.floor != nil {
				value := 1.5
				if measured.isOurs() {
					value = ratio
				}
				measured.metrics["cpu-ratio"] = []float64{value, value, value + 1}
				measured.metrics["time-ratio"] = []float64{value - 0.1, value, value}
			}
			r.rows = append(r.rows, measured)
		}
	}
	return r
}

func page(t *testing.T, r report) string {
	t.Helper()
	written, err := r.page()
	require.NoError(t, err)
	return string(written)
}

func TestPageHasEveryContender(t *testing.T) {
	t.Parallel()
	text := page(t, sampleReport(0.9))
	for _, comparison := range comparisons() {
		for _, c := range comparison.contenders {
			assert.Contains(t, strings.ReplaceAll(text, "**", ""), "| "+c.name)
		}
	}
	assert.Contains(t, text, "Measured on 2026-10-03: A Processor, 4 cores, go1.26.0, linux/amd64; 3 rounds of 300ms for each client, 6 minutes in all.")
	assert.Contains(t, text, "`github.com/twilio/twilio-go` v1.2.3")
	assert.Contains(t, text, " | 0.90 (0.85–0.90) | 0.90 (0.90–1.40) | 7,000.0 |")
	assert.NotContains(t, text, "\n\n\n")
}

func TestPageIsShort(t *testing.T) {
	t.Parallel()
	committed, err := os.ReadFile("../../docs/benchmarks.md")
	require.NoError(t, err)
	for _, text := range []string{page(t, sampleReport(2)), string(committed)} {
		assert.LessOrEqual(t, strings.Count(text, "\n"), 150)
	}
}

func TestPageOfAPart(t *testing.T) {
	t.Parallel()
	r := sampleReport(0.9)
	r.rows = slices.DeleteFunc(r.rows, func(r row) bool { return r.benchmark != "Send" || r.name != nameByHand })
	text := page(t, r)
	assert.Contains(t, text, "| hand-written net/http |")
	assert.NotContains(t, text, "messaging-go, SendAll")
	assert.NotContains(t, text, "<no value>")
}

func TestGains(t *testing.T) {
	t.Parallel()
	text := page(t, sampleReport(1.06))
	for _, comparison := range comparisons() {
		for _, c := range comparison.contenders {
			if (rowName{name: c.name}).isOurs() {
				require.NotEmpty(t, gains[c.name], "%s: say what a user gets for its ratio", c.name)
				assert.Contains(t, text, "| **"+c.name+"**: "+gains[c.name]+" |")
			}
		}
	}
}

func TestColumnsNameBenchmarks(t *testing.T) {
	t.Parallel()
	columns := map[string]bool{}
	for _, table := range tables {
		for _, c := range table {
			columns[c.benchmark] = true
		}
	}
	assert.Len(t, columns, len(comparisons()))
	for _, c := range allCharts {
		assert.True(t, columns[c.column.benchmark])
	}
	for benchmark := range comparisons() {
		assert.True(t, columns[benchmark], benchmark)
	}
}

func TestWriteCharts(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	require.NoError(t, sampleReport(0.9).writeCharts(folder))
	for _, c := range allCharts {
		svg, err := os.ReadFile(filepath.Join(folder, c.file()))
		require.NoError(t, err)
		assert.Contains(t, string(svg), ">"+c.title+"<")
		assert.Contains(t, string(svg), ">messaging-go")
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{"0": number(0, 0), "999": number(999, 0), "1,000": number(1000, 0), "1,234,567.9": number(1234567.89, 1)} {
		assert.Equal(t, want, got)
	}
}

func TestProcessorIsTheModelsName(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "cpuinfo")
	require.NoError(t, os.WriteFile(file, []byte("processor\t: 0\nmodel\t\t: 2\nmodel name\t: A Processor @ 2 GHz\n"), 0o600))
	assert.Equal(t, "A Processor @ 2 GHz", processor(file))
	assert.Equal(t, "unknown", processor(filepath.Join(t.TempDir(), "none")))
}
