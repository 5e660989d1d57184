package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"time"
)

// attempts is the one round tripper under the retries: each call of it is one attempt. What it finds it writes into the
// exchange; the response that it returns is empty, since net/http and retryablehttp would lose what is in it.
type attempts struct{ t *Transport }

// RoundTrip performs one attempt. One that cannot begin leaves what the attempt before it found out.
func (a attempts) RoundTrip(req *http.Request) (*http.Response, error) {
	t, e := a.t, exchangeOf(req.Context())
	ctx, cancel, out, err := t.prepare(e, req)
	if err != nil {
		e.stopped = true
		if e.attempts == 0 {
			e.outcome.Err = err
		} else {
			e.outcome.Interrupted = err
		}
		return nil, err
	}
	defer cancel()
	e.attempts++
	e.outcome = Outcome{Sent: out}
	e.evidence.stop.Store(&cancel)
	start := time.Now()
	resp, err := t.attempt(e, out)
	if resp == nil {
		e.outcome.Written = e.evidence.written(err)
	} else {
		e.outcome.Written = true
		e.outcome.StatusCode, e.outcome.Header = resp.StatusCode, resp.Header
		e.outcome.RetryAfter, _ = retryAfter(resp.Header)
	}
	if err != nil && resp == nil && e.evidence.repeated() && req.Context().Err() == nil {
		e.outcome.Err = errRepeated
	} else {
		e.outcome.Err = t.ended(ctx, req.Context(), err)
	}
	t.log(e, time.Since(start)) //nolint:contextcheck // an exchange is its own context
	if resp == nil {
		return nil, e.outcome.Err
	}
	resp.Request, resp.Body = req, http.NoBody
	if len(resp.Header["Location"]) > 0 {
		resp.Header = resp.Header.Clone()
		resp.Header.Del("Location") // net/http would fail over one that it cannot read
	}
	return resp, nil
}

// prepare waits for the rate limit and makes the request of an attempt, with the context that bounds it.
func (t *Transport) prepare(e *exchange, req *http.Request) (context.Context, context.CancelFunc, *http.Request, error) {
	parent := req.Context()
	if err := parent.Err(); err != nil { // net/http might write before it looks
		return nil, nil, nil, err
	}
	if err := t.limit(parent); err != nil {
		return nil, nil, nil, err
	}
	// Not http.Client.Timeout: with a round tripper that wraps another it costs two goroutines a call.
	ctx, cancel := context.WithTimeout(parent, t.Timeout)
	begun := false
	defer func() {
		if !begun { // also where an authenticator panics
			cancel()
		}
	}()
	out, err := t.authenticated(ctx, e, req)
	switch ended := ctx.Err(); {
	case ended != nil && err != nil:
		err = AuthError{errors.Join(ended, err)}
	case ended != nil:
		err = t.ended(ctx, parent, ended)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	begun = true
	return ctx, cancel, out, nil
}

// errRepeated says that net/http, which repeats a read by itself, was stopped.
var errRepeated = errors.New("the service gave the request back as often as the HTTP client repeated it")

// errNothing says that a round tripper of the user's broke its contract.
var errNothing = errors.New("the round tripper gave neither an answer nor an error")

// attempt returns an answer, read and closed; with an error beside it where the answer could not be read to its end.
func (t *Transport) attempt(e *exchange, out *http.Request) (*http.Response, error) {
	e.evidence.reset()
	resp, err := t.Base.RoundTrip(out)
	switch {
	case err != nil:
		if resp != nil && resp.Body != nil {
			_ = resp.Body.Close()
		}
		return nil, withoutQuery(err)
	case resp == nil:
		return nil, errNothing
	}
	if _, ok := t.Base.(*http.Transport); !ok && resp.Body != nil && resp.ContentLength < 0 {
		// Nobody has promised that reading from another's body, of no known end, ends with the context.
		body := resp.Body // which RoundTrip takes out of the response
		defer context.AfterFunc(out.Context(), func() { _ = body.Close() })()
	}
	e.outcome.Body, err = read(resp, t.MaxResponseBytes, e.request.Buffer)
	if err == nil && e.request.Check != nil && resp.StatusCode >= 200 && resp.StatusCode < 300 {
		err = e.request.Check(e.outcome.Body)
	}
	return resp, err
}

// limitError says that a call could not wait for its turn.
type limitError struct{ err error }

func (e limitError) Error() string { return "waiting for the rate limit: " + e.err.Error() }

// Unwrap gives the context's error.
func (e limitError) Unwrap() error { return e.err }

// limit waits for the client's rate limit.
func (t *Transport) limit(ctx context.Context) error {
	if t.Limiter == nil {
		return nil
	}
	if t.Limiter.Wait(ctx) == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return limitError{err}
	}
	return limitError{context.DeadlineExceeded} // the limiter looks ahead
}

// authenticated builds the request of this attempt: a copy of its own, so that neither an authenticator nor a round
// tripper can change the next one.
func (t *Transport) authenticated(ctx context.Context, e *exchange, req *http.Request) (*http.Request, error) {
	r := &e.request
	out := req.WithContext(ctx)
	if _, custom := r.Authenticate.(Custom); custom {
		out.Header = t.headers[r.ContentType].Clone() // a user's function may edit what it finds
	} else {
		out.Header = maps.Clone(t.headers[r.ContentType])
	}
	if cookies, ok := req.Header["Cookie"]; ok {
		out.Header["Cookie"] = cookies
		delete(req.Header, "Cookie") // net/http adds them anew for each attempt
	}
	target := *r.URL
	out.URL = &target
	if r.Method != http.MethodGet {
		t.setBody(out, r.Body)
	} else {
		out.Header["Cache-Control"] = []string{"no-cache"}
	}
	e.refused = nil
	if r.Authenticate == nil {
		return out, nil
	}
	if err := r.Authenticate.authenticate(ctx, e, out); err != nil {
		return nil, err
	}
	if out.Body == http.NoBody {
		t.setBody(out, nil) // now that its headers are known
	}
	return out, nil
}

// setBody gives a send its body. net/http repeats a request by itself when it has GetBody or no body at all: over HTTP/2, and
// with an Idempotency-Key also over HTTP/1. So a send never has a GetBody, and one with nothing in its body has an empty
// one of unknown length, unless it can meet neither.
func (t *Transport) setBody(out *http.Request, body []byte) {
	_, key := out.Header["Idempotency-Key"]
	_, another := out.Header["X-Idempotency-Key"]
	if len(body) == 0 && t.OnlyHTTP1 && !key && !another {
		out.Body, out.ContentLength = http.NoBody, 0
		return
	}
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
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

// Timeout tells os.IsTimeout and its like.
func (b because) Timeout() bool { return errors.Is(b.ctx, context.DeadlineExceeded) }

// Unwrap gives both.
func (b because) Unwrap() []error { return []error{b.ctx, b.err} }

// timeoutError says that one attempt took longer than it may.
type timeoutError time.Duration

func (d timeoutError) Error() string {
	return "no whole answer within the timeout of " + time.Duration(d).String()
}

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
	t.Logger.LogAttrs(e.Context, slog.LevelDebug, "messaging: attempt", attrs...)
}
