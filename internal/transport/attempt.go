package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"time"
)

// attempt makes one attempt. If it cannot begin, the outcome of the attempt before it stays.
func (c *call) attempt(carrier *http.Request) {
	health := unwritten
	defer c.leavePlace() // both also if a function of the user panics, such as an observer
	defer func() { c.leaveBreakers(health) }()
	if c.outcome.Interrupted = c.admit(carrier); c.outcome.Interrupted != nil {
		return
	}
	for i := range c.passed {
		if p := &c.passed[i]; p.entered {
			p.number = p.breaker.begun.Add(1)
		}
	}
	own := c.own
	began := time.Now()
	// Not http.Client.Timeout, which costs two goroutines if the round tripper is not net/http's own.
	ctx := &own.limited
	ctx.begin(c.ctx, began.Add(c.transport.Timeout))
	defer ctx.stop()
	c.evidence.trace(&own.hooks, ctx.end, c.transport.OwnBase)
	observed, end := c.request.Observe.begin(ctx, Attempt, c.outcome.Attempts+1)
	out := own.request.WithContext(httptrace.WithClientTrace(observed, &own.hooks))
	c.evidence.reset()
	c.outcome = Outcome{Sent: out, Began: began, Attempts: c.outcome.Attempts + 1}
	o := &c.outcome
	c.judgement = Judgement{}
	c.sending = true
	resp, err := c.send(out) //nolint:bodyclose // send has read and closed it
	o.Written = resp != nil || c.evidence.written(err)
	if resp != nil {
		o.StatusCode, o.Header, o.RetryAfter = resp.StatusCode, resp.Header, retryAfter(resp.Header)
		if jar := c.transport.Jar; jar != nil {
			jar.SetCookies(c.request.URL, resp.Cookies())
		}
	}
	if err != nil {
		o.Err = c.evidence.name(c.contextError(ctx, c.ctx, c.evidence.explain(err)))
	}
	if resp != nil {
		c.judgement = c.request.Judge.Judge(o)
	}
	health = c.health(ctx)
	c.leaveBreakers(health)
	c.leavePlace()
	end(*o)
}

// prepare makes the request of an attempt, with its credentials.
func (c *call) prepare(ctx context.Context, carrier *http.Request) error {
	own := &ownParts{request: *carrier, url: *c.request.URL}
	c.forgetToken = nil
	c.newRequest(own)
	switch a := c.request.Authenticate.(type) {
	case nil:
	case header:
		a(own.request.Header)
	default:
		bounded, cancel := context.WithTimeout(ctx, c.transport.Timeout)
		defer cancel()
		given, err := a.authenticate(bounded, c.request.Observe, &own.request, c.request.Body)
		if err != nil || bounded.Err() != nil {
			return c.contextError(bounded, ctx, err)
		}
		c.forgetToken, own.until = given.forget, given.until
	}
	c.own = own
	return nil
}

// newRequest makes a copy of the carrier the request of an attempt. It is the attempt's own, so that neither an authenticator nor a
// round tripper can change the next one.
func (c *call) newRequest(own *ownParts) {
	r, out := &c.request, &own.request
	out.URL, out.Host, out.Header = &own.url, own.url.Host, maps.Clone(r.Header)
	if r.Read {
		out.Header["Cache-Control"] = []string{"no-cache"}
	}
	if jar := c.transport.Jar; jar != nil {
		for _, cookie := range jar.Cookies(r.URL) {
			out.AddCookie(cookie)
		}
	}
	if r.Method != http.MethodGet {
		// net/http sends a request again by itself if it has a GetBody or no body: so a send has neither. A reader of
		// length 0 is a body of unknown length. The header would be sent apart from a reader of another type.
		own.body.Reset(r.Body)
		out.Body, out.ContentLength = io.NopCloser(&own.body), int64(len(r.Body))
	}
}

// ownParts are the request of an attempt and parts of it that are its own.
type ownParts struct {
	request http.Request
	url     url.URL
	body    bytes.Reader
	hooks   httptrace.ClientTrace
	limited limited
	until   time.Time // when the credentials should be asked for again; the zero time is never
}

func (p *ownParts) isStale() bool { return !p.until.IsZero() && time.Now().After(p.until) }

// frozen is by how much the timer of an attempt is late if the process stood still.
const frozen = time.Second

// limited is the context of an attempt, which ends with the caller's or when the attempt has had its time. If a process that stood still
// notices that late, the attempt has another second, for a response that the kernel holds already.
type limited struct {
	context.Context //nolint:containedctx // it is one

	deadline time.Time
	timer    *time.Timer
	end      context.CancelCauseFunc
}

func (l *limited) begin(caller context.Context, deadline time.Time) {
	l.deadline = deadline
	l.Context, l.end = context.WithCancelCause(caller)
	l.timer = time.AfterFunc(time.Until(deadline), l.expire)
}

func (l *limited) expire() {
	if time.Since(l.deadline) >= frozen {
		select {
		case <-l.Done():
		case <-time.After(frozen):
		}
	}
	l.end(context.DeadlineExceeded)
}

func (l *limited) stop() {
	l.timer.Stop()
	l.end(nil)
}

// Deadline returns when the time of the attempt or of the caller is over, whichever comes first.
func (l *limited) Deadline() (deadline time.Time, ok bool) {
	if deadline, ok = l.Context.Deadline(); ok && deadline.Before(l.deadline) {
		return deadline, true
	}
	return l.deadline, true
}

// Err is context.DeadlineExceeded when the time is over, as of a context with a deadline.
func (l *limited) Err() error {
	err := l.Context.Err()
	if err != nil && context.Cause(l.Context) == context.DeadlineExceeded { //nolint:errorlint // expire's own
		return context.DeadlineExceeded
	}
	return err
}

var errNoResponse = &namedError{text: "the round tripper returned neither a response nor an error"}

// send sends a request, and reads and closes the response. It returns the response with an error if the response came
// but could not be read.
func (c *call) send(out *http.Request) (*http.Response, error) {
	resp, err := c.transport.Base.RoundTrip(out)
	switch {
	case err != nil:
		if resp != nil && resp.Body != nil {
			_ = resp.Body.Close()
		}
		return nil, withoutURL(err)
	case resp == nil:
		return nil, errNoResponse
	}
	if !endsWithContext(c.transport.Base) && resp.Body != nil && resp.ContentLength < 0 {
		// Nobody promises that reading another round tripper's body of unknown length ends with the context.
		body := resp.Body // RoundTrip takes it out of the response
		defer context.AfterFunc(out.Context(), func() { _ = body.Close() })()
	}
	c.outcome.Body, err = readBody(resp, c.transport.MaxResponseBytes, c.request.Buffer)
	return resp, err
}

// contextError attributes err to the context that ended, if one has: the caller's, or the attempt's by its timeout. It
// keeps the name of a namedError. err may be nil.
func (c *call) contextError(ctx, caller context.Context, err error) error {
	reason := caller.Err()
	var text string
	switch {
	case reason != nil:
		text = reason.Error()
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		reason, text = ctx.Err(), "no complete response within the timeout of "+c.transport.Timeout.String()
	default:
		return err
	}
	if named, ok := errors.AsType[*namedError](err); ok {
		text = named.text
	}
	return &namedError{text, errors.Join(reason, err)}
}
