package main

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// A chart draws one column of the page.
type chart struct {
	name, title string // the title says which direction is better
	column      column
	floor       string // the contender that counts as 1; empty to show the values themselves
}

var allCharts = []chart{
	{
		name:   "send-memory",
		title:  "CPU of one send in memory, hand-written net/http is 1: shorter is better",
		column: column{benchmark: "Send", metric: "cpu-ns/op", unit: counts(2)},
		floor:  "hand-written net/http",
	},
	{
		name:   "many",
		title:  "64 senders over loopback, time of a message in µs: shorter is better",
		column: column{benchmark: "Many", metric: "ns/op", unit: micros(0)},
	},
	{
		name:   "listing",
		title:  "CPU of a row of a listing in memory, in ns: shorter is better",
		column: column{benchmark: "Row", metric: "cpu-ns/op", unit: counts(0)},
	},
}

// file returns the name of the chart's file, which is in the folder of the page.
func (c chart) file() string { return "benchmarks-" + c.name + ".svg" }

// String returns the line of the page that shows the chart.
func (c chart) String() string { return fmt.Sprintf("![%s](%s)", c.title, c.file()) }

// writeCharts draws the charts into a folder, except those without a measurement.
func (r report) writeCharts(folder string) error {
	var failed error
	for _, c := range allCharts {
		bars := r.bars(c)
		if len(bars) == 0 {
			continue
		}
		drawn, err := drawBars(c.title, bars, c.column.unit.digits)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, c.file()), drawn, 0o644)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// bars returns the bars of a chart: the medians of its contenders.
func (r report) bars(c chart) (bars []bar) {
	one := 1.0
	if c.floor != "" {
		one = spreadOf(r.values(c.column, c.floor)).Median
	}
	for _, row := range r.rows {
		if row.benchmark == c.column.benchmark {
			median := spreadOf(r.values(c.column, row.name)).Median
			bars = append(bars, bar{name: row.name, value: median / one, ours: row.isOurs()})
		}
	}
	return bars
}

// A bar of a chart.
type bar struct {
	name  string
	value float64
	ours  bool
}

// The colors. A chart has its own background, so that the contrast is the same on every page.
const (
	background = "#ffffff"
	ink        = "#24292f"
	others     = "#8c959f"
	ours       = "#0969da"
)

// color returns the color of the bar.
func (b bar) color() string {
	if b.ours {
		return ours
	}
	return others
}

// maxScale is how many times as long as the shortest bar the longest one may be. Beyond that the shortest is too short to see.
const maxScale = 50

// The measures of a chart, in pixels.
const (
	chartWidth  = 820
	titleHeight = 44
	rowHeight   = 24
	namesWidth  = 370
	longestBar  = 370
)

// drawBars draws horizontal bars from top to bottom, with their values, as SVG. digits is the number of digits after the decimal point.
func drawBars(title string, bars []bar, digits int) ([]byte, error) {
	byValue := func(a, b bar) int { return cmp.Compare(a.value, b.value) }
	shortest := slices.MinFunc(bars, byValue)
	longest := slices.MaxFunc(bars, byValue)
	if shortest.value*maxScale < longest.value {
		return nil, fmt.Errorf("%s: the bar of %q is too short to see on the scale of %q: draw two charts", title, shortest.name, longest.name)
	}
	var svg drawing
	svg.begin(chartWidth, titleHeight+rowHeight*len(bars)+8)
	svg.text(chartWidth/2, 24, "middle", title)
	for i, b := range bars {
		top := titleHeight + rowHeight*i
		baseline := top + 14
		length := int(b.value / longest.value * longestBar)
		svg.text(namesWidth-8, baseline, "end", b.name)
		svg.rectangle(namesWidth, top+2, length, 16, b.color())
		svg.text(namesWidth+length+6, baseline, "start", number(b.value, digits))
	}
	return svg.end(), nil
}

// A drawing is an SVG document.
type drawing struct{ bytes.Buffer }

// begin begins a drawing with a background.
func (d *drawing) begin(width, height int) {
	fmt.Fprintf(&d.Buffer, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" `+
		`font-family="Helvetica, Arial, sans-serif" font-size="13">`+"\n", width, height, width, height)
	fmt.Fprintf(&d.Buffer, `<rect width="%d" height="%d" fill="%s"/>`+"\n", width, height, background)
}

// text writes a text whose anchor, "start", "middle" or "end", is at a point.
func (d *drawing) text(x, y int, anchor, text string) {
	fmt.Fprintf(&d.Buffer, `<text x="%d" y="%d" text-anchor="%s" fill="%s">`, x, y, anchor, ink)
	xml.EscapeText(d, []byte(text)) //nolint:errcheck // a buffer takes everything
	d.WriteString("</text>\n")
}

func (d *drawing) rectangle(x, y, width, height int, color string) {
	fmt.Fprintf(&d.Buffer, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", x, y, width, height, color)
}

// end ends the drawing, and returns it.
func (d *drawing) end() []byte {
	d.WriteString("</svg>\n")
	return d.Bytes()
}
