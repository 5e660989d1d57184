package main

import (
	"bytes"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A bar of a chart.
type bar struct {
	name  string
	value float64
	ours  bool
}

// The colors can be read on white and on black.
var (
	ink    = color.RGBA{R: 0x76, G: 0x7d, B: 0x88, A: 0xff}
	others = color.RGBA{R: 0x9a, G: 0xa5, B: 0xb4, A: 0xff}
	ours   = color.RGBA{R: 0x2f, G: 0x81, B: 0xf7, A: 0xff}
)

// drawBars draws horizontal bars from top to bottom, with their values, as SVG. digits are those of the values.
func drawBars(title string, bars []bar, digits int) ([]byte, error) {
	const (
		width     = 720
		barHeight = 24
		margin    = 60 // for title and axis
		thickness = 14
	)
	p := plot.New()
	p.BackgroundColor = color.Transparent
	p.Title.Text = title
	p.Title.Padding = vg.Points(8)
	for _, style := range []*draw.TextStyle{&p.Title.TextStyle, (*draw.TextStyle)(&p.X.Tick.Label), (*draw.TextStyle)(&p.Y.Tick.Label)} {
		style.Color = ink
		style.Font = font.From(plot.DefaultFont, vg.Points(11))
		style.Font.Variant = "Sans"
	}
	p.HideX()
	p.Y.LineStyle.Width, p.Y.Tick.Length = 0, 0
	var labels []string
	highest := 0.0
	for i, b := range slices.Backward(bars) {
		place := float64(len(bars) - 1 - i)
		labels = append(labels, b.name)
		highest = max(highest, b.value)
		drawn, err := plotter.NewBarChart(plotter.Values{b.value}, vg.Points(thickness))
		if err != nil {
			return nil, err
		}
		drawn.Horizontal, drawn.XMin, drawn.LineStyle.Width, drawn.Color = true, place, 0, others
		if b.ours {
			drawn.Color = ours
		}
		value, err := plotter.NewLabels(plotter.XYLabels{
			XYs: plotter.XYs{{X: b.value, Y: place}}, Labels: []string{number(b.value, digits)},
		})
		if err != nil {
			return nil, err
		}
		value.TextStyle[0].Color, value.TextStyle[0].YAlign = ink, draw.YCenter
		value.TextStyle[0].Font = p.Title.TextStyle.Font
		value.Offset = vg.Point{X: 4, Y: 2}
		p.Add(drawn, value)
	}
	p.NominalY(labels...)
	p.X.Min, p.X.Max = 0, highest*1.1
	p.Y.Min, p.Y.Max = -0.6, float64(len(bars))-0.4
	canvas := vgsvg.New(width, vg.Length(margin+barHeight*len(bars)))
	p.Draw(draw.New(canvas))
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return nil, err
	}
	return svg.Bytes(), nil
}

// chart draws the contenders of a work beside the page, and returns the line of the page that shows it. by is the metric: of a ratio
// to the floor, and of throughput the figure itself. Names leaves out all contenders but the named ones; without names all are shown.
func (r report) chart(name, title, by string, names ...string) (string, error) {
	m, err := metricNamed(by)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(r.works, func(w work) bool { return w.name == name })
	if i < 0 {
		return "", fmt.Errorf("no work %q", name)
	}
	w, digits := r.works[i], 2
	var bars []bar
	for _, c := range w.contenders {
		samples := r.samples[name][c.name]
		if c.hidden || len(samples) == 0 || len(names) > 0 && !slices.Contains(names, c.name) {
			continue
		}
		value := spreadOf(ratios(samples, r.samples[name][w.floor], m)).Median
		if m.name == rate.name {
			value, digits = spreadOf(values(samples, m)).Median, 0
		}
		bars = append(bars, bar{c.name, value, strings.HasPrefix(c.name, nameOurs)})
	}
	return r.drawn("benchmarks-"+name, title, bars, digits)
}

// stormChart draws what became of the messages to a service at its limit.
func (r report) stormChart() (string, error) {
	var bars []bar
	for _, s := range r.observed["storm"].Storms {
		name := "with the breaker"
		if s.Off {
			name = "without the breaker"
		}
		bars = append(bars, bar{"accepted, " + name, float64(s.Accepted), !s.Off}, bar{"refused, " + name, float64(s.Refused), !s.Off})
	}
	slices.SortStableFunc(bars, func(a, b bar) int { return strings.Compare(a.name[:1], b.name[:1]) })
	return r.drawn("benchmarks-storm", "64 senders to a service that takes 50 a second: messages in "+number(stormLength.Seconds(), 0)+" s", bars, 0)
}

// drawn writes a chart beside the page, and returns the line that shows it. A page on standard output has none.
func (r report) drawn(name, title string, bars []bar, digits int) (string, error) {
	if r.folder == "" || len(bars) == 0 {
		return "", nil
	}
	svg, err := drawBars(title, bars, digits)
	if err != nil {
		return "", err
	}
	file := name + ".svg"
	if err := os.WriteFile(filepath.Join(r.folder, file), svg, 0o644); err != nil {
		return "", err
	}
	return fmt.Sprintf("![%s](%s)\n", title, file), nil
}
