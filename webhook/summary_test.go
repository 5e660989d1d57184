package webhook_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/webhook"
)

// fill sets every text in a value to what must not be seen, except in fields that are shown.
func fill(v reflect.Value, shown ...string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("hunter2")
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte("hunter2"))
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
		for _, name := range shown {
			v.FieldByName(name).SetString("shown")
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(41.0625)
	case reflect.Interface:
		v.Set(reflect.ValueOf(webhook.Text{Body: "hunter2"}))
	case reflect.Int, reflect.Uint8:
	default:
		panic(v.Kind())
	}
}

func filled[T any](shown ...string) T {
	var value T
	fill(reflect.ValueOf(&value).Elem(), shown...)
	return value
}

func TestNoVerbShowsWhatIsPrivate(t *testing.T) {
	t.Parallel()
	refused := &webhook.RejectError{Event: "sms", Status: 403, Reason: webhook.ErrProof, Cause: fmt.Errorf("hunter2")}
	for want, value := range map[string]any{
		`webhook.SMSMessage{ID: "shown", From: 7 characters, To: 7 characters, Text: 7 characters, ReferenceID: 7 characters, Operator: 7 characters, Keyword: 7 characters, ReceivedAt: 2026-10-03T14:44:23Z, Params: 2, RawQuery: 7 bytes}`:                                        filled[webhook.SMSMessage]("ID"),
		`webhook.ChatApp1Message{ID: "shown", From: 7 characters, To: 7 characters, ReferenceID: 7 characters, Name: 7 characters, Content: webhook.Text{Body: 7 characters}, Context: 7 characters, ReceivedAt: 2026-10-03T14:44:23Z, JSON: 7 bytes, Params: 2, RawQuery: 7 bytes}`: filled[webhook.ChatApp1Message]("ID"),
		`webhook.ChatApp2Message{ID: "shown", From: 7 characters, To: 7 characters, ReferenceID: 7 characters, Name: 7 characters, Content: webhook.Text{Body: 7 characters}, Context: 7 characters, ReceivedAt: 2026-10-03T14:44:23Z, JSON: 7 bytes, Params: 2, RawQuery: 7 bytes}`: filled[webhook.ChatApp2Message]("ID"),
		`webhook.DeliveryReport{ID: "shown", ReferenceID: 7 characters, From: 7 characters, To: 7 characters, Kind: 7 characters, Status: "unknown", RawStatus: 7 characters, ReceivedAt: 2026-10-03T14:44:23Z, Params: 2, RawQuery: 7 bytes}`:                                       filled[webhook.DeliveryReport]("ID"),
		`webhook.Param{Name: 7 characters, Value: 7 characters}`: filled[webhook.Param](),
		`webhook.Params{2}`:                            filled[webhook.Params](),
		`webhook.Text{Body: 7 characters}`:             filled[webhook.Text](),
		`webhook.Contacts{2}`:                          filled[webhook.Contacts](),
		`webhook.Unknown{Kind: "shown", Raw: 7 bytes}`: filled[webhook.Unknown]("Kind"),
		`webhook.Media{Kind: "shown", URL: 7 characters, ID: 7 characters, MIMEType: 7 characters, Caption: 7 characters, FileName: 7 characters, SHA256: 7 characters, Voice: true, Animated: true}`: filled[webhook.Media]("Kind"),
		`webhook.Location{Name: 7 characters, Address: 7 characters, URL: 7 characters}`:                                                                                                              filled[webhook.Location](),
		`webhook.Contact{FormattedName: 7 characters, Phones: 2, Emails: 2, URLs: 2, Addresses: 2}`:                                                                                                   filled[webhook.Contact](),
		`webhook.ContactPhone{Number: 7 characters, ID: 7 characters, Type: 7 characters}`:                                                                                                            filled[webhook.ContactPhone](),
		`webhook.ContactEmail{Address: 7 characters, Type: 7 characters}`:                                                                                                                             filled[webhook.ContactEmail](),
		`webhook.ContactURL{URL: 7 characters, Type: 7 characters}`:                                                                                                                                   filled[webhook.ContactURL](),
		`webhook.ContactAddress{Street: 7 characters, City: 7 characters, State: 7 characters, ZIP: 7 characters, Country: 7 characters, CountryCode: 7 characters, Type: 7 characters}`:              filled[webhook.ContactAddress](),
		`webhook.Reaction{MessageID: "shown", Emoji: 7 characters}`:                                                                                                                                   filled[webhook.Reaction]("MessageID"),
		`webhook.Order{CatalogID: "shown", Text: 7 characters, Items: 2}`:                                                                                                                             filled[webhook.Order]("CatalogID"),
		`webhook.System{Kind: "shown", Body: 7 characters, NewID: 7 characters, NewUserID: 7 characters, NewParentUserID: 7 characters, CustomerID: 7 characters}`:                                    filled[webhook.System]("Kind"),
		`webhook.Context{ID: "shown", From: 7 characters, Forwarded: true, FrequentlyForwarded: true, CatalogID: "shown", ProductID: "shown"}`:                                                        filled[webhook.Context]("ID", "CatalogID", "ProductID"),
		`webhook.SMSMessage{}`:                webhook.SMSMessage{},
		`webhook.ChatApp1Message{}`:           webhook.ChatApp1Message{},
		`webhook.Params{0}`:                   webhook.Params(nil),
		`webhook: sms: wrong proof of origin`: refused,
	} {
		pointer := reflect.New(reflect.TypeOf(value))
		pointer.Elem().Set(reflect.ValueOf(value))
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%t", "%08.3f"} {
			assert.Equal(t, want, fmt.Sprintf(verb, value), verb)
			assert.NotContains(t, fmt.Sprintf(verb, []any{value}), "hunter2")
			assert.NotContains(t, fmt.Sprintf(verb, pointer.Interface()), "hunter2")
		}
		var text bytes.Buffer
		slog.New(slog.NewTextHandler(&text, nil)).Info("x", "value", value)
		slog.New(slog.NewJSONHandler(&text, nil)).Info("x", "value", value)
		assert.NotContains(t, text.String(), "hunter2")
		assert.Equal(t, want, value.(slog.LogValuer).LogValue().String())
	}
	reply := filled[webhook.Reply]("Kind")
	reply.CallPermission = webhook.CallPermission{Response: "accept"}
	assert.Equal(t, `webhook.Reply{Kind: "shown", ID: 7 characters, Title: 7 characters, Description: 7 characters, Name: 7 characters, Response: 7 characters, CallPermission: "accept"}`, fmt.Sprint(reply))
	assert.Equal(t, fmt.Sprint(reply), reply.LogValue().String())
}

func TestAnIDIsShownUpToABound(t *testing.T) {
	t.Parallel()
	shown := fmt.Sprint(webhook.SMSMessage{ID: strings.Repeat("é", 10_000) + "\n"})
	assert.Less(t, len(shown), 200)
	assert.Contains(t, shown, "…")
	assert.Equal(t, `webhook.SMSMessage{ID: "a\nb"}`, fmt.Sprint(webhook.SMSMessage{ID: "a\nb"}))
}

func TestErrorsSayWhatAndNothingElse(t *testing.T) {
	t.Parallel()
	for reason, want := range map[error]string{
		webhook.ErrMethod: "webhook: sms: method not allowed", webhook.ErrProbe: "webhook: sms: a request that must have no effect",
		webhook.ErrTooLong: "webhook: sms: query too long", webhook.ErrTooManyParams: "webhook: sms: too many parameters", webhook.ErrNoSender: "webhook: sms: no sender",
	} {
		err := error(&webhook.RejectError{Event: "sms", Reason: reason})
		assert.EqualError(t, err, want)
		assert.ErrorIs(t, err, reason)
	}
	_, err := webhook.ParseDelivery(get("status=hunter2"))
	require.Error(t, err)
	assert.Equal(t, "webhook: delivery: neither message ID nor reference ID", err.Error())
	_, err = webhook.ParseChatApp1(get("hunter2"))
	require.EqualError(t, err, "webhook: chatapp1: no sender")
	_, err = webhook.ParseChatApp2(&http.Request{Method: "HUNTER2"})
	require.EqualError(t, err, "webhook: chatapp2: method not allowed")
}
