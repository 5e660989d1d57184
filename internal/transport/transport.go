// Package transport carries one call over the wire and back: it authenticates, limits, retries, reads the answer and
// keeps evidence of what was written. It knows HTTP and nothing of messages; what an answer means is decided by the
// root package, which makes the errors.
package transport

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"golang.org/x/time/rate"
)

// Config is what a Transport is made of. Every field but Limiter, Jar and Logger is required.
type Config struct {
	// Base sends a request; it is never changed and its connections are never closed.
	Base http.RoundTripper
	// OnlyHTTP1 says that Base speaks nothing else.
	OnlyHTTP1 bool
	Jar       http.CookieJar
	// Timeout bounds one attempt: connecting, sending and reading the answer to its end.
	Timeout time.Duration
	// MaxAttempts counts requests of one call; the repeat after a refreshed token comes on top.
	MaxAttempts int
	// MinWait and MaxWait bound the waits between attempts, see backoff.
	MinWait, MaxWait time.Duration
	// Limiter is waited for before each attempt.
	Limiter *rate.Limiter
	// MaxResponseBytes is how many bytes of a successful answer are read.
	MaxResponseBytes int64
	// NotProcessed lists the statuses that prove that the service did not process a request.
	NotProcessed []int
	// UserAgent is sent with every request.
	UserAgent string
	Logger    *slog.Logger
}

// Transport performs requests. It is safe for concurrent use.
type Transport struct {
	Config
	client *retryablehttp.Client
	// headers are those of every request, by content type. They are shared and never written: an attempt takes a copy.
	headers map[string]http.Header
	// none is what net/http is shown in their place; it would copy them for a redirect that never comes.
	none http.Header
}

// New returns a Transport.
func New(c Config) *Transport {
	t := &Transport{Config: c, headers: map[string]http.Header{}, none: http.Header{}}
	for _, contentType := range []string{"", "application/json", "application/x-www-form-urlencoded"} {
		h := http.Header{"Accept": {"application/json"}, "User-Agent": {c.UserAgent}}
		if contentType != "" {
			h["Content-Type"] = []string{contentType}
		}
		t.headers[contentType] = h
	}
	t.client = &retryablehttp.Client{
		HTTPClient: &http.Client{
			Transport: attempts{t},
			Jar:       c.Jar,
			// A redirect would turn a send into a GET, or carry it to another host.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		RetryWaitMin: c.MinWait,
		RetryWaitMax: c.MaxWait,
		RetryMax:     c.MaxAttempts, // one more than retries: checkRetry counts, and the repeat after a 401 needs room
		CheckRetry:   t.checkRetry,
		Backoff:      backoff,
		// The last answer is passed on as it is; retryablehttp would throw it away.
		ErrorHandler: func(resp *http.Response, err error, _ int) (*http.Response, error) { return resp, err },
	}
	return t
}

// Request is one call.
type Request struct {
	Operation string
	Method    string
	URL       *url.URL // never changed
	// Body is sent with ContentType. A send with an empty one is still sent with a body of its own, see attempt.
	Body        []byte
	ContentType string
	// Repeatable says that the service does the same however often it is asked: true for a read, never for a send.
	Repeatable bool
	// Check reads a whole answer with a 2xx status; an error says that it cannot be read, and a Repeatable request is
	// then repeated. May be nil.
	Check func(body []byte) error
	// Buffer is written over with the answer, where it is large enough; nil takes new memory. It must not be used by
	// another request before Outcome.Body has been read.
	Buffer []byte
	// Authenticate is nil where the credentials are in URL or Body already.
	Authenticate Authenticator
}

// Outcome is what is known when a call has ended: an answer, or why there is none.
type Outcome struct {
	// StatusCode is 0 where no answer came; Header is then nil.
	StatusCode int
	Header     http.Header
	Body       []byte
	// Err says why there is no answer, or why the answer could not be read to its end.
	Err error
	// Written is false only where the last attempt provably wrote nothing of the request.
	Written bool
	// Interrupted says why the call was not repeated though it would have been: its context ended, or the next attempt
	// could not begin.
	Interrupted error
	// Attempts counts the requests that were begun.
	Attempts int
	// Sent is the request of the last attempt, with its credentials.
	Sent *http.Request
	// RetryAfter is what the answer asked for, 0 where it asked for nothing.
	RetryAfter time.Duration
}

// exchange is the state of one call. It is the context of its requests, so that every callback finds it.
type exchange struct {
	context.Context //nolint:containedctx // it is the context

	request   Request
	attempts  int
	refreshes int
	again     bool // what checkRetry said last
	fresh     bool // whether that was for a fresh token, which nobody has to wait for
	stopped   bool // an attempt could not begin; none after it can
	evidence  evidence
	outcome   Outcome
	refused   func() // tells the source of a token that the service refused it
}

type exchangeKey struct{}

// Value gives the exchange itself, else what the caller's context holds.
func (e *exchange) Value(key any) any {
	if key == (exchangeKey{}) {
		return e
	}
	return e.Context.Value(key)
}

func exchangeOf(ctx context.Context) *exchange {
	e, _ := ctx.Value(exchangeKey{}).(*exchange)
	return e
}

// Do performs the request and says what became of it. It never fails in another way.
func (t *Transport) Do(ctx context.Context, r Request) Outcome {
	e := &exchange{Context: ctx, request: r}
	header := t.none
	if t.Jar != nil {
		header = http.Header{} // net/http writes cookies into it
	}
	req := (&http.Request{
		Method: r.Method, URL: r.URL, Host: r.URL.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(httptrace.WithClientTrace(e, e.evidence.trace())) //nolint:contextcheck // the exchange is its own context
	if _, err := t.client.Do(&retryablehttp.Request{Request: req}); err != nil && e.attempts == 0 && e.outcome.Err == nil { //nolint:bodyclose // an attempt has read and closed it
		e.outcome.Err = err
	}
	e.outcome.Attempts = e.attempts
	if e.again && e.outcome.Interrupted == nil {
		e.outcome.Interrupted = ctx.Err() // it ended the wait
	}
	return e.outcome
}
