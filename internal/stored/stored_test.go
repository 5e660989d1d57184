package stored_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/stored"
)

type message struct {
	To    string          `json:"to,omitzero"`
	TTL   stored.Duration `json:"ttl,omitzero"`
	Extra map[string]any  `json:"extra,omitzero"`
	Reply *reply          `json:"reply,omitzero"`
}

type reply struct {
	Text string `json:"text"`
	Sent string `json:"sent"`
}

func TestEncodeAndDecode(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]message{
		`{}`:                         {},
		`{"to":"<1>","ttl":"1m30s"}`: {To: "<1>", TTL: stored.Duration(90 * time.Second)},
		`{"extra":{}}`:               {Extra: map[string]any{}},
	} {
		data, err := stored.Encode(m)
		require.NoError(t, err)
		assert.Equal(t, want, string(data))
		var again message
		require.NoError(t, stored.Decode(data, &again))
		assert.Equal(t, m, again)
	}
}

func TestEncodeRefusesInvalidUTF8(t *testing.T) {
	t.Parallel()
	_, err := stored.Encode(message{To: "caf\xe9"})
	assert.EqualError(t, err, "it holds text that is not valid UTF-8")
}

// The keys of a map are data.
func TestDecodeKeepsKeysOfAMapThatDifferInCase(t *testing.T) {
	t.Parallel()
	var m message
	require.NoError(t, stored.Decode([]byte(`{"extra":{"text":"a","Text":"b","reply":{"text":"c","Text":"d"}}}`), &m))
	assert.Equal(t, map[string]any{"text": "a", "Text": "b", "reply": map[string]any{"text": "c", "Text": "d"}}, m.Extra)
}

func TestDecodeErrorsRepeatNothing(t *testing.T) {
	t.Parallel()
	for data, says := range map[string]string{
		`{"to":639171234567}`:                              `"to" must hold a string`,
		`{"ttl":600}`:                                      `"ttl" must hold a duration such as "1m30s"`,
		`{"ttl":"s3cret"}`:                                 `a duration must be such as "1m30s"`,
		`{"extra":"s3cret"}`:                               `"extra" must hold an object`,
		`{"sender":"s3cret"}`:                              `unknown key "sender"`,
		`{"639171234567":1}`:                               "unknown key (a key that is not shown)",
		`{"to":"1","to":"s3cret"}`:                         `"to" comes twice`,
		`{"to":"1","TO":"s3cret"}`:                         `"TO" comes twice`,
		`{"ttl":"1s","\u0074tl":"1s"}`:                     `"ttl" comes twice`,
		`{"extra":{"a":1,"a":"s3cret"}}`:                   `"a" comes twice`,
		`{"extra":{"a":[[{"b":1}],{"b":2,"b":"s3cret"}]}}`: `"b" comes twice`,
		`{"reply":{"text":"a","Text":"s3cret"}}`:           `"Text" comes twice`,
		`{"reply":{"sent":"a","\u017fent":"s3cret"}}`:      `"ſent" comes twice`,
		`["s3cret"]`:                                       "want a JSON object in valid UTF-8",
		`{"to":"s3cret"} {}`:                               "want a JSON object in valid UTF-8",
		"{\"to\":\"\xff\"}":                                "want a JSON object in valid UTF-8",
	} {
		assert.EqualError(t, stored.Decode([]byte(data), new(message)), says)
	}
}
