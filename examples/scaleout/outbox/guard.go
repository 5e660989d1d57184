package outbox

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"
)

// guard is the transport of a worker's client. It checks at the last moment, when the connection is there and the request is about to be
// written, that the request may still begin: the rate allows it now, and the attempt's time is not over, however long the process was
// stopped on the way.
type guard struct {
	base http.RoundTripper
}

// attempt is what a request needs from its caller. It is a value of the request's context.
type attempt struct {
	limiter  *limiter
	elapsed  func() time.Duration
	deadline time.Duration // by the elapsed time
	wall     time.Time     // the same by the time of day, which goes on while a virtual machine is paused

	mu      sync.Mutex
	permit  permit
	refused string // why the last request was not written
}

type attemptKey struct{}

func (a *attempt) context(ctx context.Context) context.Context {
	return context.WithValue(ctx, attemptKey{}, a)
}

// errNotWritten ends a request of which nothing may be written.
var errNotWritten = errors.New("outbox: the request was too late to be written")

// RoundTrip implements [http.RoundTripper].
func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	a, ok := r.Context().Value(attemptKey{}).(*attempt)
	if !ok {
		return g.base.RoundTrip(r)
	}
	ctx := r.Context()
	hasBody := r.Body != nil && r.Body != http.NoBody
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { a.waitForPermit(ctx, hasBody) }}
	r = r.Clone(httptrace.WithClientTrace(ctx, trace))
	if !hasBody {
		return g.base.RoundTrip(r)
	}
	r.Body = &guardedBody{ReadCloser: r.Body, attempt: a}
	if getBody := r.GetBody; getBody != nil {
		r.GetBody = func() (io.ReadCloser, error) {
			body, err := getBody()
			return &guardedBody{ReadCloser: body, attempt: a}, err
		}
	}
	return g.base.RoundTrip(r)
}

// waitForPermit makes sure that the attempt has a valid permit, if it can be had in time. A lookup, which uses none in begin, needs a new one
// each time.
func (a *attempt) waitForPermit(ctx context.Context, keep bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !keep || !a.permit.isValid(a.elapsed()) {
		a.permit, _ = a.limiter.wait(ctx) // without a permit, nothing is written
	}
}

// begin reports whether the request may be written, and uses the permit.
func (a *attempt) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.elapsed()
	switch {
	case now >= a.deadline || time.Now().After(a.wall):
		a.refused = "its time was over before the request was written"
	case !a.permit.isValid(now):
		a.refused = "the rate limit did not allow it in time"
	default:
		a.refused = ""
	}
	a.permit = permit{}
	return a.refused == ""
}

// reason returns why the last request was not written, or nothing if it may have been.
func (a *attempt) reason() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.refused
}

// guardedBody is the body of a request. The transport reads it when everything before it is in the connection's buffer and nothing is on the
// network yet; without a body the service cannot process a message.
type guardedBody struct {
	io.ReadCloser

	attempt *attempt
	begun   bool
}

// Read implements [io.Reader].
func (b *guardedBody) Read(p []byte) (int, error) {
	if !b.begun {
		if !b.attempt.begin() {
			return 0, errNotWritten
		}
		b.begun = true
	}
	return b.ReadCloser.Read(p)
}
