package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// chart draws one column of the page.
type chart struct {
	name, title string // the title says which direction is better
	column      column
	floor       string // the contender that is 1; empty to show the figure itself
}

var allCharts = []chart{
	{
		"send-memory", "CPU of one send in memory, hand-written net/http is 1: shorter is better",
		column{"Send", "", "cpu-ns/op", 1, 2},
		"hand-written net/http",
	},
	{"many", "64 senders over loopback, time of a message in µs: shorter is better", column{"Many", "", "ns/op", micro, 0}, ""},
	{"listing", "CPU of a row of a listing in memory, in ns: shorter is better", column{"Row", "", "cpu-ns/op", 1, 0}, ""},
}

// file returns the name of the chart's file, which is in the folder of the page.
func (c chart) file() string { return "benchmarks-" + c.name + ".svg" }

// String returns the line of the page that shows the chart.
func (c chart) String() string { return fmt.Sprintf("![%s](%s)", c.title, c.file()) }

// writeCharts draws the charts into a folder, but for those of which nothing was measured.
func (r report) writeCharts(folder string) error {
	var failed error
	for _, c := range allCharts {
		unit := 1.0
		if c.floor != "" {
			unit = spreadOf(r.values(c.column, c.floor)).Median
		}
		var bars []bar
		for _, one := range r.rows {
			if one.benchmark == c.column.benchmark {
				bars = append(bars, bar{one.name, spreadOf(r.values(c.column, one.name)).Median / unit, one.isOurs()})
			}
		}
		if len(bars) == 0 {
			continue
		}
		drawn, err := drawBars(c.title, bars, c.column.digits)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, c.file()), drawn, 0o644)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// bar is a bar of a chart.
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

// hidden is how many times as long as the shortest bar the longest may be: beyond that, it takes two charts.
const hidden = 50

// drawBars draws horizontal bars from top to bottom, with their values, as SVG. digits are those of the values.
func drawBars(title string, bars []bar, digits int) ([]byte, error) {
	const (
		width, names, longest = 820, 370, 370 // of the chart, of the names, of a bar
		height, top           = 24, 44        // of a row, of the title
	)
	shortest, most := bars[0], bars[0]
	for _, b := range bars {
		if b.value < shortest.value {
			shortest = b
		}
		if b.value > most.value {
			most = b
		}
	}
	if shortest.value*hidden < most.value {
		return nil, fmt.Errorf("%s: the bar of %q is too short to see on the scale of %q: draw two charts", title, shortest.name, most.name)
	}
	var svg bytes.Buffer
	total := top + height*len(bars) + 8
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" `+
		`font-family="Helvetica, Arial, sans-serif" font-size="13">`+"\n", width, total, width, total)
	write := func(x, y int, anchor, text string) {
		fmt.Fprintf(&svg, `<text x="%d" y="%d" text-anchor="%s" fill="%s">`, x, y, anchor, ink)
		xml.EscapeText(&svg, []byte(text)) //nolint:errcheck // a buffer takes everything
		svg.WriteString("</text>\n")
	}
	fmt.Fprintf(&svg, `<rect width="%d" height="%d" fill="%s"/>`+"\n", width, total, background)
	write(width/2, 24, "middle", title)
	for i, b := range bars {
		color, y := others, top+height*i
		if b.ours {
			color = ours
		}
		length := int(b.value / most.value * longest)
		write(names-8, y+14, "end", b.name)
		fmt.Fprintf(&svg, `<rect x="%d" y="%d" width="%d" height="16" fill="%s"/>`+"\n", names, y+2, length, color)
		write(names+length+6, y+14, "start", number(b.value, digits))
	}
	svg.WriteString("</svg>\n")
	return svg.Bytes(), nil
}
