package messagingotel_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/messagingotel"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/webhook"
)

var inbound = messagingtest.InboundSMS{ID: "in-17", From: "639171234567", To: "63281234567", Text: "PRIVATE TEXT", ReceivedAt: time.Unix(1700000000, 0)}

const (
	secret = "SECRET-of-16-characters"
	hook   = "/hooks/sms?key=" + secret
)

// receiver returns a receiver that is observed, with a store and a secret.
func (l *lab) receiver(t *testing.T, options ...webhook.Option) *webhook.Receiver {
	t.Helper()
	hooks, err := webhook.NewReceiver(append([]webhook.Option{
		webhook.WithSecret("key", secret), webhook.WithHook(l.observer.Hook()), webhook.WithStore(webhook.NewMemoryStore(100, time.Hour)),
	}, options...)...)
	require.NoError(t, err)
	return hooks
}

func TestEvents(t *testing.T) {
	good := func() *http.Request { return messagingtest.NewRequest(hook, inbound) }
	for _, test := range []struct {
		name     string
		err      error
		panics   bool
		requests []*http.Request
		tree     []string
		metric   map[string]int64
	}{
		{
			name: "handled, then a duplicate", requests: []*http.Request{good(), good()},
			tree: []string{
				"process sms (consumer) messaging.outcome=handled http.response.status_code=200",
				"process sms (consumer) messaging.outcome=duplicate http.response.status_code=200",
			},
			metric: map[string]int64{"handled, ": 1, "duplicate, ": 1},
		},
		{
			name: "wrong secret", requests: []*http.Request{messagingtest.NewRequest("/hooks/sms?key=GUESS", inbound)},
			tree: []string{
				"process sms (consumer) messaging.outcome=refused http.response.status_code=403 error.type=wrong proof of origin",
			},
			metric: map[string]int64{"refused, wrong proof of origin": 1},
		},
		{
			name: "no sender", requests: []*http.Request{messagingtest.NewRequest(hook, messagingtest.InboundSMS{Text: "PRIVATE TEXT"})},
			tree:   []string{"process sms (consumer) messaging.outcome=refused http.response.status_code=400 error.type=no sender"},
			metric: map[string]int64{"refused, no sender": 1},
		},
		{
			name: "failed", err: errors.New("PRIVATE ERROR"), requests: []*http.Request{good()},
			tree:   []string{"process sms (consumer) messaging.outcome=failed http.response.status_code=500 error.type=failed Error"},
			metric: map[string]int64{"failed, failed": 1},
		},
		{
			name: "panicked", panics: true, requests: []*http.Request{good()},
			tree:   []string{"process sms (consumer) messaging.outcome=panicked http.response.status_code=500 error.type=panicked Error"},
			metric: map[string]int64{"panicked, panicked": 1},
		},
		{
			name: "put off", err: webhook.RetryLater(time.Minute), requests: []*http.Request{good()},
			tree:   []string{"process sms (consumer) messaging.outcome=retry later http.response.status_code=503"},
			metric: map[string]int64{"retry later, ": 1},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLab(t)
			handler := l.receiver(t).SMS(func(context.Context, webhook.SMSMessage) error {
				if test.panics {
					panic("PRIVATE PANIC")
				}
				return test.err
			})
			for _, r := range test.requests {
				handler.ServeHTTP(httptest.NewRecorder(), r)
			}
			assert.Equal(t, test.tree, l.tree(messagingotel.OutcomeKey, status, errorType))
			assert.Equal(t, test.metric, l.counts(t, "messaging.process.duration", messagingotel.OutcomeKey, errorType))
		})
	}
}

// What a handle function sends is within the span of the event, and that is within the span of the request.
func TestReplyIsWithinItsEvent(t *testing.T) {
	l := newLab(t)
	client := l.client(t)
	handler := l.receiver(t).SMS(func(ctx context.Context, _ webhook.SMSMessage) error {
		_, err := client.SMS.Send(ctx, message)
		return err
	})
	ctx, request := l.tracers.Tracer("test").Start(t.Context(), "GET /hooks/sms")
	handler.ServeHTTP(httptest.NewRecorder(), messagingtest.NewRequest(hook, inbound).WithContext(ctx))
	request.End()
	assert.Equal(t, []string{
		"GET /hooks/sms (internal)", "  process sms (consumer)", "    send sms (client)", "      POST (client)",
	}, l.tree())
}

func TestDeliveryReportAtAChatHandler(t *testing.T) {
	l := newLab(t)
	handle := func(context.Context, webhook.ChatMessage) error { return nil }
	reports := webhook.WithStatuses(func(context.Context, webhook.DeliveryReport) error { return nil })
	r := messagingtest.NewRequest("/hooks?key="+secret, messagingtest.InboundChatApp{
		Channel: "chatapp2",
		JSON:    `{"statuses":[{"id":"m-1","status":"delivered","recipient_id":"639171234567"}]}`,
	})
	w := httptest.NewRecorder()
	l.receiver(t, reports).ChatApp2(handle).ServeHTTP(w, r)
	assert.Equal(t, http.StatusOK, w.Code)
	attributes := l.span(t, "process chatapp2")
	assert.Equal(t, "chatapp2", attributes["messaging.destination.name"])
	assert.Equal(t, "delivery", attributes["messaging.event.kind"])
	assert.Equal(t, map[string]int64{"chatapp2, delivery": 1}, l.counts(t, "messaging.process.duration", channel, messagingotel.EventKindKey))
}
