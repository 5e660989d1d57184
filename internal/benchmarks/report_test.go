package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

// invented is a report of figures that grow from one contender to the next. What is this library's takes the given share
// of the first, which is the floor in each work.
func invented(share float64) report {
	r := report{
		plan:    plan{works: contests(), observations: observations(), rounds: 3, length: 250 * time.Millisecond},
		results: results{samples: map[string]map[string][]sample{}, observed: map[string]observed{}},
		machine: machine{Processor: "A Processor", Cores: 4, Go: "go1.26.0", System: "linux/amd64"}, versions: map[string]string{},
		date: time.Date(2026, 10, 3, 14, 44, 23, 0, time.UTC), took: 11*time.Minute + 40*time.Second,
	}
	for _, p := range peers() {
		r.versions[p.module] = "v1.2.3"
	}
	for _, w := range r.works {
		r.samples[w.name] = map[string][]sample{}
		for i, c := range w.contenders {
			factor := 1 + float64(i)/10
			if c.name != w.floor && strings.HasPrefix(c.name, nameOurs) {
				factor = share
			}
			for round := range r.rounds {
				noise := 1 + float64(round*(i%3))/100
				r.samples[w.name][c.name] = append(r.samples[w.name][c.name], sample{
					CPU: 5000 * factor * noise, Wall: 6000 * factor * noise, Allocs: 40 * factor, Bytes: 3000 * factor,
				})
			}
		}
	}
	r.observed["list-kept"] = observed{
		Kept: map[string]int64{nameByHand: 35_000, nameListDecoder: 35_500, nameOurs: int64(60_000 * share)}, Page: 350_000, KeptRows: 50,
	}
	r.observed["million"] = observed{Points: []heapPoint{{0, 600_000, 3}, {500_000, 700_000, 67}, {1_000_000, 701_000, 67}, {1_000_000, 610_000, 3}}}
	accepted := int(150 / share)
	r.observed["storm"] = observed{Storms: []storm{
		{Requests: accepted + 50, Accepted: accepted, Refused: 30, NotSent: 20, Length: 12 * time.Second},
		{Off: true, Requests: 6600, Accepted: 600, Refused: 4900, Unknown: 30, Length: 12 * time.Second},
	}}
	return r
}

func written(t *testing.T, r report) string {
	t.Helper()
	var page bytes.Buffer
	require.NoError(t, writeReport(&page, r))
	return page.String()
}

// contains compares without printing a whole page.
func contains(t *testing.T, page, what string, want bool) {
	t.Helper()
	if strings.Contains(page, what) != want {
		t.Errorf("the page contains %q: %t", what, !want)
	}
}

func TestReportGolden(t *testing.T) {
	t.Parallel()
	page := written(t, invented(0.25))
	golden := filepath.Join("testdata", "report.golden.md")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(page), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), page)
}

func TestReportSaysOnlyWhatTheFiguresSay(t *testing.T) {
	t.Parallel()
	fast, slow := written(t, invented(0.25)), written(t, invented(3))
	for _, line := range []string{
		"| One send in memory: CPU | net/http by hand | at most 0.80 | 3.03 (3.01–3.04) | **missed**: each attempt has a timeout",
		"| 16 senders at once over loopback: throughput | net/http by hand, a pool of workers | at least 0.97 | 0.33 (0.33–0.33) | **missed**: a worker hands",
		"| One send in memory: allocations |  | at most 30 | 120.0 (120.0–120.0) | **missed**: a timeout takes four",
		"what is spent there is the watching", "**A tuned send.**", "**A new client**", "**A decoder for one type of row**",
		"**A row that is kept**", "**A webhook**",
	} {
		contains(t, slow, line, true)
		contains(t, fast, line, false)
	}
	contains(t, fast, "**missed**", false)
}

func TestEachTargetSaysWhyItMayBeMissed(t *testing.T) {
	t.Parallel()
	for _, w := range contests() {
		for _, target := range w.targets {
			assert.NotEmpty(t, target.why, target.what)
		}
	}
	assert.NotContains(t, written(t, invented(3)), "**missed**: |")
	assert.Contains(t, written(t, invented(3)), "| at least 510 of 600 | 50 | **missed**: the breaker opens")
}

func TestAVerdictIsAboutTheNumberThatIsShown(t *testing.T) {
	t.Parallel()
	r := invented(0.25)
	r.samples["send-memory"][nameByHand] = []sample{{CPU: 1000}}
	for cpu, want := range map[float64]string{804: "0.80 (0.80–0.80) | reached", 806: "0.81 (0.81–0.81) | **missed**: "} {
		r.samples["send-memory"][nameOurs] = []sample{{CPU: cpu, Allocs: 1}}
		assert.Contains(t, r.verdicts(), "One send in memory: CPU | net/http by hand | at most 0.80 | "+want)
	}
}

func TestAHeapThatGrowsMisses(t *testing.T) {
	t.Parallel()
	r := invented(0.25)
	r.observed["million"] = observed{Points: []heapPoint{{0, 1 << 20, 3}, {500_000, 1 << 20, 67}, {1_000_000, 20 << 20, 67}, {1_000_000, 1 << 20, 5}}}
	page := r.verdicts()
	assert.Contains(t, page, "| under 16 MiB | 20.0 MiB | **missed**: something")
	assert.Contains(t, page, "| at most 64 KiB | 19,456.0 KiB | **missed**: a collection")
	assert.Contains(t, page, "| 0 | 2 | **missed**: the senders")
}

func TestReportOfAPart(t *testing.T) {
	t.Parallel()
	for _, w := range contests() {
		r := invented(0.25)
		r.works, r.observed = []work{w}, nil
		r.samples = map[string]map[string][]sample{w.name: r.samples[w.name]}
		page := written(t, r)
		contains(t, page, "<no value>", false)
		contains(t, page, "\n\n\n", false)
	}
}

func TestReportNamesNoContenderThatIsNotMeasured(t *testing.T) {
	t.Parallel()
	r := invented(3)
	delete(r.samples["webhook"], nameGetValues)
	assert.ErrorContains(t, writeReport(&bytes.Buffer{}, r), nameGetValues)
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"0": number(0, 0), "999": number(999, 0), "1,000": number(1000, 0), "-1,234,567.9": number(-1234567.89, 1), "0.00": number(-0.001, 2),
		"+0.5": signed(1, 0.5), "-0.5": signed(1, -0.5), "+0": signed(0, -0.2), "1.5": kibibytes(1536),
	} {
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
