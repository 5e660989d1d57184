package main

import (
	"encoding/xml"
	"io"
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
	for _, want := range []string{"CPU", "first", "messaging-go", "last &amp; least", "0.80", "6.04"} {
		assert.Contains(t, text, want)
	}
	assert.NotContains(t, text, "fill:#FFFFFF", "the background is that of the page")
	assert.Less(t, strings.Index(text, "last &amp;"), strings.Index(text, "first"), "drawn from the bottom up")
	decoder := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := decoder.Token(); err != nil {
			require.ErrorIs(t, err, io.EOF)
			return
		}
	}
}
