package messaging_test

import (
	"bytes"
	"io"
	"net/http"

	messaging "github.com/messaging-service/messaging-go"
)

// roundTripper is a transport without a network.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (f roundTripper) option() messaging.Option {
	return messaging.WithHTTPClient(&http.Client{Transport: f})
}

// respond makes a response, with headers in pairs of name and value.
func respond(r *http.Request, status int, body string, headers ...string) *http.Response {
	h := http.Header{"Content-Type": {"application/json"}}
	for i := 0; i+1 < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return &http.Response{
		StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Header: h,
		Body: io.NopCloser(bytes.NewReader([]byte(body))), ContentLength: int64(len(body)), Request: r,
	}
}
