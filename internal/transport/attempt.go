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

// An attempt is one request with its parts. Neither an authenticator nor a round tripper can change those of the next.
type attempt struct {
	request http.Request
	url     url.URL
	body    bytes.Reader
	hooks   httptrace.ClientTrace
	ctx     context.Context //nolint:containedctx // of the attempt
	cancel  context.CancelFunc
}

// attempt makes an attempt in small steps, always in this order:
//
//  1. the guard, if it was not asked yet, while the call holds nothing
//  2. a look at the breakers: while one is open, nothing else is worth its time
//  3. credentials; a token source has its own timeout
//  4. a place among the requests in flight
//  5. a turn of the rate limit; waiting for it holds the place
//  6. the guard again, if its yes is old
//  7. the breakers, which let the attempt pass or say when to come again
//  8. the request, with evidence of what was written
//
// If it cannot begin, blocked says why, and the outcome of the attempt before it stays. decide gives back what it holds.
func (c *call) attempt(carrier *http.Request) {
	c.inDoubt = false
	c.open = nil
	c.blocked = c.prepare(carrier.Context(), carrier)
	if c.blocked == nil {
		c.send()
	}
}

// prepare takes the steps before the request.
func (c *call) prepare(ctx context.Context, carrier *http.Request) error {
	if err := ctx.Err(); err != nil { // net/http might write before it looks
		return err
	}
	if c.allowedAt.IsZero() {
		if err := c.askGuard(ctx); err != nil {
			return err
		}
	}
	if err := c.lookAtBreakers(); err != nil {
		return err
	}
	if err := c.authenticate(ctx, carrier); err != nil {
		return err
	}
	if err := c.takePlace(ctx); err != nil {
		return err
	}
	if err := c.takeTurn(ctx); err != nil {
		return err
	}
	if time.Since(c.allowedAt) > allowedFor {
		if err := c.askGuard(ctx); err != nil {
			return err
		}
	}
	if err := c.passBreakers(); err != nil {
		return err
	}
	return c.checkFence()
}

// checkFence asks the fence of a send. That of a send is not for the calls that a function of the user makes within it.
func (c *call) checkFence() error {
	if c.isNested || c.request.Read {
		return nil
	}
	if err := fence.Check(c.ctx); err != nil {
		return &namedError{"stopped before it was written", err}
	}
	return nil
}

// allowedFor is how long a guard's yes holds.
const allowedFor = 5 * time.Second

// askGuard asks the guard. One whose context ended has not decided.
func (c *call) askGuard(ctx context.Context) error {
	if c.request.Guard != nil {
		// Calls that the guard makes are not within this one, unless it holds a place.
		if !c.holdsPlace {
			ctx = context.WithValue(ctx, callKey{}, nil)
			ctx = fence.With(ctx, nil) // it is for this call alone
		}
		if err := c.request.Guard(ctx); err != nil {
			if ctx.Err() != nil {
				return c.contextError(ctx, ctx, err)
			}
			return &namedError{"a guard stopped the message", GuardError{err}}
		}
	}
	c.allowedAt = time.Now()
	return nil
}

// authenticate makes the request of the attempt, with its credentials.
func (c *call) authenticate(ctx context.Context, carrier *http.Request) error {
	a := &attempt{request: *carrier, url: *c.request.URL}
	a.fill(&c.request, c.transport.Jar)
	c.forgetToken = nil
	switch credentials := c.request.Authenticate.(type) {
	case nil:
	case header:
		credentials(a.request.Header)
	default:
		bounded, cancel := context.WithTimeout(ctx, c.transport.Timeout)
		defer cancel()
		forget, err := credentials.authenticate(bounded, c.request.Observe, &a.request, c.request.Body)
		if err != nil || bounded.Err() != nil {
			return c.contextError(bounded, ctx, err)
		}
		c.forgetToken = forget
	}
	c.current = a
	return nil
}

// fill makes a copy of the carrier the request of the attempt.
func (a *attempt) fill(r *Request, jar http.CookieJar) {
	out := &a.request
	out.URL = &a.url
	out.Host = a.url.Host
	out.Header = maps.Clone(r.Header)
	if r.Read {
		out.Header["Cache-Control"] = []string{"no-cache"}
	}
	if jar != nil {
		for _, cookie := range jar.Cookies(r.URL) {
			out.AddCookie(cookie)
		}
	}
	if r.Method != http.MethodGet {
		// net/http sends a request again by itself if it has a GetBody or no body: so a send has neither. A reader of
		// length 0 is a body of unknown length. The header would be sent apart from a reader of another type.
		a.body.Reset(r.Body)
		out.Body = io.NopCloser(&a.body)
		out.ContentLength = int64(len(r.Body))
	}
}

// send sends the request and reads the response to its end.
func (c *call) send() {
	a := c.current
	began := time.Now()
	// Not http.Client.Timeout, which costs two goroutines if the round tripper is not net/http's own.
	a.ctx, a.cancel = context.WithDeadline(c.ctx, began.Add(c.transport.Timeout))
	c.evidence.reset()
	c.evidence.trace(&a.hooks, a.cancel, c.transport.OwnBase)
	observed, end := c.request.Observe.begin(a.ctx, Attempt, c.outcome.Attempts+1)
	c.endStep = end
	out := a.request.WithContext(httptrace.WithClientTrace(observed, &a.hooks))
	c.outcome = Outcome{Sent: out, Began: began, Attempts: c.outcome.Attempts + 1}
	c.judgement = Judgement{}
	c.inDoubt = true
	resp, err := c.roundTrip(out) //nolint:bodyclose // roundTrip has read and closed it
	o := &c.outcome
	o.Written = resp != nil || c.evidence.written(err)
	if resp != nil {
		o.StatusCode = resp.StatusCode
		o.Header = resp.Header
		o.RetryAfter = retryAfter(resp.Header)
		if jar := c.transport.Jar; jar != nil {
			jar.SetCookies(c.request.URL, resp.Cookies())
		}
	}
	if err != nil {
		o.Err = c.evidence.name(c.contextError(a.ctx, c.ctx, c.evidence.explain(err)))
	}
}

var errNoResponse = &namedError{text: "the round tripper returned neither a response nor an error"}

// roundTrip sends a request, and reads and closes the response. It returns the response with an error if the response came
// but could not be read.
func (c *call) roundTrip(out *http.Request) (*http.Response, error) {
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
		// Another round tripper does not promise that reading a body of unknown length ends with the context.
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
		reason = ctx.Err()
		text = "no complete response within the timeout of " + c.transport.Timeout.String()
	default:
		return err
	}
	if named, ok := errors.AsType[*namedError](err); ok {
		text = named.text
	}
	return &namedError{text, errors.Join(reason, err)}
}
