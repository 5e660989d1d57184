package doctor

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"net/url"
	"sync"
)

// maxBodies is how many bytes of responses are kept in all. The client bounds each.
const maxBodies = 64 << 20

// exchange is a request and its response.
type exchange struct {
	operation string
	method    string
	url       url.URL
	request   http.Header
	sent      []byte
	status    int // 0 if there was no response
	response  http.Header
	body      bytes.Buffer
	cut       bool // the body is longer than what was kept
	tls       *tls.ConnectionState
}

// recorder keeps the exchanges of a client.
type recorder struct {
	mu        sync.Mutex
	exchanges []*exchange
	latest    *exchange // nil if it was taken
	kept      int       // bytes of bodies
}

// take returns the newest exchange since the last call of take, or nil.
func (r *recorder) take() (latest *exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	latest, r.latest = r.latest, nil
	return latest
}

type operationKey struct{}

// wrap returns a transport that records.
func (r *recorder) wrap(base http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		operation, _ := request.Context().Value(operationKey{}).(string)
		x := &exchange{operation: operation, method: request.Method, url: *request.URL, request: request.Header.Clone()}
		if request.GetBody != nil {
			if body, err := request.GetBody(); err == nil {
				x.sent, _ = io.ReadAll(body)
				_ = body.Close()
			}
		}
		r.mu.Lock()
		r.exchanges, r.latest = append(r.exchanges, x), x
		r.mu.Unlock()
		response, err := base.RoundTrip(request)
		if err != nil {
			return response, err
		}
		x.status, x.response, x.tls = response.StatusCode, response.Header.Clone(), response.TLS
		response.Body = &recordedBody{response.Body, r, x}
		return response, nil
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// recordedBody keeps what is read from a body.
type recordedBody struct {
	io.ReadCloser

	recorder *recorder
	exchange *exchange
}

func (b *recordedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.recorder.mu.Lock()
	defer b.recorder.mu.Unlock()
	if b.exchange.cut = b.exchange.cut || b.recorder.kept+n > maxBodies; !b.exchange.cut {
		b.exchange.body.Write(p[:n])
		b.recorder.kept += n
	}
	return n, err
}
