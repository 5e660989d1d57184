package wire_test

import (
	"encoding/json"
	"math"
	"net"
	"testing"
	"time"

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

type named struct {
	Text  string
	Bytes []byte
	Raw   json.RawMessage
}

// linked holds values that encoding/json leaves out.
type linked struct {
	Text   string
	Hidden any `json:"-"`
	next   *linked
}

type embedded struct{ Text string }

type embedding struct{ embedded }

func TestEncodeText(t *testing.T) {
	t.Parallel()
	cycle := &linked{Text: "a"}
	cycle.next = cycle
	cycle.Hidden = cycle
	for name, value := range map[string]any{
		"text":              "空 \ufffd",
		"text of an escape": `\ufffd \\ufffd`,
		"nested":            map[string]any{"a": []any{"b", nil, 1.5, &named{Text: "c", Raw: json.RawMessage("null")}}},
		"raw":               json.RawMessage(`{"a":"\ufffd"}`),
		"array":             [2]byte{0xff, 0xfe},
		"bytes":             named{Bytes: []byte{0xff}, Raw: json.RawMessage("null")}, // in base64
		"address":           net.ParseIP("203.0.113.7"),
		"left out":          &linked{Text: "a", Hidden: "\xff", next: &linked{Text: "\xff"}},
		"cycle":             cycle,
		"raw and a cycle":   []any{json.RawMessage(`"\ufffd"`), cycle, cycle},
		"raw and left out":  []any{named{Raw: json.RawMessage(`"\ufffd"`)}, linked{Hidden: "\xff", next: &linked{Text: "\xff"}}},
		"raw and marshaler": []any{json.RawMessage(`"\ufffd"`), time.Unix(0, 0), nil, map[string]any(nil), (*linked)(nil)},
	} {
		raw, err := wire.EncodeText(value)
		require.NoError(t, err, name)
		assert.True(t, json.Valid(raw), name)
	}
	for name, value := range map[string]any{
		"text":             "\xff",
		"backslash before": "\\\xff",
		"key":              map[string]any{"\xff": 1},
		"nested":           map[string]any{"a": []any{"b", &named{Text: "\xff"}}},
		"raw":              json.RawMessage("\"\xff\""),
		"nested raw":       named{Raw: json.RawMessage("\"\xff\"")},
		"raw and invalid":  []any{json.RawMessage(`"\ufffd"`), map[string]any{"a": [1]embedding{{embedded{Text: "\xff"}}}}},
		"function":         func() {},
		"not finite":       math.NaN(),
	} {
		_, err := wire.EncodeText(value)
		assert.Error(t, err, name)
	}
}
