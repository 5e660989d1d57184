package check

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
)

// recorder is a transport that keeps the responses of the service, because the client leaves out rows that contradict a filter.
type recorder struct {
	base http.RoundTripper

	mu        sync.Mutex
	responses []response
}

type response struct {
	status int
	body   document.Node // the zero Node if it is not JSON
}

// RoundTrip implements [http.RoundTripper].
func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	const maxBody = 16 << 20
	received, err := r.base.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(received.Body, maxBody))
	if err = errors.Join(err, received.Body.Close()); err != nil {
		return nil, err
	}
	received.Body = io.NopCloser(bytes.NewReader(body))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.responses = append(r.responses, response{status: received.StatusCode, body: document.Parse(body)})
	return received, nil
}

// take returns the responses since the last call.
func (r *recorder) take() []response {
	r.mu.Lock()
	defer r.mu.Unlock()
	responses := r.responses
	r.responses = nil
	return responses
}
