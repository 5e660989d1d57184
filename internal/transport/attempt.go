package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"time"
)

// attempts is the one round tripper under the retries: each call of it is one attempt. What it finds it writes into the
// exchange; the response that it returns is empty, since net/http and retryablehttp would lose what is in it.
type attempts struct{ t *Transport }

// RoundTrip performs one attempt.
func (a attempts) RoundTrip(req *http.Request) (*http.Response, error) {
	t, e := a.t, exchangeOf(req.Context())
	e.attempts++
	e.permanent = false
	e.evidence.reset()
	e.outcome = Outcome{}
	start := time.Now()
	resp, err := t.attempt(e, req)
	if err != nil && resp == nil {
		e.outcome.Err = err
		e.outcome.Written = e.evidence.written(err)
	} else {
		e.outcome.Written = true
		e.outcome.StatusCode, e.outcome.Header = resp.StatusCode, resp.Header
		e.outcome.Err = err
		e.outcome.RetryAfter, _ = retryAfter(resp.Header)
	}
	t.log(e, time.Since(start)) //nolint:contextcheck // an exchange is its own context
	if resp == nil {
		return nil, err
	}
	return resp, nil
}

// attempt returns an answer, read and closed; with an error beside it where the answer could not be read to its end.
func (t *Transport) attempt(e *exchange, req *http.Request) (*http.Response, error) {
	parent := req.Context()
	if err := t.limit(parent); err != nil {
		e.permanent = true
		return nil, err
	}
	// Not http.Client.Timeout: with a round tripper that wraps another it costs two goroutines a call.
	ctx, cancel := context.WithTimeout(parent, t.Timeout)
	defer cancel()
	out, err := t.authenticated(ctx, e, req)
	if err == nil {
		err = ctx.Err() // a context that has ended is evidence by itself; net/http might write before it looks
	}
	if err != nil {
		e.permanent = true
		return nil, t.ended(ctx, parent, err)
	}
	e.evidence.begun = true
	resp, err := t.Base.RoundTrip(out)
	if err != nil {
		return nil, t.ended(ctx, parent, withoutQuery(err))
	}
	if resp == nil {
		return nil, errors.New("the round tripper gave neither an answer nor an error")
	}
	e.outcome.Body, err = read(resp, t.MaxAnswer)
	resp.Body = http.NoBody
	return resp, t.ended(ctx, parent, err)
}

// limit waits for the client's rate limit.
func (t *Transport) limit(ctx context.Context) error {
	if t.Limiter == nil {
		return nil
	}
	if err := t.Limiter.Wait(ctx); err != nil {
		if ctx.Err() == nil { // the limiter looks ahead
			err = context.DeadlineExceeded
		}
		return fmt.Errorf("waiting for the rate limit: %w", err)
	}
	return nil
}

// authenticated builds the request of this attempt: a copy of its own, so that neither an authenticator nor a round
// tripper can change the next one.
func (t *Transport) authenticated(ctx context.Context, e *exchange, req *http.Request) (*http.Request, error) {
	r := &e.request
	out := req.WithContext(ctx)
	out.Header = maps.Clone(t.headers[r.ContentType])
	if cookies, ok := req.Header["Cookie"]; ok {
		out.Header["Cookie"] = cookies
		delete(req.Header, "Cookie") // net/http adds them anew for each attempt
	}
	target := *r.URL
	out.URL = &target
	if r.Method != http.MethodGet {
		// net/http repeats a request by itself when it has GetBody or no body at all: over HTTP/2, and with an
		// Idempotency-Key also over HTTP/1. A send therefore always has a body, and never a GetBody.
		out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(r.Body)), int64(len(r.Body))
	}
	e.refused = nil
	if r.Authenticate == nil {
		return out, nil
	}
	return out, r.Authenticate.authenticate(ctx, e, out)
}

// ended says in err whose time was over, where that is the cause.
func (t *Transport) ended(ctx, parent context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case parent.Err() != nil:
		return because{err, parent.Err()}
	case ctx.Err() != nil:
		return because{timeoutError(t.Timeout), context.DeadlineExceeded}
	default:
		return err
	}
}

// because is an error that also matches the context's.
type because struct{ err, ctx error }

// Error gives the context's words: whatever net/http made of them says no more.
func (b because) Error() string {
	if timeout, ok := b.err.(timeoutError); ok { //nolint:errorlint // it was put there bare
		return timeout.Error()
	}
	return b.ctx.Error()
}

// Unwrap gives both.
func (b because) Unwrap() []error { return []error{b.ctx, b.err} }

// timeoutError says that one attempt took longer than it may.
type timeoutError time.Duration

func (d timeoutError) Error() string {
	return "no whole answer within the timeout of " + time.Duration(d).String()
}

// Timeout tells packages that ask a net.Error.
func (d timeoutError) Timeout() bool { return true }

// log writes what a person who debugs needs and nothing that belongs to a recipient: no URL, header or body.
func (t *Transport) log(e *exchange, took time.Duration) {
	if t.Logger == nil || !t.Logger.Enabled(e, slog.LevelDebug) {
		return
	}
	attrs := []slog.Attr{
		slog.String("operation", e.request.Operation),
		slog.Int("attempt", e.attempts),
		slog.Int("status", e.outcome.StatusCode),
		slog.Duration("took", took),
	}
	if e.outcome.Err != nil {
		attrs = append(attrs, slog.String("error", Describe(e.outcome.Err)), slog.Bool("written", e.outcome.Written))
	}
	t.Logger.LogAttrs(e, slog.LevelDebug, "messaging: attempt", attrs...)
}
