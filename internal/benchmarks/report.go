package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/template"
	"time"
)

//go:embed report.md.tmpl
var reportTemplate string

// A report has the data of the page.
type report struct {
	settings

	rows    []row
	machine string
	modules string // as go list -m all writes them
	date    time.Time
	took    time.Duration
}

// gains says what a user of this library gets for the difference to the floor, by the name of the contender.
var gains = map[string]string{
	"messaging-go":                                     "a contract, masked errors, a rate limit, circuit breakers and a verdict",
	"messaging-go, a template of chat app 2":           "checks of every part of every kind of message",
	"messaging-go, SendAll":                            "one outcome for each message, retries, and a rate that follows the service",
	"messaging-go, List":                               "names, times, numbers and statuses as a contract gives them",
	"messaging-go, Receiver.SMS with secret and store": "every parameter kept, names from the contract, duplicates dropped",
}

// A column of a table shows a metric of a benchmark. A metric that ends with -ratio is the ratio to the floor.
type column struct {
	benchmark, title, metric string
	unit                     unit
}

// A unit says how a value is written: divided, and with so many digits after the decimal point.
type unit struct {
	divisor float64
	digits  int
}

// ratio is the unit of ratios. Other metrics are counts or nanoseconds.
var ratio = unit{divisor: 1, digits: 2}

// counts, micros and millis are the units of counts or nanoseconds, of microseconds and of milliseconds.
func counts(digits int) unit { return unit{divisor: 1, digits: digits} }
func micros(digits int) unit { return unit{divisor: 1e3, digits: digits} }
func millis(digits int) unit { return unit{divisor: 1e6, digits: digits} }

// tables are the columns of each table of the page.
var tables = map[string][]column{
	"one send": {
		{"Send", "in memory: CPU ratio", "cpu-ratio", ratio},
		{"Send", "CPU µs", "cpu-ns/op", micros(2)},
		{"Send", "allocations", "mallocs/op", counts(0)},
		{"SendLoopback", "over loopback: time ratio", "time-ratio", ratio},
		{"SendLoopback", "CPU ratio", "cpu-ratio", ratio},
		{"SendLoopback", "time µs", "ns/op", micros(0)},
	},
	"many sends": {
		{"Many", "time ratio", "time-ratio", ratio},
		{"Many", "CPU ratio", "cpu-ratio", ratio},
		{"Many", "time µs", "ns/op", micros(1)},
		{"ManyTLS", "TLS, 5 ms: time ratio", "time-ratio", ratio},
		{"ManyTLS", "CPU ratio", "cpu-ratio", ratio},
		{"ManyTLS", "time µs", "ns/op", micros(0)},
	},
	"a listing": {
		{"Row", "a row: CPU ratio", "cpu-ratio", ratio},
		{"Row", "CPU ns", "cpu-ns/op", counts(0)},
		{"Row", "allocations", "mallocs/op", counts(1)},
		{"Pages", "50 pages, 5 ms each: time ratio", "time-ratio", ratio},
		{"Pages", "time ms", "ns/op", millis(0)},
	},
	"a webhook": {
		{"Webhook", "CPU ratio", "cpu-ratio", ratio},
		{"Webhook", "CPU µs", "cpu-ns/op", micros(2)},
		{"Webhook", "allocations", "mallocs/op", counts(0)},
	},
}

// page writes the page. It leaves out tables without a measurement.
func (r report) page() ([]byte, error) {
	charts := map[string]chart{}
	for _, c := range allCharts {
		charts[c.name] = c
	}
	parsed, err := template.New("report").Funcs(template.FuncMap{
		"machine": func() string { return r.machine },
		"date":    func() string { return r.date.UTC().Format(time.DateOnly) },
		"rounds":  func() int { return r.settings.rounds },
		"length":  func() time.Duration { return r.length },
		"took":    func() string { return fmt.Sprintf("%.0f minutes", math.Ceil(r.took.Minutes())) },
		"version": r.version,
		"table":   r.table,
		"chart":   func(name string) chart { return charts[name] },
	}).Parse(reportTemplate)
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	err = parsed.Execute(&page, nil)
	return page.Bytes(), err
}

// version returns a module with the version that was measured.
func (r report) version(path string) (string, error) {
	for line := range strings.Lines(r.modules) {
		if version, ok := strings.CutPrefix(line, path+" "); ok {
			return "`" + path + "` " + strings.TrimSpace(version), nil
		}
	}
	return "", fmt.Errorf("the benchmarks have no module %q", path)
}

// table writes a table, or nothing if there is no measurement for it.
func (r report) table(name string) (string, error) {
	columns := tables[name]
	if columns == nil {
		return "", fmt.Errorf("there is no table %q", name)
	}
	names := r.names(columns)
	if len(names) == 0 {
		return "", nil
	}
	heads := []string{"who"}
	for _, c := range columns {
		heads = append(heads, c.title)
	}
	lines := []string{tableRow(heads...), "|---|" + strings.Repeat("---:|", len(columns))}
	for _, name := range names {
		cells := []string{label(name)}
		for _, c := range columns {
			cells = append(cells, r.cell(c, name))
		}
		lines = append(lines, tableRow(cells...))
	}
	return strings.Join(lines, "\n"), nil
}

// names returns the contenders with a measurement for any of the columns.
func (r report) names(columns []column) (names []string) {
	for _, c := range columns {
		for _, row := range r.rows {
			if row.benchmark == c.benchmark && !slices.Contains(names, row.name) {
				names = append(names, row.name)
			}
		}
	}
	return names
}

// label returns the first cell of a row. For this library it says what a user gets for the difference.
func label(name string) string {
	if !(rowName{name: name}).isOurs() {
		return name
	}
	if gains[name] == "" {
		return "**" + name + "**"
	}
	return "**" + name + "**: " + gains[name]
}

func tableRow(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |" }

// values returns the measurements of a contender in the unit of a column, one for each round.
func (r report) values(c column, name string) []float64 {
	var values []float64
	for _, row := range r.rows {
		if row.benchmark == c.benchmark && row.name == name {
			for _, value := range row.metrics[c.metric] {
				values = append(values, value/c.unit.divisor)
			}
		}
	}
	return values
}

// cell writes the median of a contender in a column, or nothing if there is none. A ratio has its quartiles, too.
func (r report) cell(c column, name string) string {
	values := r.values(c, name)
	s := spreadOf(values)
	switch {
	case len(values) == 0:
		return ""
	case strings.HasSuffix(c.metric, "-ratio"):
		return fmt.Sprintf("%.2f (%.2f–%.2f)", s.Median, s.Lower, s.Upper)
	default:
		return number(s.Median, c.unit.digits)
	}
}

// number writes a number with a comma between thousands.
func number(value float64, digits int) string {
	whole, fraction, _ := strings.Cut(fmt.Sprintf("%.*f", digits, value), ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	return whole + fraction
}

// thisMachine returns what the figures depend on. It names no host and no path.
func thisMachine() string {
	return fmt.Sprintf("%s, %d cores, %s, %s/%s",
		processor("/proc/cpuinfo"), runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// processor reads the model's name if the system has a file with it.
func processor(file string) string {
	info, err := os.ReadFile(file)
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}
