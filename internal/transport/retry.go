package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// checkRetry decides whether the exchange's last attempt is followed by another. It looks at what the attempt found
// out, not at what retryablehttp passes: a response is never given up because a context ended after it came.
func (t *Transport) checkRetry(ctx context.Context, _ *http.Response, _ error) (bool, error) {
	e := exchangeOf(ctx)
	e.again = t.again(e)
	return e.again, nil
}

func (t *Transport) again(e *exchange) bool {
	e.fresh = false
	if e.attempts == 0 || e.stopped || !t.worthRepeating(e) {
		return false
	}
	if err := e.Err(); err != nil {
		if !errors.Is(e.outcome.Err, err) {
			e.outcome.Interrupted = err
		}
		return false
	}
	if e.fresh {
		e.refused()
		e.refreshes++
	}
	return true
}

// worthRepeating tells whether another attempt may be made and could end better, were there time for it.
func (t *Transport) worthRepeating(e *exchange) bool {
	o := &e.outcome
	if o.StatusCode == http.StatusUnauthorized && e.refused != nil && e.refreshes == 0 {
		e.fresh = true
		return true
	}
	if e.attempts-e.refreshes >= t.MaxAttempts {
		return false
	}
	switch {
	case o.StatusCode == 0 && !o.Written:
		return !hopeless(o.Err)
	case o.StatusCode != 0 && slices.Contains(t.NotProcessed, o.StatusCode):
		return t.inTime(e)
	case !e.request.Repeatable:
		return false
	case o.StatusCode == 0:
		return true
	default:
		return (o.Err != nil && !errors.Is(o.Err, ErrTooLarge) || repeatableStatus(o.StatusCode)) && t.inTime(e)
	}
}

func repeatableStatus(code int) bool {
	switch code {
	case http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	default:
		return false
	}
}

// inTime tells whether the wait that the answer asks for is one that the policy and the deadline allow. One that is
// not fails at once instead of in vain later.
func (t *Transport) inTime(e *exchange) bool {
	if e.outcome.RetryAfter > t.MaxWait {
		return false
	}
	deadline, ok := e.Deadline()
	return !ok || e.outcome.RetryAfter == 0 || e.Err() != nil || e.outcome.RetryAfter < time.Until(deadline)
}

// hopeless tells of an error that another attempt meets again.
func hopeless(err error) bool {
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var header tls.RecordHeaderError
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &header)
}

// backoff is how long to wait before the next attempt: a random time up to minWait·2ⁿ and up to maxWait, so that
// clients which failed together do not come back together; and at least what the answer asked for.
func backoff(minWait, maxWait time.Duration, n int, resp *http.Response) time.Duration {
	asked := time.Duration(0)
	if resp != nil {
		e := exchangeOf(resp.Request.Context())
		if e.fresh {
			return 0
		}
		asked = e.outcome.RetryAfter
	}
	ceiling := min(float64(minWait)*math.Pow(2, float64(n)), float64(maxWait))
	return max(asked, time.Duration(rand.Float64()*ceiling)) //nolint:gosec // no secret depends on it
}

// furthest is what a Retry-After that no time.Duration holds is taken for.
const furthest = time.Duration(math.MaxInt64)

// retryAfter reads the header of that name: whole seconds or a date. One in the past is 0, one that is neither absent.
func retryAfter(h http.Header) (time.Duration, bool) {
	fields := h["Retry-After"]
	if len(fields) == 0 {
		return 0, false
	}
	field := strings.TrimSpace(fields[0])
	if field == "" {
		return 0, false
	}
	if strings.Trim(field, "0123456789") == "" {
		seconds, err := strconv.ParseInt(field, 10, 64)
		if err != nil || seconds > int64(furthest/time.Second) {
			return furthest, true
		}
		return time.Duration(seconds) * time.Second, true
	}
	date, err := http.ParseTime(field)
	if err != nil {
		return 0, false
	}
	return max(0, time.Until(date)), true // Sub and Until saturate by themselves
}
