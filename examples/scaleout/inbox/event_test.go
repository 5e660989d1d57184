package inbox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/examples/scaleout/inbox"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/webhook"
)

// throughJSON returns an event as a reader gets it.
func throughJSON(t *testing.T, e inbox.Event) inbox.Event {
	t.Helper()
	data, err := json.Marshal(e)
	require.NoError(t, err)
	var read inbox.Event
	require.NoError(t, json.Unmarshal(data, &read))
	return read
}

func newReceiver(t *testing.T) *webhook.Receiver {
	t.Helper()
	receiver, err := webhook.NewReceiver()
	require.NoError(t, err)
	return receiver
}

func kindOf(message inbox.Message) inbox.Kind {
	switch m := message.(type) {
	case webhook.SMSMessage:
		return inbox.SMS
	case webhook.ChatMessage:
		return inbox.Kind(m.Callback)
	default:
		return inbox.Delivery
	}
}

func get(t *testing.T, target string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://receiver.example/", nil)
	require.NoError(t, err)
	r.URL.RawQuery = target // also queries that package url rejects
	return r
}

func TestEventRoundTrip(t *testing.T) {
	t.Parallel()
	text := "50% off <&> \x00\x1f\u2028 \U0001F600\r\n"
	receiver := newReceiver(t)
	sms, err := receiver.ParseSMS(get(t, "id=in-1&from=639171234567&message="+strings.NewReplacer("%", "%25", "&", "%26").Replace(text)+"&timestamp=1791038663&x=1&x=2"))
	require.NoError(t, err)
	require.Equal(t, text, sms.Text)
	latin, err := receiver.ParseSMS(get(t, "from=1&message=caf\xe9"))
	require.NoError(t, err)
	require.Equal(t, "café", latin.Text)
	messages := map[string]inbox.Message{"sms": sms, "invalid UTF-8": latin, "empty": webhook.SMSMessage{}}
	for _, status := range []webhook.Status{webhook.StatusUnknown, webhook.StatusDelivered, webhook.StatusDeleted, "new"} {
		messages["delivery "+status.String()] = webhook.DeliveryReport{
			ID: "out-1", Status: status, RawStatus: "17", StatusAt: time.Unix(1, 5).UTC(), JSON: json.RawMessage(`{"id":"out-1"}`),
		}
	}
	messages["delivery without JSON"] = webhook.DeliveryReport{ID: "out-1", RawQuery: "\xff"}
	for name, sample := range messagingtest.InboundSamples() {
		one, _, err := receiver.ParseChatApp1(messagingtest.ChatAppRequest("/", sample))
		require.NoError(t, err, name)
		sample.Channel = messagingtest.ChannelChatApp2
		two, _, err := receiver.ParseChatApp2(messagingtest.ChatAppRequest("/", sample))
		require.NoError(t, err, name)
		for i, m := range append(one, two...) {
			messages[fmt.Sprint(name, i)] = m
		}
	}
	for name, message := range messages {
		e := inbox.Event{Kind: kindOf(message), Key: "key", Lasting: true, ArrivedAt: time.Unix(1791038663, 0).UTC(), Message: message}
		assert.Equal(t, e, throughJSON(t, e), name)
	}
	assert.Greater(t, len(messages), 50)
}

// A sender can write any time and number. An event that cannot be stored would come again and again.
func TestEventWithValuesOutsideJSON(t *testing.T) {
	t.Parallel()
	receiver := newReceiver(t)
	for _, at := range []string{"999999999999999", "-999999999999999", "2026-10-03T14:44:23%2B24:00", "0000-01-01", "2026-10-03T14:44:23%2B23:59"} {
		m, err := receiver.ParseSMS(get(t, "from=1&timestamp="+at))
		require.NoError(t, err)
		read := throughJSON(t, inbox.Event{Kind: inbox.SMS, Message: m}).Message.(webhook.SMSMessage)
		assert.True(t, read.ReceivedAt.Equal(m.ReceivedAt) || read.ReceivedAt.IsZero(), at)
		assert.Equal(t, m.Params, read.Params)
	}
	for _, query := range []string{
		"latitude=NaN&longitude=Inf", "latitude=1e999&longitude=0",
		`payload={"from":"1","id":"i","type":"system","system":{"identity":{"created_timestamp":999999999999999}}}`,
		`payload={"from":"1","id":"i","type":"interactive","interactive":{"type":"call_permission_reply","call_permission_reply":{"expiration_timestamp":999999999999999}}}`,
	} {
		messages, _, err := receiver.ParseChatApp2(get(t, "from=1&"+query))
		require.NoError(t, err, query)
		require.Len(t, messages, 1, query)
		read := throughJSON(t, inbox.Event{Kind: inbox.ChatApp2, Message: messages[0]}).Message.(webhook.ChatMessage)
		assert.IsType(t, messages[0].Content, read.Content, query)
	}
	assert.NotPanics(t, func() {
		_, err := json.Marshal(inbox.Event{Kind: inbox.ChatApp1, Message: webhook.ChatMessage{Content: webhook.Location{Latitude: math.NaN()}}})
		assert.Error(t, err)
	})
}

func TestEventStoredForm(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(inbox.Event{
		Kind: inbox.ChatApp1, Key: "chatapp1.1", Lasting: true, ArrivedAt: time.Date(2026, 10, 3, 14, 44, 23, 186e6, time.UTC),
		Message: webhook.ChatMessage{
			Callback: webhook.CallbackChatApp1, ID: "in-1", From: "1", Content: webhook.Text{Body: "Hi"}, Params: webhook.Params{{Name: "id", Value: "in-1"}}, RawQuery: "id=in-1", JSON: json.RawMessage(`{"id": "in-1"}`),
		},
		Sequence: 17,
	})
	require.NoError(t, err)
	assert.JSONEq(t, `{"version": 1, "kind": "chatapp1", "key": "chatapp1.1", "lasting": true, "arrivedAt": "2026-10-03T14:44:23.186Z", "message": {
		"callback": "chatapp1", "id": "in-1", "from": "1", "content": {"text": {"body": "Hi"}}, "json": "{\"id\": \"in-1\"}",
		"params": [{"name": "id", "value": "in-1"}], "rawQuery": "id=in-1"}}`, string(data))
}

func TestEventErrorsHoldNoData(t *testing.T) {
	t.Parallel()
	for _, data := range []string{
		"", "{", "null", "[]", `{"version":2,"kind":"sms","message":{}}`, `{"version":1,"kind":"fax","message":{}}`, `{"version":1,"kind":"sms"}`,
		`{"version":1,"kind":"sms","message":{"Text":639171234567}}`, `{"version":1,"kind":"chatapp1","message":{"content":{"poll":{}}}}`,
		`{"version":1,"kind":"chatapp1","message":{"content":{"text":"639171234567"}}}`,
	} {
		e := inbox.Event{}
		err := e.UnmarshalJSON([]byte(data))
		require.ErrorIs(t, err, inbox.ErrBadEvent, data)
		assert.NotContains(t, err.Error(), "639171234567")
		assert.Zero(t, e)
	}
	_, err := json.Marshal(inbox.Event{Kind: inbox.SMS, Key: "639171234567"})
	require.ErrorContains(t, err, "no message")
	assert.NotContains(t, err.Error(), "639171234567")
}

func TestEventLogValue(t *testing.T) {
	t.Parallel()
	e := inbox.Event{Kind: inbox.SMS, Key: "sms.1", Sequence: 7, Message: webhook.SMSMessage{ID: "in-1", From: "639171234567", Text: "Hi there"}}
	var out bytes.Buffer
	slog.New(slog.NewJSONHandler(&out, nil)).Info("one", "event", e)
	slog.New(slog.NewTextHandler(&out, nil)).Info("one", "event", &e)
	assert.Equal(t, 2, strings.Count(out.String(), "sms.1"))
	for _, personal := range []string{"639171234567", "Hi there"} {
		assert.NotContains(t, out.String(), personal)
	}
}
