package wire_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/wire"
)

func TestEncodeDoesNotEscapeHTML(t *testing.T) {
	t.Parallel()
	raw, err := wire.Encode(map[string]any{"<k>": "a & b", "n": 1, "s": "\u2028\"\n"})
	require.NoError(t, err)
	assert.Equal(t, `{"<k>":"a & b","n":1,"s":"\u2028\"\n"}`, string(raw))
	_, err = wire.Encode(func() {})
	require.Error(t, err)
}

func TestEncodeText(t *testing.T) {
	t.Parallel()
	type named struct {
		Text  string
		Bytes []byte
	}
	for name, value := range map[string]any{
		"text":   "空 \ufffd",
		"nested": map[string]any{"a": []any{"b", nil, 1.5, &named{Text: "c"}}},
		"raw":    json.RawMessage(`{"a":"\ufffd"}`),
		"array":  [2]byte{0xff, 0xfe},
	} {
		raw, err := wire.EncodeText(value)
		require.NoError(t, err, name)
		assert.True(t, json.Valid(raw), name)
	}
	for name, value := range map[string]any{
		"text":       "\xff",
		"key":        map[string]any{"\xff": 1},
		"nested":     map[string]any{"a": []any{"b", &named{Text: "\xff"}}},
		"bytes":      named{Bytes: []byte{0xff}},
		"function":   func() {},
		"not finite": math.NaN(),
	} {
		_, err := wire.EncodeText(value)
		assert.Error(t, err, name)
	}
}
