package messagingotel_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/trace"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingotel"
	"github.com/messaging-service/messaging-go/sms"
)

func TestPropagation(t *testing.T) {
	for _, test := range []struct {
		name string
		wrap messaging.Option
		sent bool
	}{
		{"off by default", nil, false},
		{"on", messaging.WithTransport(messagingotel.Propagate), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLab(t)
			var header http.Header
			options := []messaging.Option{messaging.WithTransport(func(base http.RoundTripper) http.RoundTripper {
				return roundTripper(func(r *http.Request) (*http.Response, error) {
					header = r.Header
					return base.RoundTrip(r)
				})
			})}
			if test.wrap != nil {
				options = append(options, test.wrap)
			}
			member, err := baggage.NewMember("user", "PRIVATE")
			require.NoError(t, err)
			bag, err := baggage.New(member)
			require.NoError(t, err)
			_, err = l.client(t, options...).SMS.Send(baggage.ContextWithBaggage(t.Context(), bag), message)
			require.NoError(t, err)
			assert.Empty(t, header.Get("Baggage"))
			if !test.sent {
				assert.Empty(t, header.Get("Traceparent"))
				return
			}
			spans := l.spans.GetSpans()
			require.Equal(t, "POST", spans[0].Name)
			attempt := spans[0].SpanContext
			assert.Equal(t, "00-"+attempt.TraceID().String()+"-"+attempt.SpanID().String()+"-01", header.Get("Traceparent"))
		})
	}
}

// HideQuery hides queries from its argument, even if nested, and the service receives the whole request.
func TestHideQuery(t *testing.T) {
	l := newLab(t)
	var seen, passed, printed []string
	watch := func(lines *[]string) func(http.RoundTripper) http.RoundTripper {
		return func(base http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				*lines = append(*lines, r.URL.RawQuery)
				printed = append(printed, fmt.Sprintf("%v %+v %#v", r.Context(), r.Context(), r.Context()))
				response, err := base.RoundTrip(r)
				if err == nil {
					*lines = append(*lines, response.Request.URL.RawQuery)
				}
				return response, err
			})
		}
	}
	client := l.client(t, messaging.WithTransport(watch(&passed)),
		messaging.WithTransport(messagingotel.HideQuery(messagingotel.HideQuery(watch(&seen)))))
	for _, err := range client.SMS.List(t.Context(), sms.ListOptions{ReferenceID: "order-17"}) {
		require.NoError(t, err)
	}
	assert.Equal(t, []string{"", ""}, seen)
	assert.NotContains(t, printed[0], "order-17", "what the context prints")
	require.Len(t, passed, 2)
	assert.Contains(t, passed[0], "order-17")
	assert.Equal(t, passed[0], passed[1])
}

func TestHideQueryPassesErrorsOn(t *testing.T) {
	failure := errors.New("no network")
	wrap := messagingotel.HideQuery(func(base http.RoundTripper) http.RoundTripper { return base })
	hidden := wrap(roundTripper(func(*http.Request) (*http.Response, error) { return nil, failure }))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.example.com/?to=1", http.NoBody)
	require.NoError(t, err)
	response, err := hidden.RoundTrip(r) //nolint:bodyclose // there is no body
	assert.Nil(t, response)
	assert.Equal(t, failure, err)
	assert.Equal(t, "to=1", r.URL.RawQuery, "a round tripper must not change a request")
}

func TestHideQueryOfNothing(t *testing.T) {
	_, err := messaging.NewClient("https://api.example.com", messaging.WithToken("t"),
		messaging.WithTransport(messagingotel.HideQuery(func(http.RoundTripper) http.RoundTripper { return nil })))
	require.ErrorContains(t, err, "WithTransport")
}

// A stranger starts spans of its own within those of the Observer.
type stranger struct{ tracer trace.Tracer }

func (s stranger) StartStep(ctx context.Context, _ messaging.Step) context.Context {
	ctx, _ = s.tracer.Start(ctx, "stranger")
	return ctx
}

func (stranger) EndStep(ctx context.Context, _ messaging.Step, _ messaging.StepResult) {
	trace.SpanFromContext(ctx).End()
}

func TestOtherObserversKeepTheirSpans(t *testing.T) {
	l := newLab(t)
	client := l.client(t, messaging.WithObserver(stranger{l.tracers.Tracer("stranger")}))
	_, err := client.SMS.Send(t.Context(), message)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"send sms (client) messaging.verdict=accepted", "  stranger (internal)", "    POST (client)", "      stranger (internal)",
	}, l.tree(verdict))
}
