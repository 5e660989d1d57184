package chatapp2_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

func serverClient(t *testing.T, srv *messagingtest.Server, options ...messaging.Option) *messaging.Client {
	t.Helper()
	client, err := messaging.NewClient(srv.URL, append(options, messaging.WithToken(srv.Token))...)
	require.NoError(t, err)
	return client
}

// The test server shares no code with the library, so that a mistake in the encoding shows.
func TestServerReceivesEveryGoldenMessage(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	client := serverClient(t, srv)
	files, err := filepath.Glob(filepath.Join("testdata", "golden", "*", "*.json"))
	require.NoError(t, err)
	require.Greater(t, len(files), 100)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		var m chatapp2.Message
		require.NoError(t, json.Unmarshal(raw, &m), file)
		if m.TTL%time.Second != 0 {
			continue // rejected under the default contract
		}
		srv.Reset()
		receipt, err := client.ChatApp2.Send(t.Context(), m)
		require.NoError(t, err, file)
		require.Len(t, srv.Sent(), 1, file)
		assert.Equal(t, srv.Sent()[0].ID, receipt.ID, file)
		assert.Equal(t, m.ReferenceID, receipt.ReferenceID, file)
		var want, got map[string]any
		require.NoError(t, json.Unmarshal(raw, &want))
		require.NoError(t, json.Unmarshal(srv.Sent()[0].Body, &got))
		for _, key := range []string{"ttl", "fallback", "callbackURL", "referenceID", "marketing"} { // the library's own
			delete(want, key)
		}
		for _, name := range serviceNames() {
			delete(got, name)
		}
		assert.Equal(t, want, got, file)
	}
}

// serviceNames returns what the service adds to a message under the default contract.
func serviceNames() []string {
	return []string{"ttl", "sms_from", "sms_text", "dlrCallback", "dlrReport", "referenceId"}
}

func TestWithLenientLimitsSkipsLimitsOnly(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	strict, lenient := serverClient(t, srv), serverClient(t, srv, messaging.WithLenientLimits())
	long := chatapp2.Message{
		To: "+639171234567", CallbackData: strings.Repeat("x", 513),
		Content: chatapp2.Interactive{
			Body: strings.Repeat("é", 1025), Footer: strings.Repeat("é", 61),
			Action: chatapp2.ReplyButtons{{ID: "1", Title: "a title of more than twenty"}, {ID: "2", Title: "b"}, {ID: "3", Title: "c"}, {ID: "4", Title: "d"}},
		},
	}
	_, err := strict.ChatApp2.Send(t.Context(), long)
	invalid, ok := errors.AsType[*messaging.ValidationError](err)
	require.True(t, ok, "%v", err)
	fields := make([]string, len(invalid.Problems))
	for i, problem := range invalid.Problems {
		fields[i] = problem.Field
	}
	assert.ElementsMatch(t, []string{"Content.Body", "Content.Footer", "Content.Action", "Content.Action[0].Title", "CallbackData"}, fields)
	assert.Empty(t, srv.Sent())

	_, err = lenient.ChatApp2.Send(t.Context(), long)
	require.NoError(t, err)
	assert.Len(t, srv.Sent(), 1)

	long.To = ""
	_, err = lenient.ChatApp2.Send(t.Context(), long)
	invalid, ok = errors.AsType[*messaging.ValidationError](err)
	require.True(t, ok, "%v", err)
	require.Len(t, invalid.Problems, 1, "what passes is not reported either")
	assert.Equal(t, "To", invalid.Field)
	assert.Equal(t, messaging.NotSent, messaging.VerdictOf(err))
	assert.Len(t, srv.Sent(), 1)
}

func TestExtraCannotReplaceAFieldOfTheService(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	client := serverClient(t, srv)
	for _, name := range serviceNames() {
		if name == "dlrReport" {
			continue // the default's constant gives way
		}
		for what, m := range map[string]chatapp2.Message{
			"extra":   {Content: chatapp2.Text{Body: "Hi"}, Extra: map[string]any{name: "x"}},
			"content": {Content: chatapp2.Raw{Type: name, JSON: json.RawMessage(`{}`)}},
		} {
			m.To, m.TTL, m.CallbackURL, m.ReferenceID = "+639171234567", time.Minute, "https://shop.example.com/dlr", "r-1"
			m.Fallback = &sms.Fallback{From: "ACME", Text: "Hi"}
			_, err := client.ChatApp2.Send(t.Context(), m)
			invalid, ok := errors.AsType[*messaging.ValidationError](err)
			require.True(t, ok, "%s of the name %s: %v", what, name, err)
			assert.Contains(t, invalid.Error(), name)
		}
	}
	assert.Empty(t, srv.Sent())
}

func TestNilIsNeverSent(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	client := serverClient(t, srv, messaging.WithLenientLimits())
	for _, content := range []chatapp2.Content{
		nil, (*chatapp2.Text)(nil),
		chatapp2.Interactive{Body: "x"},
		chatapp2.Interactive{Body: "x", Action: (*chatapp2.List)(nil)},
		chatapp2.Template{Name: "a", Language: "en", Components: []chatapp2.Component{nil}},
		chatapp2.Template{Name: "a", Language: "en", Components: []chatapp2.Component{chatapp2.TemplateBody{nil}}},
		chatapp2.Template{Name: "a", Language: "en", Components: []chatapp2.Component{chatapp2.TemplateHeader{Parameter: (*chatapp2.Image)(nil)}}},
	} {
		_, err := client.ChatApp2.Send(t.Context(), chatapp2.Message{To: "+639171234567", Content: content})
		assert.ErrorIs(t, err, messaging.ErrInvalid, "%T", content)
	}
	assert.Empty(t, srv.Sent())
}

// The sender of an inbound message can be answered, whatever the platform knows of them.
func TestToTakesWhatFromGave(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	client := serverClient(t, srv)
	hooks, err := webhook.NewReceiver(webhook.WithVerifier(func(*http.Request) error { return nil }))
	require.NoError(t, err)
	for from, want := range map[string]string{
		"639171234567":            `{"recipient_type":"individual","to":"639171234567"}`,
		"+639171234567":           `{"recipient_type":"individual","to":"+639171234567"}`,
		"US.13491208655302741918": `{"recipient_type":"individual","recipient":"US.13491208655302741918"}`,
		"US.ENT.1349120865530274": `{"recipient_type":"individual","recipient":"US.ENT.1349120865530274"}`,
	} {
		messages, _, err := hooks.ParseChatApp2(messagingtest.NewRequest("https://shop.example.com/hooks", messagingtest.InboundChatApp{
			Channel: "chatapp2", ID: "m-1", From: from, Text: "Hi",
		}))
		require.NoError(t, err)
		require.Len(t, messages, 1)
		srv.Reset()
		_, err = client.ChatApp2.Send(t.Context(), chatapp2.Message{To: messages[0].From, Content: chatapp2.Text{Body: "Hello"}})
		require.NoError(t, err, from)
		require.Len(t, srv.Sent(), 1)
		var body map[string]any
		require.NoError(t, json.Unmarshal(srv.Sent()[0].Body, &body))
		for _, name := range []string{"messaging_product", "type", "text"} {
			delete(body, name)
		}
		got, err := json.Marshal(body)
		require.NoError(t, err)
		assert.JSONEq(t, want, string(got), from)
	}
}
