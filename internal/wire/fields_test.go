package wire_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/messaging-service/messaging-go/internal/wire"
)

func TestFields(t *testing.T) {
	t.Parallel()
	type inside struct {
		Text string `concept:"text,required"`
	}
	type message struct {
		To       string            `concept:"to,required,recipient"`
		From     string            `concept:"from,notblank"`
		URL      string            `concept:"url,url"`
		Callback string            `concept:"callback,callback"`
		At       time.Time         `concept:"at"`
		Params   map[string]string `concept:"params"`
		Size     int64             `concept:"size"`
		Inside   any
		Behind   *inside
		Extra    map[string]any
	}
	at := time.Unix(60, 0)
	assert.Equal(t, []wire.Field{
		{Concept: "to", Name: "Message.To", Text: "+639171234567", Required: true},
		{Concept: "from", Name: "Message.From", Text: "ACME"},
		{Concept: "url", Name: "Message.URL", Text: "https://a.example"},
		{Concept: "callback", Name: "Message.Callback", Text: "https://a.example/%s"},
		{Concept: "at", Name: "Message.At", Value: at},
		{Concept: "params", Name: "Message.Params", Value: map[string]string{"a": "b"}},
		{Concept: "size", Name: "Message.Size", Value: int64(1)},
		{Concept: "text", Name: "Message.Inside.Text", Text: "a", Required: true},
		{Concept: "text", Name: "Message.Behind.Text"},
	}, wire.Fields(message{
		To: "+639171234567", From: "ACME", URL: "https://a.example", Callback: "https://a.example/%s", At: at,
		Params: map[string]string{"a": "b"}, Size: 1, Inside: inside{"a"}, Extra: map[string]any{"a": 1},
	}, "Message."))
	wrong := wire.Fields(message{To: "1", From: " ", URL: "https://a.example/%", Callback: "a.example", Size: -1, At: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)}, "")
	for _, f := range wrong {
		hasRule := f.Concept != "params" && f.Concept != "text"
		assert.Equal(t, hasRule, f.Reason != "", "%s: %s", f.Concept, f.Reason)
	}
}
