package messagingotel_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	noopmetric "go.opentelemetry.io/otel/metric/noop"
	nooptrace "go.opentelemetry.io/otel/trace/noop"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/messagingotel"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

func TestOptions(t *testing.T) {
	for _, test := range []struct {
		name   string
		option messagingotel.Option
		want   string
	}{
		{"no tracer provider", messagingotel.WithTracerProvider(nil), "messagingotel: WithTracerProvider: needs a provider, got nil"},
		{"no meter provider", messagingotel.WithMeterProvider(nil), "messagingotel: WithMeterProvider: needs a provider, got nil"},
		{"nil", nil, "messagingotel: an option is nil"},
	} {
		t.Run(test.name, func(t *testing.T) {
			observer, err := messagingotel.New(test.option)
			require.EqualError(t, err, test.want)
			assert.Nil(t, observer)
		})
	}
}

func TestGlobalProvidersAreTheDefault(t *testing.T) {
	l := newLab(t)
	otel.SetTracerProvider(l.tracers)
	otel.SetMeterProvider(l.meters)
	observer, err := messagingotel.New()
	require.NoError(t, err)
	client, err := messaging.NewClient(l.service.URL, messaging.WithToken(l.service.Token), messaging.WithObserver(observer))
	require.NoError(t, err)
	_, err = client.SMS.Send(t.Context(), message)
	require.NoError(t, err)
	assert.Equal(t, []string{"send sms (client)", "  POST (client)"}, l.tree())
	assert.Equal(t, map[string]int64{"accepted": 1}, l.counts(t, "messaging.client.sent.messages", verdict))
}

func TestServer(t *testing.T) {
	for _, test := range []struct{ url, address, port string }{
		{"https://api.example.com/base", "api.example.com", ""},
		{"https://api.example.com:8443/base", "api.example.com", "8443"},
		{"https://[2001:db8::1]", "2001:db8::1", ""},
		{"https://[2001:db8::1]:8443", "2001:db8::1", "8443"},
	} {
		t.Run(test.url, func(t *testing.T) {
			l := newLab(t)
			client, err := messaging.NewClient(test.url, messaging.WithToken("t"), messaging.WithObserver(l.observer), respond(http.StatusForbidden, ""))
			require.NoError(t, err)
			_, err = client.SMS.Send(t.Context(), message)
			require.Error(t, err)
			for _, name := range []string{"send sms", "POST"} {
				assert.Equal(t, test.address, l.span(t, name)["server.address"])
				assert.Equal(t, test.port, l.span(t, name)["server.port"])
			}
		})
	}
}

// Whatever is sent, received or fails, nothing personal and no credential is in what is exported: no name, attribute, description,
// event or resource.
func TestNothingPersonalIsExported(t *testing.T) {
	const text = "PRIVATE TEXT"
	private := []string{"9171234567", "PRIVATE", "SECRET", "order-17", "281234567", "?", "/api", "/sms", "/hooks", "CAMPAIGN"}
	m := sms.Message{From: "CAMPAIGN", To: "+639171234567", Text: text, ReferenceID: "order-17"}
	send := func(l *lab, options ...messaging.Option) {
		client := l.client(t, options...)
		_, _ = client.SMS.SendOnce(t.Context(), m)
		_, _ = client.ChatApp1.Send(t.Context(), chatapp1.New("CAMPAIGN", m.To).Text(text).WithReference("order-17"))
		_, _ = client.ChatApp2.Send(t.Context(), chatapp2.Message{To: m.To, Content: chatapp2.Text{Body: text}, ReferenceID: "order-17"})
		_, _ = client.SMS.Find(t.Context(), "order-17")
		_, _ = client.SMS.Settle(t.Context(), m, time.Now())
	}
	settle := messaging.WithSettle(messaging.SettlePolicy{Window: time.Millisecond})
	retry := messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 2, MinWait: time.Millisecond})
	receive := func(l *lab, target string, handle func(context.Context, webhook.SMSMessage) error) {
		l.receiver(t).SMS(handle).ServeHTTP(httptest.NewRecorder(), messagingtest.NewRequest(target, inbound))
	}
	for name, act := range map[string]func(*lab){
		"accepted": func(l *lab) { send(l, settle) },
		"key pair in the query": func(l *lab) {
			names, err := contract.Parse([]byte(`{"auth": {"keyPair": {"in": "query"}}}`))
			require.NoError(t, err)
			l.service = messagingtest.NewServer(t, messagingtest.WithAPIKey("SECRETKEY", "SECRET"), messagingtest.WithContract(names))
			client, err := messaging.NewClient(l.service.URL, messaging.WithAPIKey("SECRETKEY", "SECRET"), messaging.WithObserver(l.observer), messaging.WithContract(names))
			require.NoError(t, err)
			_, err = client.SMS.Send(t.Context(), m)
			require.NoError(t, err)
			_, err = client.SMS.Find(t.Context(), "order-17")
			require.NoError(t, err)
		},
		"dropped": func(l *lab) { l.service.Inject(messagingtest.FaultDropUnread(), 3); send(l, settle, retry) },
		"unavailable": func(l *lab) {
			l.service.Inject(messagingtest.FaultStatus(http.StatusServiceUnavailable, 0), 9)
			send(l, settle, retry)
		},
		"not JSON":     func(l *lab) { l.service.Inject(messagingtest.FaultNotJSON(), 9); send(l, settle, retry) },
		"unauthorized": func(l *lab) { send(l, settle, messaging.WithToken("SECRET-token")) },
		"nobody there": func(l *lab) { l.service.Close(); send(l, settle, retry) },
		"an error that repeats the message": func(l *lab) {
			send(l, settle, respond(http.StatusBadRequest, `{"code":"639171234567","message":"PRIVATE TEXT to 639171234567","requestId":"639171234567"}`))
		},
		"an ID that is a number": func(l *lab) {
			send(l, settle, respond(http.StatusOK, `{"status":"ok","id":"639171234567","requestId":"639171234567"}`))
		},
		"invalid": func(l *lab) {
			m := m
			m.To = "+639171234567, +639171234568"
			_, _ = l.client(t).SMS.Send(t.Context(), m)
		},
		"token source":  func(l *lab) { send(l, settle, messaging.WithTokenSource(failingSource)) },
		"webhook":       func(l *lab) { receive(l, hook, func(context.Context, webhook.SMSMessage) error { return nil }) },
		"webhook wrong": func(l *lab) { receive(l, "/hooks/sms?key=SECRETGUESS", nothing) },
		"webhook fails": func(l *lab) {
			receive(l, hook, func(context.Context, webhook.SMSMessage) error { return fmt.Errorf("PRIVATE %s", text) })
		},
		"webhook panics": func(l *lab) { receive(l, hook, func(context.Context, webhook.SMSMessage) error { panic(text) }) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			act(l)
			require.NotEmpty(t, l.spans.GetSpans())
			exported := l.exported(t)
			for _, word := range private {
				assert.NotContains(t, exported, word)
			}
		})
	}
}

// respond responds to each request without a network.
func respond(status int, body string) messaging.Option {
	return messaging.WithTransport(func(http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			return &http.Response{
				StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r,
			}, nil
		})
	})
}

func failingSource(context.Context) (messaging.Token, error) {
	return messaging.Token{}, fmt.Errorf("SECRET of 639171234567: %w", http.ErrServerClosed)
}

func nothing(context.Context, webhook.SMSMessage) error { return nil }

// exported returns all text that was exported: names, descriptions and attributes, but no IDs of spans, times and values.
func (l *lab) exported(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, span := range l.spans.GetSpans() {
		fmt.Fprintln(&all, span.Name, span.Status.Description, texts(span.Attributes), texts(span.Resource.Attributes()))
		assert.Empty(t, span.Events)
		assert.Empty(t, span.Links)
	}
	for _, one := range l.collect(t) {
		fmt.Fprintln(&all, one.Name, one.Description, one.Unit)
		for _, set := range points(t, one) {
			fmt.Fprintln(&all, texts(set.ToSlice()))
		}
	}
	return all.String()
}

func TestObserverIsSafeForConcurrentUse(t *testing.T) {
	l := newLab(t)
	client := l.client(t)
	handler := l.receiver(t).SMS(nothing)
	const workers, each = 8, 10
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for range each {
				_, err := client.SMS.Send(t.Context(), message)
				assert.NoError(t, err)
				handler.ServeHTTP(httptest.NewRecorder(), messagingtest.NewRequest(hook, inbound))
			}
		})
	}
	group.Wait()
	assert.Equal(t, map[string]int64{"accepted": workers * each}, l.counts(t, "messaging.client.sent.messages", verdict))
	assert.Len(t, l.spans.GetSpans(), 3*workers*each)
	for _, span := range l.spans.GetSpans() {
		if span.Name == "POST" {
			assert.True(t, span.Parent.IsValid())
		}
	}
}

// A bare observer does nothing.
type bare struct{}

func (bare) StartStep(ctx context.Context, _ messaging.Step) context.Context { return ctx }
func (bare) EndStep(context.Context, messaging.Step, messaging.StepResult)   {}

// BenchmarkSend measures what an Observer adds to a send without a network.
func BenchmarkSend(b *testing.B) {
	idle, err := messagingotel.New(messagingotel.WithTracerProvider(nooptrace.NewTracerProvider()),
		messagingotel.WithMeterProvider(noopmetric.NewMeterProvider()))
	require.NoError(b, err)
	for _, bench := range []struct {
		name    string
		options func(*lab) []messaging.Option
	}{
		{"none", func(*lab) []messaging.Option { return nil }},
		{"bare", func(*lab) []messaging.Option { return []messaging.Option{messaging.WithObserver(bare{})} }},
		{"noop", func(*lab) []messaging.Option { return []messaging.Option{messaging.WithObserver(idle)} }},
		{"sdk", func(l *lab) []messaging.Option { return []messaging.Option{messaging.WithObserver(l.observer)} }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			l := newLab(b)
			options := append(bench.options(l), messaging.WithToken("t"),
				respond(http.StatusOK, `{"status":"ok","id":"m-1","requestId":"r-1","messageParts":"1"}`))
			client, err := messaging.NewClient("https://api.example.com", options...)
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := client.SMS.Send(b.Context(), message); err != nil {
					b.Fatal(err)
				}
				l.spans.Reset()
			}
		})
	}
}
