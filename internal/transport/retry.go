package transport

import (
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

// canRefresh reports whether another attempt follows with a fresh token.
func (c *call) canRefresh() bool {
	return c.judgement.TokenRefused && c.forgetToken != nil && !c.refreshed
}

// mayBackOff reports whether the call may wait for another attempt.
func (c *call) mayBackOff() bool { return !c.request.Once && c.transport.MaxAttempts > 1 }

// mayRepeat reports whether another attempt is safe and allowed, and may end better.
func (c *call) mayRepeat() bool {
	outcome := &c.outcome
	switch {
	case !c.mayBackOff(), c.tries >= c.transport.MaxAttempts:
		return false
	case outcome.StatusCode == 0 && !outcome.Written:
		return !IsPermanent(outcome.Err)
	case outcome.StatusCode == 0:
		return c.request.Read
	}
	wasCut := outcome.Err != nil && !errors.Is(outcome.Err, errTooLarge)
	return c.judgement.Repeatable || c.request.Read && wasCut
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

// Backoff returns how long to wait after so many tries: a random part of retryablehttp's exponential wait, so that clients that failed
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
