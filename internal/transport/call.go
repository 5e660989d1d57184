package transport

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// A call is the state of one Do. It is the round tripper of the call's own http.Client, so that net/http and
// retryablehttp come back to it for each attempt and each decision.
type call struct {
	transport *Transport
	request   Request
	evidence  evidence
	outcome   Outcome
	http      http.Client
	retries   retryablehttp.Client
	retried   retryablehttp.Request

	refreshes   int    // attempts that were made for a fresh token
	forgetToken func() // drops the token of the last attempt; nil if it had none from a TokenSource
	retrying    bool   // checkRetry asked for an attempt that has not begun
	refreshing  bool   // that attempt is for a fresh token, and need not wait
	endBackoff  func(Outcome)
}

// Do performs a call. The loop is retryablehttp's: RoundTrip, checkRetry, the wait that it leaves, and again.
func (t *Transport) Do(ctx context.Context, r Request) Outcome {
	c := &call{transport: t, request: r}
	c.http.Transport, c.http.Jar = c, t.Jar
	c.retries = retryablehttp.Client{
		HTTPClient:   &c.http,
		RetryMax:     t.MaxAttempts, // checkRetry counts; the retry for a fresh token comes on top
		CheckRetry:   c.checkRetry,
		Backoff:      func(wait, _ time.Duration, _ int, _ *http.Response) time.Duration { return wait },
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	req := http.Request{
		Method: r.Method, URL: r.URL,
		Header: http.Header{}, // net/http adds the jar's cookies
		Proto:  "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	c.retried.Request = req.WithContext(ctx)
	_, err := c.retries.Do(&c.retried) //nolint:bodyclose // RoundTrip has read and closed it
	o := &c.outcome
	if c.retrying {
		o.Interrupted = ctx.Err() // it ended the wait
		c.endBackoff(Outcome{Err: o.Interrupted})
	}
	if o.Attempts == 0 {
		o.Err, o.Interrupted = cmp.Or(o.Interrupted, err), nil
	}
	return *o
}

// RoundTrip makes one attempt. If it cannot begin, the outcome of the attempt before it stays.
func (c *call) RoundTrip(req *http.Request) (*http.Response, error) {
	caller := req.Context()
	if c.retrying {
		c.retrying = false
		c.endBackoff(Outcome{})
	}
	if err := c.waitForTurn(caller); err != nil {
		c.outcome.Interrupted = err
		return nil, err
	}
	// Not http.Client.Timeout, which costs two goroutines if the round tripper is not net/http's own.
	ctx, cancel := context.WithTimeout(caller, c.transport.Timeout)
	defer cancel()
	own := &ownParts{url: *c.request.URL, hooks: c.evidence.trace(cancel, c.transport.OwnBase)}
	out := req.WithContext(httptrace.WithClientTrace(ctx, &own.hooks))
	if err := c.prepare(ctx, out, own); err != nil || ctx.Err() != nil {
		c.outcome.Interrupted = c.contextError(ctx, caller, err)
		return nil, c.outcome.Interrupted
	}

	observed, end := c.request.Observe.begin(ctx, Attempt, c.outcome.Attempts+1)
	if observed != ctx {
		own.hooks = c.evidence.trace(cancel, c.transport.OwnBase) // the caller's hooks, if any, have joined the others
		out = out.WithContext(httptrace.WithClientTrace(observed, &own.hooks))
	}
	c.evidence.reset()
	c.outcome = Outcome{Sent: out, Attempts: c.outcome.Attempts + 1}
	o := &c.outcome
	resp, err := c.send(out)
	o.Written = resp != nil || c.evidence.written(err)
	if resp != nil {
		o.StatusCode, o.Header, o.RetryAfter = resp.StatusCode, resp.Header, retryAfter(resp.Header)
	}
	if err != nil {
		o.Err = c.contextError(ctx, caller, c.evidence.explain(err))
	}
	end(*o)
	if resp == nil {
		return nil, o.Err
	}
	// Without its header net/http cannot follow a redirect, which would turn a send into a GET or carry it to another
	// host. The jar needs the cookies.
	resp.Body, resp.Header = http.NoBody, nil
	if c.transport.Jar != nil {
		resp.Header = http.Header{"Set-Cookie": o.Header["Set-Cookie"]}
	}
	return resp, nil
}

// waitForTurn waits for the rate limit.
func (c *call) waitForTurn(ctx context.Context) error {
	err, limiter := ctx.Err(), c.transport.Limiter
	if err != nil || limiter == nil || limiter.Allow() {
		return err // net/http might write before it looks
	}
	waiting, end := c.request.Observe.begin(ctx, RateLimit, c.outcome.Attempts+1)
	if limiter.Wait(waiting) != nil {
		if err = ctx.Err(); err == nil {
			err = context.DeadlineExceeded // the limiter looks ahead
		}
		err = &namedError{"waiting for the rate limit: " + err.Error(), err}
	}
	end(Outcome{Err: err})
	return err
}

// prepare makes out the request of an attempt. It is the attempt's own, so that neither an authenticator nor a round
// tripper can change the next one.
func (c *call) prepare(ctx context.Context, out *http.Request, own *ownParts) error {
	r := &c.request
	out.URL, out.Host = &own.url, own.url.Host
	header := maps.Clone(r.Header)
	if r.Read {
		header["Cache-Control"] = []string{"no-cache"}
	}
	if cookies, ok := out.Header["Cookie"]; ok {
		header["Cookie"] = cookies
		delete(out.Header, "Cookie") // which the attempts share, and where net/http adds the cookies of each
	}
	out.Header = header
	if r.Method != http.MethodGet {
		// net/http sends a request again by itself if it has a GetBody or no body: so a send has neither. A reader of
		// length 0 is a body of unknown length. The header would be sent apart from a reader of another type.
		own.body.Reset(r.Body)
		out.Body, out.ContentLength = io.NopCloser(&own.body), int64(len(r.Body))
	}
	c.forgetToken = nil
	if r.Authenticate == nil {
		return nil
	}
	var err error
	c.forgetToken, err = r.Authenticate.authenticate(ctx, r.Observe, out, r.Body)
	return err
}

// ownParts are parts of a request that are its own.
type ownParts struct {
	url   url.URL
	body  bytes.Reader
	hooks httptrace.ClientTrace
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
	if err == nil && c.request.Decode != nil && isSuccess(resp.StatusCode) {
		err = c.request.Decode(c.outcome.Body)
	}
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

// checkRetry decides whether another attempt follows. It judges what RoundTrip found, not its arguments: a response
// is never given up because a context ended after it came.
func (c *call) checkRetry(ctx context.Context, _ *http.Response, _ error) (bool, error) {
	c.retrying = c.shouldRetry(ctx)
	if c.retrying {
		c.retries.RetryWaitMin = c.backoff()
		_, c.endBackoff = c.request.Observe.begin(ctx, Backoff, c.outcome.Attempts+1)
	}
	return c.retrying, nil
}

func (c *call) shouldRetry(ctx context.Context) bool {
	o := &c.outcome
	if o.Attempts == 0 || o.Interrupted != nil {
		return false // an attempt could not begin, and none after it can
	}
	c.refreshing = o.StatusCode == http.StatusUnauthorized && c.forgetToken != nil && c.refreshes == 0
	if !c.refreshing && !c.worthRetrying(ctx) {
		return false
	}
	if o.StatusCode != 0 && c.request.Refused != nil && !c.request.Refused(*o) {
		return false
	}
	if err := ctx.Err(); err != nil {
		if !errors.Is(o.Err, err) {
			o.Interrupted = err
		}
		return false
	}
	if c.refreshing {
		c.forgetToken()
		c.refreshes++
	}
	return true
}

// worthRetrying reports whether another attempt is safe, allowed, and could end better.
func (c *call) worthRetrying(ctx context.Context) bool {
	o := &c.outcome
	switch {
	case o.Attempts-c.refreshes >= c.transport.MaxAttempts:
		return false
	case o.StatusCode == 0 && !o.Written:
		return !isPermanent(o.Err)
	case o.StatusCode == 0:
		return c.request.Read
	case slices.Contains(c.transport.NotProcessed, o.StatusCode):
		return c.canWait(ctx)
	case !c.request.Read:
		return false
	}
	unread := o.Err != nil && !errors.Is(o.Err, errTooLarge)
	transient := slices.Contains([]int{408, 500, 502, 503, 504}, o.StatusCode)
	return (unread || transient) && c.canWait(ctx)
}

// isPermanent reports whether another attempt would meet the same error.
func isPermanent(err error) bool {
	var (
		verification *tls.CertificateVerificationError
		authority    x509.UnknownAuthorityError
		host         x509.HostnameError
		header       tls.RecordHeaderError
	)
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &host) ||
		errors.As(err, &header) || errors.Is(err, errProxyAuth)
}

// canWait reports whether the configuration and the deadline allow the wait that the response asked for. If they do
// not, the call fails at once instead of later.
func (c *call) canWait(ctx context.Context) bool {
	wait := c.outcome.RetryAfter
	if wait > c.transport.MaxWait {
		return false
	}
	deadline, ok := ctx.Deadline()
	return !ok || wait == 0 || ctx.Err() != nil || wait < time.Until(deadline)
}

// backoff returns how long to wait before the next attempt: a random time up to minWait·2ⁿ and up to maxWait, so that
// clients that failed together do not come back together, and at least as long as the response asked for.
func (c *call) backoff() time.Duration {
	if c.refreshing {
		return 0
	}
	t := c.transport
	ceiling := min(float64(t.MinWait)*math.Pow(2, float64(c.outcome.Attempts-1)), float64(t.MaxWait))
	jitter := time.Duration(rand.Float64() * ceiling) //nolint:gosec // no secret depends on it
	return max(c.outcome.RetryAfter, jitter)
}

// maxRetryAfter stands for a Retry-After of more than a century.
const maxRetryAfter = time.Duration(math.MaxInt64)

// retryAfter returns how long the Retry-After header asks to wait, in whole seconds or until a date. It returns 0 for a
// date in the past, and if there is no header that can be read.
func retryAfter(h http.Header) time.Duration {
	field := strings.TrimSpace(h.Get("Retry-After"))
	if field == "" {
		return 0
	}
	seconds, err := strconv.ParseUint(field, 10, 32)
	if err == nil {
		return time.Duration(seconds) * time.Second
	}
	if errors.Is(err, strconv.ErrRange) {
		return maxRetryAfter
	}
	date, err := http.ParseTime(field)
	if err != nil {
		return 0
	}
	return max(0, time.Until(date))
}
