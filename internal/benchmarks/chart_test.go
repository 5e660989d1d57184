package main

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDrawBars(t *testing.T) {
	t.Parallel()
	svg, err := drawBars("CPU", []bar{{"first", 1, false}, {"messaging-go", 0.8, true}, {"last & least", 6.04, false}}, 2)
	require.NoError(t, err)
	text := string(svg)
	for _, want := range []string{">CPU<", ">first<", ">messaging-go<", ">last &amp; least<", ">0.80<", ">6.04<"} {
		assert.Contains(t, text, want)
	}
	assert.Less(t, strings.Index(text, "first"), strings.Index(text, "last &amp;"))
	checkColors(t, text)
}

func TestDrawBarsRefusesAScaleThatHidesABar(t *testing.T) {
	t.Parallel()
	_, err := drawBars("CPU", []bar{{"short", 1, false}, {"long", 51, false}}, 0)
	assert.ErrorContains(t, err, `the bar of "short" is too short`)
}

// The charts in the folder of the page.
func TestCharts(t *testing.T) {
	t.Parallel()
	assert.LessOrEqual(t, len(allCharts), 3)
	files, err := filepath.Glob("../../docs/benchmarks-*.svg")
	require.NoError(t, err)
	assert.Len(t, files, len(allCharts))
	page, err := os.ReadFile("../../docs/benchmarks.md")
	require.NoError(t, err)
	for _, c := range allCharts {
		assert.Regexp(t, `: (shorter|longer) is better$`, c.title)
		assert.Contains(t, string(page), c.String())
		svg, err := os.ReadFile("../../docs/" + c.file())
		require.NoError(t, err)
		assert.Contains(t, string(svg), ">"+c.title+"<")
		checkColors(t, string(svg))
	}
}

// checkColors checks that a chart is XML with valid colors, and that text and bars stand out from its background, as the Web
// Content Accessibility Guidelines ask.
func checkColors(t *testing.T, svg string) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(svg))
	behind := ""
	bars := 0
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		element, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range element.Attr {
			assert.NotContains(t, []string{"style", "stroke", "color", "opacity"}, a.Name.Local, "which this test does not read")
			if a.Name.Local != "fill" {
				continue
			}
			require.Regexp(t, `^#[0-9a-f]{6}$`, a.Value)
			switch {
			case element.Name.Local == "text":
				assert.GreaterOrEqual(t, contrast(a.Value, behind), 4.5, a.Value)
			case behind == "":
				behind = a.Value
			default:
				bars++
				assert.GreaterOrEqual(t, contrast(a.Value, behind), 3.0, a.Value)
			}
		}
	}
	assert.Positive(t, bars)
}

// contrast is the contrast ratio of two colors, from 1 to 21.
func contrast(one, other string) float64 {
	a, b := luminance(one), luminance(other)
	return (max(a, b) + 0.05) / (min(a, b) + 0.05)
}

func luminance(color string) float64 {
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		value, _ := strconv.ParseUint(color[1+2*i:3+2*i], 16, 8)
		linear := float64(value) / 255
		if linear <= 0.04045 {
			linear /= 12.92
		} else {
			linear = math.Pow((linear+0.055)/1.055, 2.4)
		}
		sum += weight * linear
	}
	return sum
}

func TestContrast(t *testing.T) {
	t.Parallel()
	assert.InDelta(t, 21, contrast("#000000", "#ffffff"), 1e-9)
	assert.InDelta(t, 4.54, contrast("#767676", "#ffffff"), 0.01)
	assert.InDelta(t, 1, contrast("#9aa5b4", "#9aa5b4"), 1e-9)
}
