package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// retry makes the attempts after the first. The loop is retryablehttp's: an attempt, a decision, a wait, and again. Its
// first attempt is the one that was made already.
func (c *call) retry(ctx context.Context) {
	attempts := 0
	var endBackoff func(Outcome) // nil when no wait is under way
	loop := retryablehttp.Client{
		HTTPClient: &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
			if attempts++; attempts > 1 {
				endBackoff(Outcome{})
				endBackoff = nil
				c.attempt(ctx)
			}
			return &http.Response{Body: http.NoBody}, nil // the outcome is in c
		})},
		RetryMax: math.MaxInt, // shouldRetry counts
		CheckRetry: func(context.Context, *http.Response, error) (bool, error) {
			again := attempts == 1 || c.shouldRetry(ctx)
			if again {
				_, endBackoff = c.request.Observe.begin(ctx, Backoff, c.outcome.Attempts+1)
			}
			return again, nil
		},
		Backoff: func(time.Duration, time.Duration, int, *http.Response) time.Duration { return c.backoff() },
	}
	request := http.Request{Method: c.request.Method, URL: c.request.URL, Header: http.Header{}}
	_, _ = loop.Do(&retryablehttp.Request{Request: request.WithContext(ctx)}) //nolint:bodyclose // attempt has read and closed it
	if endBackoff != nil {
		c.outcome.Interrupted = ctx.Err() // it ended the wait
		endBackoff(Outcome{Err: c.outcome.Interrupted})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// shouldRetry decides whether another attempt follows. It judges what the attempt found: a response is never given up
// because a context ended after it came.
func (c *call) shouldRetry(ctx context.Context) bool {
	o := &c.outcome
	if o.Attempts == 0 || o.Interrupted != nil {
		return false // an attempt could not begin, and none after it can
	}
	refresh, hold := c.canRefresh(), c.isHeld()
	if !refresh && !hold && !c.worthRetrying(ctx) {
		return false
	}
	if err := ctx.Err(); err != nil {
		if !errors.Is(o.Err, err) {
			o.Interrupted = err
		}
		return false
	}
	c.hasten, c.sending = refresh || hold, false
	switch {
	case refresh:
		c.forgetToken()
		c.refreshes++
	case hold:
		c.held++
	}
	return true
}

func (c *call) canRefresh() bool {
	return c.judgement.TokenRefused && c.forgetToken != nil && c.refreshes == 0
}

// isHeld reports whether the attempt was throttled as many others were, so that the next waits for a breaker.
func (c *call) isHeld() bool {
	j := &c.judgement
	if c.request.Patience != Bulk || !j.Repeatable || j.Health != Throttling {
		return false
	}
	_, open := c.request.Breakers.Account.Trouble()
	return open
}

// worthRetrying reports whether another attempt is safe, allowed, and could end better.
func (c *call) worthRetrying(ctx context.Context) bool {
	o := &c.outcome
	switch {
	case o.Attempts-c.refreshes-c.held >= c.transport.MaxAttempts:
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
	if c.hasten {
		return 0
	}
	t := c.transport
	ceiling := min(float64(t.MinWait)*math.Pow(2, float64(c.outcome.Attempts-1)), float64(t.MaxWait))
	jitter := time.Duration(rand.Float64() * ceiling) //nolint:gosec // no secret depends on it
	return max(c.outcome.RetryAfter, jitter)
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
