package messaging_test

import (
	"io"
	"net/http"
	"strings"

	messaging "github.com/messaging-service/messaging-go"
)

// roundTripper is a transport that is a function: it shows none of the events of net/http/httptrace.
type roundTripper func(r *http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
	return f(r)
}

func (f roundTripper) option() messaging.Option {
	return messaging.WithHTTPClient(&http.Client{Transport: f})
}

func stubAnswer(r *http.Request, status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}
}
