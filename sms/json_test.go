package sms

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheJSONOfAMessageIsItsDefaultBodyAndRoundTrips(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		message Message
		want    string
	}{
		"complete": {
			Message{
				From: "ACME", To: "+639171234567", Text: "é \"x\"", CallbackURL: "https://a.example/?s=%s", ReferenceID: "r",
				Extra: map[string]any{"tag": "x", "n": json.Number("1.50"), "o": map[string]any{"p": []any{true, nil}}},
			},
			`{"from":"ACME","to":"+639171234567","text":"é \"x\"","dlrCallback":"https://a.example/?s=%s","dlrReport":1,"referenceId":"r","tag":"x","n":1.50,"o":{"p":[true,null]}}`,
		},
		"smallest":   {valid, `{"from":"ACME","to":"+639171234567","text":"Hi"}`},
		"empty":      {Message{}, `{}`},
		"extra only": {Message{Extra: map[string]any{"a": "b"}}, `{"a":"b"}`},
	} {
		raw, err := json.Marshal(tt.message)
		require.NoError(t, err, name)
		assert.JSONEq(t, tt.want, string(raw), name)
		var back Message
		require.NoError(t, json.Unmarshal(raw, &back), name)
		assert.Equal(t, tt.message, back, name)
		again, err := json.Marshal(back)
		require.NoError(t, err, name)
		assert.Equal(t, string(raw), string(again), name)
	}
}

func TestAMessageThatHasNoJSONIsAnError(t *testing.T) {
	t.Parallel()
	_, err := json.Marshal(Message{Extra: map[string]any{"to": "x"}})
	require.ErrorContains(t, err, `Extra["to"]`)
	_, err = json.Marshal(Message{Extra: map[string]any{"f": func() {}}})
	require.Error(t, err)
	for _, bad := range []string{`[]`, `"x"`, `{"from":1}`, `{`} {
		var m Message
		require.Error(t, json.Unmarshal([]byte(bad), &m), bad)
	}
}

func TestDecodingReplacesTheMessage(t *testing.T) {
	t.Parallel()
	m := Message{From: "old", ReferenceID: "old", Extra: map[string]any{"old": 1}}
	require.NoError(t, json.Unmarshal([]byte(`{"from":"new"}`), &m))
	assert.Equal(t, Message{From: "new"}, m)
}

func FuzzMessageJSON(f *testing.F) {
	for _, seed := range []string{`{}`, `{"from":"A","to":"1","text":"x","dlrReport":1,"x":1e400}`, `{"a":{"b":[1,"2",null]},"":0}`, `null`, `{"From":"A","from":"B"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var first, second Message
		if json.Unmarshal(data, &first) != nil {
			return
		}
		raw, err := json.Marshal(first)
		if err != nil {
			t.Fatalf("decoded and cannot be encoded: %v", err)
		}
		if err := json.Unmarshal(raw, &second); err != nil {
			t.Fatalf("encoded and cannot be decoded: %v", err)
		}
		if again, err := json.Marshal(second); err != nil || string(again) != string(raw) {
			t.Fatalf("%s became %s (%v)", raw, again, err)
		}
	})
}
