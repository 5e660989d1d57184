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

// decide judges an attempt and releases what it held. It alone decides whether another attempt follows, and after which wait. A response that came
// counts, even if a context ended after it.
func (c *call) decide(ctx context.Context) (wait time.Duration, follows bool) {
	if c.obstacle.err != nil {
		c.release(notWritten)
		return c.retryBlocked(ctx)
	}
	c.judge()
	if c.canRefresh() {
		c.current.forgetToken()
		c.used.refreshed = true
		return 0, true
	}
	c.used.tries++
	if !c.mayRepeat() {
		return 0, false
	}
	if err := ctx.Err(); err != nil {
		if !errors.Is(c.outcome.Err, err) { // it did not end the attempt itself
			c.outcome.Interrupted = err
		}
		return 0, false
	}
	wait = max(c.transport.Backoff(c.used.tries), c.outcome.RetryAfter)
	return wait, c.startBackoff(ctx, wait)
}

// retryBlocked decides whether another attempt follows one that could not begin: after the wait for an open breaker, if the call may wait so long.
// The blocked attempt does not count.
func (c *call) retryBlocked(ctx context.Context) (wait time.Duration, follows bool) {
	open := c.obstacle.open
	if open != nil && ctx.Err() == nil {
		if c.mayBackOff() && c.startBackoff(ctx, open.RetryAfter) {
			return open.RetryAfter, true
		}
		c.outcome.Wait = open.RetryAfter
	}
	c.outcome.Interrupted = c.obstacle.err
	return 0, false
}

// canRefresh reports whether another attempt follows with a fresh token.
func (c *call) canRefresh() bool {
	return c.judgement.TokenRefused && c.current.forgetToken != nil && !c.used.refreshed
}

// mayBackOff reports whether the call may wait for another attempt.
func (c *call) mayBackOff() bool { return !c.request.Once && c.transport.MaxAttempts > 1 }

// mayRepeat reports whether another attempt is safe and allowed, and may end better.
func (c *call) mayRepeat() bool {
	outcome := &c.outcome
	switch {
	case !c.mayBackOff(), c.used.tries >= c.transport.MaxAttempts:
		return false
	case outcome.StatusCode == 0 && !outcome.Written:
		return !IsPermanent(outcome.Err)
	case outcome.StatusCode == 0:
		return c.request.Read
	}
	return c.judgement.Repeatable || c.request.Read && outcome.WasCut()
}

// startBackoff starts the wait before another attempt, and reports whether the call may wait so long.
func (c *call) startBackoff(ctx context.Context, wait time.Duration) bool {
	if wait > c.longestWait() {
		c.outcome.Wait = wait
		return false
	}
	c.sent = nil
	c.used.waited += wait
	c.step.begin(ctx, c.request.Observe, Backoff, c.outcome.Attempts+1)
	return true
}

// longestWait returns how long the call may still wait: its waits take MaxWait together at most, and end before its deadline.
func (c *call) longestWait() time.Duration {
	return min(c.transport.MaxWait-c.used.waited, c.untilDeadline())
}

// untilDeadline returns how long the call may wait before its deadline. It leaves twice the usual response time, so that nothing is written
// that has no time for its response.
func (c *call) untilDeadline() time.Duration {
	deadline, ok := c.ctx.Deadline()
	if !ok {
		return forever
	}
	return time.Until(deadline) - 2*c.request.Slots.usualTime()
}

const forever = time.Duration(math.MaxInt64)

// Backoff returns how long to wait after the number of tries: a random part of retryablehttp's exponential wait, so that clients that failed
// together do not come back together.
func (t *Transport) Backoff(tries int) time.Duration {
	ceiling := retryablehttp.DefaultBackoff(t.MinWait, t.MaxWait, tries-1, nil)
	return time.Duration(rand.Float64() * float64(ceiling)) //nolint:gosec // no secret depends on it
}

// maxRetryAfter replaces a Retry-After of more than a century.
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

// IsPermanent reports whether another attempt would meet the same error: a certificate that was refused, no TLS at the other end, or
// a proxy that wants credentials.
func IsPermanent(err error) bool {
	isCertificate := isA[*tls.CertificateVerificationError](err) || isA[x509.UnknownAuthorityError](err) || isA[x509.HostnameError](err)
	return isCertificate || isA[tls.RecordHeaderError](err) || errors.Is(err, errProxyAuth)
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
