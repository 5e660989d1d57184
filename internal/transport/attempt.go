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

	"github.com/messaging-service/messaging-go/internal/fence"
)

// An attempt is one request. Each attempt has its own copy of everything, so that no authenticator or round tripper can change the next one.
type attempt struct {
	request http.Request
	url     url.URL
	body    bytes.Reader
	hooks   httptrace.ClientTrace

	forgetToken  func() // drops the token; nil if the attempt has none from a TokenSource
	evidence     evidence
	contextEnded bool // when the round tripper returned
}

// tryOnce makes an attempt. If it cannot begin, c.obstacle says why, and the outcome of the attempt before it stays.
func (c *call) tryOnce(ctx context.Context) {
	c.sent = nil
	c.obstacle = obstacle{}
	c.obstacle.err = c.prepare(ctx)
	if c.obstacle.err == nil {
		c.send() //nolint:contextcheck // the context of the call, not that of its waits
	}
}

// prepare takes the steps before the request. What it acquires is released by decide.
func (c *call) prepare(ctx context.Context) error {
	if err := ctx.Err(); err != nil { // net/http might write before it looks
		return err
	}
	if c.guardPassedAt.IsZero() {
		if err := c.askGuard(ctx); err != nil { // while the call holds nothing
			return err
		}
	}
	if err := c.checkBreakers(); err != nil { // before anything that takes time
		return err
	}
	if err := c.authenticate(ctx, newAttempt(&c.request, c.transport.Jar)); err != nil {
		return err
	}
	if err := c.acquireSlot(ctx); err != nil {
		return err
	}
	if err := c.waitForTurn(ctx); err != nil {
		return err
	}
	if time.Since(c.guardPassedAt) > approvalLifetime {
		if err := c.askGuard(ctx); err != nil {
			return err
		}
	}
	if err := c.enterBreakers(); err != nil {
		return err
	}
	return c.checkFence()
}

// checkFence checks the fence of a send. The fence does not apply to calls that a function of the user makes within the send.
func (c *call) checkFence() error {
	if c.isNested || c.request.Read {
		return nil
	}
	if err := fence.Check(c.ctx); err != nil {
		return &safeError{"stopped before it was written", err}
	}
	return nil
}

// approvalLifetime is how long the approval of a guard holds.
const approvalLifetime = 5 * time.Second

// askGuard runs the guard. If the context ended meanwhile, that is the error, and the guard has not decided.
func (c *call) askGuard(ctx context.Context) error {
	if c.request.Guard != nil {
		// Calls that the guard makes are separate from this one, unless it or an outer call holds a slot.
		if !c.held.hasSlot && !c.isNested {
			ctx = context.WithValue(ctx, callKey{}, nil)
			ctx = fence.With(ctx, nil)
		}
		if err := c.request.Guard(ctx); err != nil {
			if ctx.Err() != nil {
				return c.contextError(ctx, ctx, completeResponse, err)
			}
			c.outcome.Guard = err
			return &safeError{"a guard stopped the message", err}
		}
	}
	c.guardPassedAt = time.Now()
	return nil
}

// authenticate puts credentials into the request of an attempt, and makes it the current one.
func (c *call) authenticate(ctx context.Context, a *attempt) error {
	if c.request.NoToken != nil {
		return c.request.NoToken
	}
	switch credentials := c.request.Authenticate.(type) {
	case nil:
	case headerFunc:
		credentials(a.request.Header) // at once, without a timeout
	default:
		bounded, cancel := context.WithTimeout(ctx, c.transport.Timeout)
		defer cancel()
		forget, err := credentials.authenticate(bounded, c.request.Observe, &a.request, c.request.Body)
		if err != nil || bounded.Err() != nil {
			return c.contextError(bounded, ctx, completeResponse, err)
		}
		a.forgetToken = forget
	}
	c.current = a
	return nil
}

// newAttempt returns an attempt without credentials. jar may be nil.
func newAttempt(r *Request, jar http.CookieJar) *attempt {
	a := &attempt{url: *r.URL}
	out := &a.request
	out.Method = r.Method
	out.URL = &a.url
	out.Host = a.url.Host
	out.Proto = "HTTP/1.1"
	out.ProtoMajor = 1
	out.ProtoMinor = 1
	out.Header = maps.Clone(r.Header)
	if out.Header == nil {
		out.Header = http.Header{}
	}
	if r.Read {
		out.Header["Cache-Control"] = []string{"no-cache"}
	}
	if jar != nil {
		for _, cookie := range jar.Cookies(r.URL) {
			out.AddCookie(cookie)
		}
	}
	if r.Method != http.MethodGet {
		// net/http sends a request again by itself if it has a GetBody or no body, so a send has neither. A reader of length 0 is a body of
		// unknown length. The header would be sent apart from a reader of another type.
		a.body.Reset(r.Body)
		out.Body = io.NopCloser(&a.body)
		out.ContentLength = int64(len(r.Body))
	}
	return a
}

// send sends the request and reads the response to its end.
func (c *call) send() {
	began := time.Now()
	// Not http.Client.Timeout, which costs two goroutines if the round tripper is not net/http's own.
	ctx, stop := context.WithDeadline(c.ctx, began.Add(c.transport.Timeout))
	request := c.begin(ctx, stop)
	c.outcome.Began = began
	resp, err := c.roundTrip(request) //nolint:bodyclose // roundTrip has read and closed it
	c.record(ctx, resp, err)
}

// begin returns the request of the attempt, and replaces the outcome of the attempt before it. From then on the request may be written. ctx is
// the context of the attempt, and stop ends it.
func (c *call) begin(ctx context.Context, stop context.CancelFunc) *http.Request {
	a := c.current
	a.evidence.trace(&a.hooks, stop, c.transport.OwnBase) // before an observer can panic: cleanUp calls stop
	number := c.outcome.Attempts + 1
	observed := c.step.begin(ctx, c.request.Observe, Attempt, number)
	request := a.request.WithContext(httptrace.WithClientTrace(observed, &a.hooks))
	c.outcome = Outcome{Sent: request, Attempts: number}
	c.judgement = Judgement{}
	c.sent = a
	return request
}

// record sets the outcome of the attempt from what roundTrip returned. ctx is the context of the attempt, which ends here.
func (c *call) record(ctx context.Context, resp *http.Response, err error) {
	a := c.current
	a.contextEnded = ctx.Err() != nil
	a.evidence.end()
	c.outcome.Written = resp != nil || a.evidence.written(err)
	if resp != nil {
		c.recordResponse(resp)
	}
	if err != nil {
		err = c.contextError(ctx, c.ctx, a.evidence.awaited(), a.evidence.explain(err))
		c.outcome.Err = a.evidence.describe(err)
	}
}

// recordResponse sets what the outcome holds of the head of a response, and keeps its cookies.
func (c *call) recordResponse(resp *http.Response) {
	c.outcome.StatusCode = resp.StatusCode
	c.outcome.Header = resp.Header
	c.outcome.RetryAfter = retryAfter(resp.Header)
	if jar := c.transport.Jar; jar != nil {
		jar.SetCookies(c.request.URL, resp.Cookies())
	}
}

var errNoResponse = &safeError{text: "the round tripper returned neither a response nor an error"}

// roundTrip sends a request, reads the response into the body of the outcome, and closes it. It returns the response with an error if the
// response came but could not be read.
func (c *call) roundTrip(request *http.Request) (*http.Response, error) {
	resp, err := c.transport.Base.RoundTrip(request)
	switch {
	case err != nil:
		if resp != nil && resp.Body != nil {
			_ = resp.Body.Close()
		}
		return nil, withoutURL(err)
	case resp == nil:
		return nil, errNoResponse
	}
	if resp.Body != nil && !endsWithContext(c.transport.Base) {
		body := resp.Body // RoundTrip takes it out of the response
		defer context.AfterFunc(request.Context(), func() { _ = body.Close() })()
	}
	c.outcome.Body, err = readBody(resp, c.transport.MaxResponseBytes, c.request.Buffer)
	return resp, err
}

// contextError attributes err to the context that ended, if one has: the caller's, or the attempt's by its timeout, which ended the wait for
// what is awaited. It keeps the text of a safeError. err may be nil.
func (c *call) contextError(ctx, caller context.Context, awaited string, err error) error {
	reason := caller.Err()
	var text string
	switch {
	case reason != nil:
		text = reason.Error()
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		reason = ctx.Err()
		text = "no " + awaited + " within the timeout of " + c.transport.Timeout.String()
	default:
		return err
	}
	if safe, ok := errors.AsType[*safeError](err); ok {
		text = safe.text
	}
	return &safeError{text, errors.Join(reason, err)}
}
