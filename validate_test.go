package messaging_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/sms"
)

// Validate finds what Send rejects, by the contract and the limits of the client, and sends nothing.
func TestValidate(t *testing.T) {
	t.Parallel()
	requests := 0
	client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), roundTripper(func(r *http.Request) (*http.Response, error) {
		requests++
		return respond(r, http.StatusOK, accepted), nil
	}).option())
	require.NoError(t, err)
	lenient, err := client.With(messaging.WithLenientLimits())
	require.NoError(t, err)
	withoutCallback, err := client.With(overlay(t, `{"sms.send":{"fields":{"callback":""}}}`))
	require.NoError(t, err)
	long := chatapp2.Message{To: "+639171234567", Content: chatapp2.Text{Body: strings.Repeat("x", 5000)}}
	for name, tt := range map[string]struct {
		validate, send func() error
		field          string // the first problem, or "" if the message is valid
	}{
		"SMS": {
			func() error { return client.SMS.Validate(message) },
			func() error { return ignore(client.SMS.Send(t.Context(), message)) }, "",
		},
		"SMS without a number": {
			func() error { return client.SMS.Validate(sms.Message{From: "ACME", Text: "Hi"}) },
			func() error { return ignore(client.SMS.Send(t.Context(), sms.Message{From: "ACME", Text: "Hi"})) }, "To",
		},
		"what the contract lacks": {
			func() error { return withoutCallback.SMS.Validate(message) },
			func() error { return ignore(withoutCallback.SMS.Send(t.Context(), message)) }, "CallbackURL",
		},
		"chat app 1": {
			func() error { return client.ChatApp1.Validate(chatapp1.Message{To: "+639171234567"}) },
			func() error { return ignore(client.ChatApp1.Send(t.Context(), chatapp1.Message{To: "+639171234567"})) }, "ChannelID",
		},
		"chat app 2 beyond a limit": {
			func() error { return client.ChatApp2.Validate(long) },
			func() error { return ignore(client.ChatApp2.Send(t.Context(), long)) }, "Content.Body",
		},
		"chat app 2 with lenient limits": {
			func() error { return lenient.ChatApp2.Validate(long) },
			func() error { return ignore(lenient.ChatApp2.Send(t.Context(), long)) }, "",
		},
	} {
		before := requests
		err := tt.validate()
		assert.Equal(t, before, requests, "%s: it sends nothing", name)
		sendErr := tt.send()
		if tt.field == "" {
			require.NoError(t, err, name)
			require.NoError(t, sendErr, name)
			continue
		}
		v, ok := errors.AsType[*messaging.ValidationError](err)
		require.True(t, ok, "%s: %v", name, err)
		assert.Equal(t, tt.field, v.Field, name)
		assert.Equal(t, sendErr, err, name)
		assert.Equal(t, before, requests, name)
	}
}

func ignore(_ messaging.Receipt, err error) error { return err }

// PostgreSQL cannot store a zero byte, so that no message may have one.
func TestValidateRefusesZeroBytes(t *testing.T) {
	t.Parallel()
	client := accepting().client(t)
	const text = "a\x00b"
	fallback := &sms.Fallback{From: "ACME", Text: text}
	app1 := func(payload chatapp1.Payload) chatapp1.Message {
		return chatapp1.Message{ChannelID: "c", To: hello.To, Payload: payload}
	}
	app2 := func(content chatapp2.Content) chatapp2.Message {
		return chatapp2.Message{To: hello.To, Content: content}
	}
	for field, err := range map[string]error{
		"Text":               client.SMS.Validate(sms.Message{From: "ACME", To: hello.To, Text: text}),
		"From":               client.SMS.Validate(sms.Message{From: text, To: hello.To, Text: "Hi"}),
		"ReferenceID":        client.SMS.Validate(sms.Message{From: "ACME", To: hello.To, Text: "Hi", ReferenceID: text}),
		`Extra["k"]`:         client.SMS.Validate(sms.Message{From: "ACME", To: hello.To, Text: "Hi", Extra: map[string]any{"k": []string{text}}}),
		"Payload.Body":       client.ChatApp1.Validate(app1(chatapp1.Text{Body: text})),
		`Payload.Params["p"`: client.ChatApp1.Validate(app1(chatapp1.Template{ID: "t", Params: map[string]string{"p": text}})),
		`Payload.Fields["k`:  client.ChatApp1.Validate(app1(chatapp1.Raw{Fields: map[string]any{"k": text}})),
		"Fallback.Text":      client.ChatApp1.Validate(chatapp1.Message{ChannelID: "c", To: hello.To, Payload: chatapp1.Text{Body: "Hi"}, Fallback: fallback}),
		"Content.Body":       client.ChatApp2.Validate(app2(chatapp2.Text{Body: text})),
		"Content.JSON":       client.ChatApp2.Validate(app2(chatapp2.Raw{Type: "poll", JSON: []byte(`{"name":"a\u0000b"}`)})),
		"CallbackData":       client.ChatApp2.Validate(chatapp2.Message{To: hello.To, Content: chatapp2.Text{Body: "Hi"}, CallbackData: text}),
	} {
		require.ErrorIs(t, err, messaging.ErrInvalid, field)
		assert.ErrorContains(t, err, field)
		assert.ErrorContains(t, err, "must not have a zero byte", field)
	}
	require.NoError(t, client.ChatApp2.Validate(app2(chatapp2.Raw{Type: "poll", JSON: []byte(`{"name":"a\\u0000b"}`)})))
}
