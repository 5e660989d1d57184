package sms

import (
	"bytes"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAFallbackShowsMeasuresOnly(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t"
	for want, fallback := range map[string]Fallback{
		"sms.Fallback{From: 0 characters, Text: 0 characters}":  {},
		"sms.Fallback{From: 6 characters, Text: 10 characters}": {From: secret, Text: "é😀 " + secret + "\n"},
		"sms.Fallback{From: 0 characters, Text: 7 characters}":  {Text: secret + "\xff"},
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%X", "%t", "%10.3v", "%-20s"} {
			assert.Equal(t, want, fmt.Sprintf(verb, fallback), verb)
			assert.Equal(t, want, fmt.Sprintf(verb, &fallback), verb)
			within := fmt.Sprintf(verb, struct {
				Fallback *Fallback
				List     []Fallback
				Any      any
			}{&fallback, []Fallback{fallback}, fallback})
			assert.NotContains(t, within, secret, verb)
			assert.NotContains(t, within, fmt.Sprintf("%x", secret), verb)
		}
		var text, document bytes.Buffer
		slog.New(slog.NewTextHandler(&text, nil)).Info("shown", "one", fallback, "two", &fallback, slog.Group("group", "three", fallback))
		slog.New(slog.NewJSONHandler(&document, nil)).With("bound", fallback).Info("shown", "one", &fallback)
		assert.Contains(t, text.String(), `one="`+want+`" two="`+want+`" group.three="`+want+`"`)
		assert.Contains(t, document.String(), `"bound":"`+want+`","one":"`+want+`"`)
		assert.NotContains(t, text.String()+document.String(), secret)
	}
}
