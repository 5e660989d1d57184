package webhook_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/webhook"
)

// fill sets every text in a value to what must not be logged.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("hunter2")
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(`"hunter2"`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(at()))
			return
		}
		for _, field := range v.Fields() {
			fill(field)
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Interface:
		v.Set(reflect.ValueOf(webhook.Text{Body: "hunter2"}))
	default:
		panic(v.Kind())
	}
}

func filled[T any]() T {
	var value T
	fill(reflect.ValueOf(&value).Elem())
	return value
}

func TestEventsLogNoPersonalData(t *testing.T) {
	t.Parallel()
	sms, chat, report := filled[webhook.SMSMessage](), filled[webhook.ChatMessage](), filled[webhook.DeliveryReport]()
	other, preference := filled[webhook.Other](), filled[webhook.Preference]()
	other.Callback, other.Field, preference.Callback = webhook.CallbackChatApp2, "standby", webhook.CallbackChatApp2
	report.ErrorCode = "131049"
	sms.ID, chat.ID, report.ID = "m-1", "m-1", "m-1"
	chat.Callback, report.Status = webhook.CallbackChatApp2, webhook.StatusRead
	for want, event := range map[string]any{
		`{"id":"m-1","received_at":"2026-10-03T14:44:23Z","ambiguous":true}`:                                                     sms,
		`{"callback":"chatapp2","id":"m-1","received_at":"2026-10-03T14:44:23Z","ambiguous":true}`:                               chat,
		`{"id":"m-1","status":"read","status_at":"2026-10-03T14:44:23Z","error_code":"131049","billable":true,"ambiguous":true}`: report,
		`{"callback":"chatapp2","field":"standby","changed_at":"2026-10-03T14:44:23Z"}`:                                          other,
		`{"callback":"chatapp2","stopped":true,"changed_at":"2026-10-03T14:44:23Z","ambiguous":true}`:                            preference,
	} {
		var text bytes.Buffer
		slog.New(slog.NewTextHandler(&text, nil)).Info("x", "event", event)
		assert.NotContains(t, text.String(), "hunter2")
		text.Reset()
		slog.New(slog.NewJSONHandler(&text, nil)).Info("x", "event", event)
		var record struct{ Event json.RawMessage }
		require.NoError(t, json.Unmarshal(text.Bytes(), &record))
		assert.JSONEq(t, want, string(record.Event))
		assert.Contains(t, fmt.Sprintf("%+v", event), "Params:[{Name:hunter2 Value:hunter2}", "events print as plain data")
	}
}

func TestErrorsSayNothingOfTheRequest(t *testing.T) {
	t.Parallel()
	for reason, want := range map[error]string{
		webhook.ErrMethod: "webhook: sms: method not allowed", webhook.ErrPrefetch: "webhook: sms: HEAD request or prefetch",
		webhook.ErrTooLong: "webhook: sms: query too long, or too many parameters", webhook.ErrNoSender: "webhook: sms: no sender",
	} {
		err := error(&webhook.RejectError{Callback: webhook.CallbackSMS, Reason: reason})
		assert.EqualError(t, err, want)
		assert.ErrorIs(t, err, reason)
	}
	rcv := hooks()
	_, err := rcv.ParseDelivery(get("status=hunter2"))
	require.EqualError(t, err, "webhook: delivery: neither message ID nor reference ID")
	_, _, err = rcv.ParseChatApp1(get("hunter2"))
	require.EqualError(t, err, "webhook: chatapp1: no sender")
	_, _, err = rcv.ParseChatApp2(&http.Request{Method: "HUNTER2"})
	require.EqualError(t, err, "webhook: chatapp2: method not allowed")
}
