package messagingotel

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/propagation"
)

// Propagate adds the headers traceparent and tracestate of W3C Trace Context to each request, for a gateway of your own between the
// client and the service. Baggage is not sent. It is an argument of messaging.WithTransport:
//
//	messaging.WithTransport(messagingotel.Propagate)
func Propagate(base http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		ctx := r.Context()
		r = r.Clone(ctx) // a round tripper must not change a request
		propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(r.Header))
		return base.RoundTrip(r)
	})
}

// HideQuery hides the query from a wrapper of a transport, both in the request and in Response.Request. The transport that it wraps
// receives the request with its query. The result is an argument of messaging.WithTransport:
//
//	messaging.WithTransport(messagingotel.HideQuery(func(base http.RoundTripper) http.RoundTripper {
//		return otelhttp.NewTransport(base)
//	}))
//
// The wrapper still sees the path, the headers and the body, and errors of the transport.
func HideQuery(wrap func(base http.RoundTripper) http.RoundTripper) func(base http.RoundTripper) http.RoundTripper {
	return func(base http.RoundTripper) http.RoundTripper {
		key := new(queryKey)
		wrapped := wrap(roundTripper(func(r *http.Request) (*http.Response, error) {
			hidden, _ := r.Context().Value(key).(hiddenQuery)
			return roundTrip(r.Context(), base, r, hidden.text)
		}))
		if wrapped == nil {
			return nil // messaging.WithTransport reports it
		}
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			return roundTrip(context.WithValue(r.Context(), key, hiddenQuery{r.URL.RawQuery}), wrapped, r, "")
		})
	}
}

// queryKey is a key of a context. Each HideQuery has its own, so that one can be within another.
type queryKey struct{ _ byte }

// hiddenQuery keeps a query out of a printed context, which shows only the type of a struct.
type hiddenQuery struct{ text string }

// roundTrip passes a request on with another context and another query. The request of the response is r.
func roundTrip(ctx context.Context, next http.RoundTripper, r *http.Request, query string) (*http.Response, error) {
	changed := r.WithContext(ctx)
	target := *r.URL
	target.RawQuery = query
	changed.URL = &target
	response, err := next.RoundTrip(changed)
	if response != nil {
		response.Request = r
	}
	return response, err
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls f.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
