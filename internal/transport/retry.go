package transport

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// newLoop returns the loop of all calls of a Transport: an attempt, a decision, a wait, and again. The call is in the context.
func (t *Transport) newLoop() *retryablehttp.Client {
	return &retryablehttp.Client{
		HTTPClient: &http.Client{Transport: attempts{}},
		RetryMax:   t.MaxAttempts - 1, RetryWaitMin: t.MinWait, RetryWaitMax: t.MaxWait,
		CheckRetry: func(ctx context.Context, _ *http.Response, _ error) (bool, error) {
			return callOf(ctx).shouldRetry(ctx), nil
		},
		Backoff: backoff,
		PrepareRetry: func(r *http.Request) error {
			callOf(r.Context()).endBackoff(Outcome{})
			return nil
		},
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
}

// attempts is the round tripper of the loop.
type attempts struct{}

// RoundTrip makes an attempt, and further ones at once while they need no wait and do not count: with a fresh token, or after
// throttling that a breaker waits for. The response has been read and closed.
func (attempts) RoundTrip(r *http.Request) (*http.Response, error) {
	c := callOf(r.Context())
	o := &c.outcome
	c.tries++
	for again := true; again; again = o.Interrupted == nil && (c.refreshes() || c.isHeld()) {
		c.sending = false
		c.attempt(r) //nolint:contextcheck // it is in r
	}
	if o.StatusCode == 0 {
		return nil, cmp.Or(o.Interrupted, o.Err)
	}
	header := o.Header
	if header.Get("Location") != "" { // http.Client would follow it, or fail on it
		header = maps.Clone(header)
		header.Del("Location")
	}
	c.response = http.Response{StatusCode: o.StatusCode, Header: header, Body: http.NoBody}
	return &c.response, nil
}

// shouldRetry decides whether another attempt follows, and begins the wait for it. It judges what the attempt found: a response
// is never given up because a context ended after it came.
func (c *call) shouldRetry(ctx context.Context) bool {
	o := &c.outcome
	if o.Interrupted != nil || !c.worthRetrying(ctx) {
		return false // an attempt could not begin, and none after it can
	}
	if err := ctx.Err(); err != nil {
		if !errors.Is(o.Err, err) {
			o.Interrupted = err
		}
		return false
	}
	c.sending = false
	c.request.Slot.park()
	_, end := c.request.Observe.begin(ctx, Backoff, o.Attempts+1)
	c.endBackoff = func(out Outcome) {
		c.endBackoff = nil
		end(out)
	}
	return true
}

// refreshes reports whether another attempt follows with a fresh token.
func (c *call) refreshes() bool {
	can := c.canRefresh()
	if can {
		c.forgetToken()
		c.refreshed = true
	}
	return can
}

func (c *call) canRefresh() bool {
	return c.judgement.TokenRefused && c.forgetToken != nil && !c.refreshed
}

// isHeld reports whether the attempt was throttled as many others were, so that the next waits for a breaker.
func (c *call) isHeld() bool {
	j := &c.judgement
	if c.request.Patience != Bulk || c.transport.NoWait || !j.Repeatable || j.Health != Throttling {
		return false
	}
	_, open := c.request.Breakers.Account.Trouble()
	return open
}

// worthRetrying reports whether another attempt is safe, allowed, and could end better.
func (c *call) worthRetrying(ctx context.Context) bool {
	o := &c.outcome
	switch {
	case c.tries >= c.transport.MaxAttempts:
		return false
	case o.StatusCode == 0 && !o.Written:
		return !IsPermanent(o.Err)
	case o.StatusCode == 0:
		return c.request.Read
	}
	unread := c.request.Read && o.Err != nil && !errors.Is(o.Err, errTooLarge)
	return (c.judgement.Repeatable || unread) && c.canWait(ctx)
}

// IsPermanent reports whether another attempt would meet the same error: a certificate that was refused, no TLS at the other end, or
// a proxy that wants credentials.
func IsPermanent(err error) bool {
	return textOf[*tls.CertificateVerificationError](err) != "" || textOf[x509.UnknownAuthorityError](err) != "" ||
		textOf[x509.HostnameError](err) != "" || textOf[tls.RecordHeaderError](err) != "" || errors.Is(err, errProxyAuth)
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

// backoff returns how long to wait before the next attempt: a random part of retryablehttp's exponential wait, so that clients that
// failed together do not come back together, and at least as long as the response asked for.
func backoff(least, most time.Duration, n int, resp *http.Response) time.Duration {
	ceiling := retryablehttp.DefaultBackoff(least, most, n, nil)
	wait := time.Duration(rand.Float64() * float64(ceiling)) //nolint:gosec // no secret depends on it
	if resp != nil {
		wait = max(wait, retryAfter(resp.Header))
	}
	return wait
}

// maxRetryAfter stands for a Retry-After of more than a century.
const maxRetryAfter = time.Duration(math.MaxInt64)

// retryAfter returns how long the Retry-After header asks to wait, in whole seconds or until a date. A date is counted
// from the response's own Date, so that the clocks need not agree. It returns 0 for a date in the past, and if there is
// no header that can be read.
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
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(0, date.Sub(now))
}
