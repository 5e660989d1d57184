package messagingotel_test

import (
	"context"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingotel"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

var message = sms.Message{From: "ACME", To: "+639171234567", Text: "Your order 17 is ready", ReferenceID: "order-17"}

const (
	errorType = attribute.Key("error.type")
	attempts  = attribute.Key("messaging.attempts")
	parts     = attribute.Key("messaging.message.parts")
	requestID = attribute.Key("messaging.request.id")
	operation = attribute.Key("messaging.operation.name")
	channel   = attribute.Key("messaging.destination.name")
	status    = attribute.Key("http.response.status_code")
	verdict   = messagingotel.VerdictKey
)

func TestAcceptedSend(t *testing.T) {
	l := newLab(t)
	client := l.client(t)
	receipt, err := client.SMS.Send(t.Context(), message)
	require.NoError(t, err)
	assert.Equal(t, []string{"send sms (client)", "  POST (client)"}, l.tree())

	host, port, found := strings.Cut(strings.TrimPrefix(l.service.URL, "http://"), ":")
	require.True(t, found)
	call := l.span(t, "send sms")
	requestID := call["messaging.request.id"]
	assert.NotEmpty(t, requestID)
	assert.Equal(t, map[string]string{
		"messaging.system": "messaging-service", "messaging.operation.name": "send", "messaging.operation.type": "send",
		"messaging.destination.name": "sms", "server.address": host, "server.port": port, "messaging.verdict": "accepted",
		"messaging.attempts": "1", "messaging.message.parts": "1", "messaging.message.id": receipt.ID, "messaging.request.id": requestID,
		"http.response.status_code": "200",
	}, call)
	assert.Equal(t, map[string]string{
		"http.request.method": "POST", "http.response.status_code": "200", "server.address": host, "server.port": port,
	}, l.span(t, "POST"))

	assert.Equal(t, map[string]int64{"send, sms, accepted, ": 1}, l.counts(t, "messaging.client.sent.messages", operation, channel, verdict, errorType))
	assert.Equal(t, map[string]int64{"send, sms, accepted, ": 1}, l.counts(t, "messaging.client.operation.duration", operation, channel, verdict, errorType))
	assert.Equal(t, map[string]int64{"send, sms, accepted": 1}, l.counts(t, "messaging.client.sent.parts", operation, channel, verdict))
	assert.Equal(t, map[string]int64{"200, ": 1}, l.counts(t, "http.client.request.duration", status, errorType))
}

func TestRetryAfterRateLimit(t *testing.T) {
	l := newLab(t)
	l.service.Inject(messagingtest.FaultStatus(http.StatusTooManyRequests, 0), 1)
	client := l.client(t, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 2, MinWait: time.Millisecond}))
	_, err := client.SMS.Send(t.Context(), message)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"send sms (client) messaging.attempts=2 http.response.status_code=200",
		"  POST (client) http.response.status_code=429 error.type=429 Error",
		"  backoff (internal)",
		"  POST (client) http.request.resend_count=1 http.response.status_code=200",
	}, l.tree(attempts, "http.request.resend_count", status, errorType))
	assert.Equal(t, map[string]int64{"429, 429": 1, "200, ": 1}, l.counts(t, "http.client.request.duration", status, errorType))
}

func TestSendsThatFail(t *testing.T) {
	for _, test := range []struct {
		name    string
		message sms.Message
		inject  func(*messagingtest.Server)
		tree    []string
		metric  string
	}{
		{
			"invalid",
			sms.Message{From: "ACME"},
			func(*messagingtest.Server) {},
			[]string{"send sms (client) messaging.verdict=not sent error.type=invalid Error"},
			"not sent, invalid",
		},
		{
			"refused", message, func(s *messagingtest.Server) { s.SetBalance("0") },
			[]string{
				"send sms (client) messaging.verdict=refused error.type=insufficient balance Error",
				"  POST (client) error.type=400 Error",
			},
			"refused, insufficient balance",
		},
		{
			"unknown", message, func(s *messagingtest.Server) { s.Inject(messagingtest.FaultDropUnread(), 1) },
			[]string{
				"send sms (client) messaging.verdict=unknown error.type=unknown Error",
				"  POST (client) error.type=_OTHER Error",
			},
			"unknown, unknown",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLab(t)
			test.inject(l.service)
			_, err := l.client(t).SMS.Send(t.Context(), test.message)
			require.Error(t, err)
			assert.Equal(t, test.tree, l.tree(verdict, errorType))
			assert.Equal(t, map[string]int64{test.metric: 1}, l.counts(t, "messaging.client.sent.messages", verdict, errorType))
			for _, span := range l.spans.GetSpans() {
				assert.Equal(t, codes.Error, span.Status.Code)
				assert.NotEmpty(t, span.Status.Description)
			}
		})
	}
}

func TestSendOnceShowsItsLookups(t *testing.T) {
	l := newLab(t)
	listings := 0
	client := l.client(t, messaging.WithSettle(messaging.SettlePolicy{Window: time.Minute, Interval: time.Millisecond}),
		messaging.WithTransport(func(base http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodGet {
					if listings++; listings == 2 { // the service lists the message late
						l.service.Seed(messagingtest.Sent{ID: "m-17", To: "639171234567", ReferenceID: message.ReferenceID})
					}
				}
				return base.RoundTrip(r)
			})
		}))
	l.service.Inject(messagingtest.FaultDropUnread(), 1)
	_, err := client.SMS.SendOnce(t.Context(), message)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"send sms (client) messaging.verdict=accepted",
		"  POST (client) error.type=_OTHER Error",
		"  lookup sms (internal) error.type=not listed Error",
		"    list sms (client)",
		"      GET (client)",
		"  backoff (internal)",
		"  lookup sms (internal)",
		"    list sms (client)",
		"      GET (client)",
	}, l.tree(verdict, errorType))
	assert.Equal(t, map[string]int64{"accepted": 1}, l.counts(t, "messaging.client.sent.messages", verdict))
	assert.Equal(t, map[string]int64{"send, ": 1, "lookup, not listed": 1, "lookup, ": 1, "list, ": 2},
		l.counts(t, "messaging.client.operation.duration", operation, errorType))
}

func TestSettleHasAVerdict(t *testing.T) {
	l := newLab(t)
	l.service.Seed(messagingtest.Sent{ID: "m-17", To: "639171234567", ReferenceID: message.ReferenceID})
	_, err := l.client(t).SMS.Settle(t.Context(), message, time.Now().Add(-time.Minute))
	require.NoError(t, err)
	assert.Equal(t, []string{
		"settle sms (internal) messaging.verdict=accepted", "  lookup sms (internal)", "    list sms (client)", "      GET (client)",
	}, l.tree(verdict))
	assert.NotContains(t, l.collect(t), "messaging.client.sent.messages", "nothing was sent")
	assert.Equal(t, map[string]int64{"settle, accepted": 1, "lookup, ": 1, "list, ": 1},
		l.counts(t, "messaging.client.operation.duration", operation, verdict))
}

func TestListingHasASpanForEachPage(t *testing.T) {
	l := newLab(t)
	l.service.Seed(messagingtest.Sent{ID: "m-1"}, messagingtest.Sent{ID: "m-2"}, messagingtest.Sent{ID: "m-3"})
	ctx, parent := l.tracers.Tracer("test").Start(t.Context(), "report")
	for _, err := range l.client(t).SMS.List(ctx, sms.ListOptions{PageSize: 2}) {
		require.NoError(t, err)
	}
	parent.End()
	assert.Equal(t, []string{
		"report (internal)", "  list sms (client)", "    GET (client)", "  list sms (client)", "    GET (client)",
	}, l.tree(verdict, "messaging.operation.type"))
	assert.Equal(t, map[string]int64{"list, ": 2}, l.counts(t, "messaging.client.operation.duration", operation, verdict))
}

func TestWaitsAndTokensHaveSpans(t *testing.T) {
	l := newLab(t)
	source := messaging.WithTokenSource(func(context.Context) (messaging.Token, error) { return messaging.Token{Value: l.service.Token}, nil })
	client, err := messaging.NewClient(l.service.URL, source, messaging.WithRateLimit(1000, 1), messaging.WithObserver(l.observer))
	require.NoError(t, err)
	_, err = client.SMS.Send(t.Context(), message)
	require.NoError(t, err)
	assert.Contains(t, l.tree(), "  fetch token (internal)")
	l.spans.Reset()

	slow, err := client.With(messaging.WithRateLimit(0.001, 1))
	require.NoError(t, err)
	_, err = slow.SMS.Send(t.Context(), message)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // shorter than the wait
	defer cancel()
	_, err = slow.SMS.Send(ctx, message)
	require.ErrorIs(t, err, messaging.ErrNotSent)
	assert.Contains(t, l.tree(), "  wait (internal) Error")
}

// A roundTripper is a function as a transport.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A Send that may repeat backs off until an open breaker lets a call pass.
func TestBackoffForABreakerHasASpan(t *testing.T) {
	l := newLab(t)
	client := l.client(t, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 2, MaxWait: time.Minute}))
	l.service.Inject(messagingtest.FaultStatus(http.StatusServiceUnavailable, time.Second), 16)
	for range 16 {
		_, err := client.SMS.Send(t.Context(), message)
		require.ErrorIs(t, err, messaging.ErrOutcomeUnknown)
	}
	l.spans.Reset()
	_, err := client.SMS.Send(t.Context(), message)
	require.NoError(t, err)
	assert.Equal(t, []string{"send sms (client)", "  backoff (internal)", "  POST (client)"}, l.tree())
}

func TestBreakersAreMeasured(t *testing.T) {
	l := newLab(t)
	client := l.client(t, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
	stop, err := l.observer.ObserveBreakers(client)
	require.NoError(t, err)
	gauge := func() map[string]int64 {
		return l.counts(t, "messaging.client.breaker.open", "messaging.destination.name")
	}
	want := map[string]int64{}
	for service := range reflect.TypeFor[messaging.Client]().Fields() {
		if _, sends := service.Type.MethodByName("Send"); service.IsExported() && sends {
			want[strings.ToLower(service.Name)] = 0
		}
	}
	assert.Equal(t, want, gauge())

	l.service.Inject(messagingtest.FaultStatus(503, time.Minute), 16)
	for range 16 {
		_, err = client.SMS.Send(t.Context(), message)
		require.ErrorIs(t, err, messaging.ErrOutcomeUnknown)
	}
	want["sms"] = 1
	assert.Equal(t, want, gauge())
	l.spans.Reset()
	_, err = client.SMS.Send(t.Context(), message)
	require.ErrorIs(t, err, messaging.ErrBreakerOpen)
	assert.Equal(t, []string{"send sms (client) Error"}, l.tree(), "nothing waits for a breaker within an attempt")

	require.NoError(t, stop())
	_, err = l.observer.ObserveBreakers(nil)
	require.Error(t, err)
}
