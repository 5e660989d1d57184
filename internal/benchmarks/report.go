package main

import (
	_ "embed"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/template"
	"time"
)

//go:embed report.md.tmpl
var reportTemplate string

// report is what the page is made of.
type report struct {
	plan
	results

	machine  machine
	versions map[string]string
	date     time.Time
	took     time.Duration
	folder   string // of the page, where its charts go; empty for standard output
}

// writeReport writes the page. Parts for which nothing was measured are left out.
func writeReport(to io.Writer, r report) error {
	page, err := template.New("report").Funcs(template.FuncMap{
		"machine":       func() machine { return r.machine },
		"date":          func() string { return r.date.UTC().Format(time.DateOnly) },
		"rounds":        func() int { return r.rounds },
		"response":      func() int { return len(acceptedResponse) },
		"row":           func() int { return len(smsRow(rowsPerPage)) },
		"rows":          peerRows,
		"length":        func() time.Duration { return r.length },
		"took":          func() string { return fmt.Sprintf("%.0f minutes", math.Ceil(r.took.Minutes())) },
		"peers":         r.peers,
		"verdicts":      r.verdicts,
		"table":         r.table,
		"chart":         r.chart,
		"has":           r.has,
		"ratio":         r.ratio,
		"figure":        r.figure,
		"extra":         r.extra,
		"seen":          func(name string) observed { return r.observed[name] },
		"count":         func(n int) string { return number(float64(n), 0) },
		"kib":           kibibytes,
		"times":         func(a, b int64) int64 { return a * b },
		"per":           func(size, n int64) string { return number(float64(size)/float64(n), 0) },
		"storeCapacity": func() int { return storeCapacity },
		"stormSeconds":  func() string { return number(stormLength.Seconds(), 0) },
		"stormChart":    r.stormChart,
		"micros":        func(nanos float64) float64 { return nanos / 1000 },
		"x":             func(ratio float64) string { return number(ratio, 2) },
		"fixed":         func(digits int, value float64) string { return number(value, digits) },
		"signed":        signed,
	}).Parse(reportTemplate)
	if err != nil {
		return err
	}
	var text strings.Builder
	if err = page.Execute(&text, nil); err != nil {
		return err
	}
	// What a condition left out leaves empty lines behind.
	tidy := text.String()
	for strings.Contains(tidy, "\n\n\n") {
		tidy = strings.ReplaceAll(tidy, "\n\n\n", "\n\n")
	}
	_, err = io.WriteString(to, strings.TrimSpace(tidy)+"\n")
	return err
}

// has reports whether all of these contenders of a work were measured; without contenders, whether the work was.
func (r report) has(name string, contenders ...string) bool {
	if _, ok := r.observed[name]; ok {
		return true
	}
	for _, c := range contenders {
		if len(r.samples[name][c]) == 0 {
			return false
		}
	}
	return len(r.samples[name]) > 0
}

func metricNamed(name string) (metric, error) {
	all := []metric{cpuTime, wall, rate, allocs, allocated}
	i := slices.IndexFunc(all, func(m metric) bool { return m.name == name })
	if i < 0 {
		return metric{}, fmt.Errorf("no metric %q", name)
	}
	return all[i], nil
}

// ratio is the median of what one contender takes, divided by what another does in the same round.
func (r report) ratio(name, of, to, by string) (float64, error) {
	m, err := metricNamed(by)
	if err != nil {
		return 0, err
	}
	if !r.has(name, of, to) {
		return 0, fmt.Errorf("%s: %q or %q was not measured", name, of, to)
	}
	return round(spreadOf(ratios(r.samples[name][of], r.samples[name][to], m)).Median), nil
}

// figure is the median of a figure.
func (r report) figure(name, of, by string) (float64, error) {
	m, err := metricNamed(by)
	if err != nil {
		return 0, err
	}
	if !r.has(name, of) {
		return 0, fmt.Errorf("%s: %q was not measured", name, of)
	}
	return spreadOf(values(r.samples[name][of], m)).Median, nil
}

// extra is by how much the median of one contender is above that of another, below zero where it is under it.
func (r report) extra(name, of, over, by string) (float64, error) {
	a, err := r.figure(name, of, by)
	if err != nil {
		return 0, err
	}
	b, err := r.figure(name, over, by)
	return a - b, err
}

// round keeps what the page shows of a ratio: a verdict is about the number that stands there.
func round(ratio float64) float64 { return math.Round(ratio*100) / 100 }

func kibibytes(bytes int64) string { return number(float64(bytes)/1024, 1) }

// number writes thousands apart.
func number(value float64, digits int) string {
	text := fmt.Sprintf("%.*f", digits, value)
	if strings.Trim(text, "-0.") == "" {
		text = strings.TrimPrefix(text, "-")
	}
	whole, fraction, _ := strings.Cut(text, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	return sign + whole + fraction
}

// signed shows a difference.
func signed(digits int, difference float64) string {
	text := number(difference, digits)
	if strings.HasPrefix(text, "-") {
		return text
	}
	return "+" + text
}

// peerRows says how large the rows of other services are.
func peerRows() string {
	var all []string
	for _, p := range listingPeers() {
		all = append(all, fmt.Sprintf("%s %d", p.name, len(p.row(rowsPerPage))))
	}
	return strings.Join(all, ", ")
}
