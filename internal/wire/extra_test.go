package wire_test

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/wire"
)

func nothingTaken(string) bool { return false }

func TestExtraFollowsTheMessageInTheOrderOfItsNames(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		object string
		extra  map[string]any
		want   string
	}{
		"nothing":            {`{}`, nil, `{}`},
		"no extra":           {`{"to":"1"}`, map[string]any{}, `{"to":"1"}`},
		"no message":         {`{}`, map[string]any{"b": 1, "a": 2}, `{"a":2,"b":1}`},
		"both":               {`{"to":"1","a":{}}`, map[string]any{"z": nil, "B": true, "b": []any{1.5}}, `{"to":"1","a":{},"B":true,"b":[1.5],"z":null}`},
		"HTML is no concern": {`{"to":"<&>"}`, map[string]any{"<&>": "<&>"}, `{"to":"<&>","<&>":"<&>"}`},
		"odd names":          {`{}`, map[string]any{"": 1, `空 "\`: 2, "a.b": 3}, `{"":1,"a.b":3,"空 \"\\":2}`},
		"as it is written":   {`{}`, map[string]any{"n": json.Number("1.50"), "r": json.RawMessage(` { "x" : 1.0 } `)}, `{"n":1.50,"r":{"x":1.0}}`},
	} {
		object, err := wire.AppendExtra([]byte(tt.object), tt.extra, "Extra", nothingTaken)
		require.NoError(t, err, name)
		assert.Equal(t, tt.want, string(object), name)
	}
}

type unwritable struct{}

func (unwritable) MarshalJSON() ([]byte, error) { return nil, errors.New(secret) }

func TestExtraThatCannotBeWrittenIsAnErrorThatNamesItAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	taken := func(name string) bool { return name == "to" }
	for name, tt := range map[string]struct {
		extra map[string]any
		want  string
	}{
		"taken":        {map[string]any{"to": secret, "z": func() {}}, `Payload.Fields["to"] is the name of a field of the message`},
		"a function":   {map[string]any{"f": func() {}}, `Payload.Fields["f"] cannot be encoded: *json.UnsupportedTypeError`},
		"not a number": {map[string]any{"n": math.NaN()}, `Payload.Fields["n"] cannot be encoded: *json.UnsupportedValueError`},
		"unwritable":   {map[string]any{`a "b"`: unwritable{}}, `Payload.Fields["a \"b\""] cannot be encoded: *json.MarshalerError`},
		"not UTF-8":    {map[string]any{"\xff": secret, "\xfe": 1}, `Payload.Fields["\xfe"]: a name must be valid UTF-8`},
		"the first":    {map[string]any{"b": func() {}, "a": math.Inf(1), "c": 1}, `Payload.Fields["a"] cannot be encoded: *json.UnsupportedValueError`},
	} {
		object, err := wire.AppendExtra([]byte(`{"to":"1"}`), tt.extra, "Payload.Fields", taken)
		assert.Nil(t, object, name)
		assert.EqualError(t, err, tt.want, name)
	}
}

func TestEncodeIsJSONWithoutTheEscapesOfHTML(t *testing.T) {
	t.Parallel()
	raw, err := wire.Encode(map[string]any{"<k>": "a & b", "n": 1, "s": "\u2028\"\n"})
	require.NoError(t, err)
	assert.Equal(t, `{"<k>":"a & b","n":1,"s":"\u2028\"\n"}`, string(raw))
	_, err = wire.Encode(func() {})
	require.Error(t, err)
}
