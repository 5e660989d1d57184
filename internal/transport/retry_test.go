package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRetry(t *testing.T) {
	type row struct {
		react      reaction
		read, send bool
	}
	rows := map[string]row{
		"written, then EOF":                   {breaks(io.EOF), true, false},
		"written, then cut":                   {breaks(io.ErrUnexpectedEOF), true, false},
		"written, then reset":                 {breaks(errReset), true, false},
		"written, then an unknown error":      {breaks(errSecret), true, false},
		"written, then no answer in time":     {hangs, true, false},
		"written, although the error is dial": {breaks(errRefused), true, false},
		"success, cut":                        {cutResponse(200), true, false},
		"refusal, cut":                        {cutResponse(429), true, true},
		"unavailable, cut":                    {cutResponse(503), true, false},
		"success that is too large":           {responds(200, strings.Repeat("x", 1<<20+1)), false, false},
		"connecting failed":                   {unsent(io.EOF), true, true},
		"dial failed":                         {unsent(errRefused), true, true},
		"dial failed, no evidence":            {silent(errRefused), true, true},
		"EOF, no evidence":                    {silent(io.EOF), true, false},
		"neither answer nor error":            {func(*http.Request) (*http.Response, error) { return nil, nil }, true, false},
		"certificate refused":                 {unsent(&tls.CertificateVerificationError{Err: errSecret}), false, false},
		"unknown authority":                   {unsent(fmt.Errorf("wrapped: %w", x509.UnknownAuthorityError{})), false, false},
		"wrong host in certificate":           {unsent(x509.HostnameError{Certificate: &x509.Certificate{}, Host: "h"}), false, false},
		"no TLS at the other end":             {unsent(tls.RecordHeaderError{Msg: "not TLS"}), false, false},
	}
	for status, want := range map[int][2]bool{
		200: {}, 201: {}, 204: {}, 302: {}, 307: {}, 400: {}, 401: {}, 403: {}, 404: {}, 409: {}, 422: {}, 501: {}, 505: {},
		408: {true, false}, 500: {true, false}, 502: {true, false}, 503: {true, false}, 504: {true, false},
		425: {true, true}, 429: {true, true}, // which are listed as not processed
	} {
		rows[fmt.Sprintf("HTTP %d", status)] = row{responds(status, "{}"), want[0], want[1]}
	}
	for name, tc := range rows {
		for kind, want := range map[string]bool{"read": tc.read, "send": tc.send} {
			t.Run(name+", "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					base := newFakeBase(tc.react)
					tr := newTransport(base)
					request, most := sendRequest(), 1
					request.Judge = judge{425, 429}
					if kind == "read" {
						request = readRequest()
						request.Judge = append(request.Judge.(judge), 425)
					}
					if want {
						most = 4
					}
					out := tr.Do(t.Context(), request)
					assert.Equal(t, most, base.count())
					assert.Equal(t, most, out.Attempts)
					assert.NoError(t, out.Interrupted)
				})
			})
		}
	}
}

// Without evidence of its own an attempt must not be taken for the one before it.
func TestEvidenceIsOfOneAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newFakeBase(unsent(io.EOF), responds(429, "wait", "Retry-After", "1", "X-Request-Id", "r"), silent(io.EOF))
		out := newTransport(base).Do(t.Context(), sendRequest())
		assert.Equal(t, 3, base.count())
		assert.True(t, out.Written, "hooks of the first attempt are no evidence for the third")
		assert.ErrorIs(t, out.Err, io.EOF)
		assert.Zero(t, out.StatusCode, "nor is the answer of the second")
		assert.Nil(t, out.Header)
		assert.Nil(t, out.Body)
		assert.Zero(t, out.RetryAfter)
	})
}

func TestMaxAttemptsIsExact(t *testing.T) {
	for _, most := range []int{1, 2, 3, 9} {
		for name, react := range map[string]reaction{"answers": responds(429, ""), "errors": unsent(errRefused)} {
			t.Run(fmt.Sprint(most, " ", name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					base := newFakeBase(react)
					out := newTransport(base, attemptsUpTo(most)).Do(t.Context(), sendRequest())
					assert.Equal(t, most, base.count())
					assert.Equal(t, most, out.Attempts)
				})
			})
		}
	}
}

func TestRetryEndsWithTheFirstSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newFakeBase(responds(503, "no"), breaks(io.EOF), responds(200, "yes"), responds(200, "again"))
		out := newTransport(base).Do(t.Context(), readRequest())
		assert.Equal(t, 3, base.count())
		assertOutcome(t, Outcome{StatusCode: 200, Header: http.Header{}, Body: []byte("yes"), Written: true, Attempts: 3}, out)
	})
}

// issued is a source whose tokens are t1, t2 and so on.
func issued() (*TokenSource, *int) {
	var mu sync.Mutex
	n := new(int)
	return NewTokenSource(func(context.Context) (string, time.Time, error) {
		mu.Lock()
		defer mu.Unlock()
		*n++
		return fmt.Sprint("t", *n), time.Time{}, nil
	}), n
}

func TestUnauthorizedIsRetriedOnceWithAFreshToken(t *testing.T) {
	no, busy, ok := responds(401, "who"), responds(429, ""), responds(200, "{}")
	for name, tc := range map[string]struct {
		most      int
		reactions []reaction
		status    int
		tokens    string
	}{
		"then it succeeds":                         {4, []reaction{no, ok}, 200, "t1 t2"},
		"also with one attempt":                    {1, []reaction{no, ok}, 200, "t1 t2"},
		"not twice":                                {4, []reaction{no}, 401, "t1 t2"},
		"not twice with one attempt":               {1, []reaction{no}, 401, "t1 t2"},
		"the repeat is retried":                    {2, []reaction{no, busy, ok}, 200, "t1 t2 t2"},
		"the repeat does not count":                {3, []reaction{no, busy}, 429, "t1 t2 t2 t2"},
		"the repeat is not retried beyond":         {1, []reaction{no, busy, ok}, 429, "t1 t2"},
		"after a retry":                            {2, []reaction{busy, no, ok}, 200, "t1 t1 t2"},
		"after the last attempt":                   {2, []reaction{busy, no, no}, 401, "t1 t1 t2"},
		"between retries":                          {3, []reaction{busy, no, busy, ok}, 200, "t1 t1 t2 t2"},
		"a second one later is an answer":          {4, []reaction{no, busy, no, ok}, 401, "t1 t2 t2"},
		"an answer that is cut says the same":      {1, []reaction{cutResponse(401), ok}, 200, "t1 t2"},
		"a repeat that wrote nothing is retried":   {2, []reaction{no, unsent(errRefused), ok}, 200, "t1 t2 t2"},
		"a repeat in doubt is not":                 {4, []reaction{no, breaks(io.EOF), ok}, 0, "t1 t2"},
		"forbidden is no reason for a fresh token": {4, []reaction{responds(403, ""), ok}, 403, "t1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				base := newFakeBase(tc.reactions...)
				source, _ := issued()
				tr := newTransport(base, attemptsUpTo(tc.most))
				out := tr.Do(t.Context(), authenticatedBy(sendRequest(), source.Authenticator("authorization", "Bearer")))
				var tokens []string
				for _, request := range base.requests() {
					tokens = append(tokens, strings.TrimPrefix(request.header.Get("Authorization"), "Bearer "))
					assert.Equal(t, sendBody, request.body)
				}
				assert.Equal(t, tc.tokens, strings.Join(tokens, " "))
				assert.Equal(t, tc.status, out.StatusCode)
				assert.Equal(t, len(tokens), out.Attempts)
			})
		})
	}
}

func TestUnauthorizedIsRetriedWithoutWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newFakeBase(responds(401, "", "Retry-After", "30"), responds(200, "{}"))
		source, _ := issued()
		start := time.Now()
		out := newTransport(base).Do(t.Context(), authenticatedBy(sendRequest(), source.Authenticator("Authorization", "")))
		require.Equal(t, 200, out.StatusCode)
		assert.Zero(t, time.Since(start))
	})
}

func TestUnauthorizedIsNotRetriedWithoutATokenSource(t *testing.T) {
	for name, a := range map[string]Authenticator{
		"none": nil, "header": Header("Authorization", "Bearer x"), "custom": Custom(func(*http.Request) error { return nil }),
	} {
		for _, request := range []Request{sendRequest(), readRequest()} {
			base := newFakeBase(responds(401, "who"))
			out := newTransport(base).Do(t.Context(), authenticatedBy(request, a))
			assert.Equal(t, 401, out.StatusCode)
			assert.Equal(t, "who", string(out.Body))
			assert.Equal(t, 1, base.count(), "%s, %s", name, request.Method)
		}
	}
}

func TestUnauthorizedIsKeptIfTheContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	base := newFakeBase(func(r *http.Request) (*http.Response, error) {
		cancel()
		return responds(401, "who")(r)
	})
	source, fetched := issued()
	out := newTransport(base).Do(ctx, authenticatedBy(sendRequest(), source.Authenticator("Authorization", "")))
	assert.Equal(t, 401, out.StatusCode)
	assert.Equal(t, "who", string(out.Body))
	assert.ErrorIs(t, out.Interrupted, context.Canceled)
	assert.NoError(t, out.Err)
	assert.Equal(t, 1, base.count())
	assert.Equal(t, 1, *fetched)
}

// The contract may list 401 among the statuses of requests that were not processed.
func TestUnauthorizedWaitsUnlessTheTokenIsFresh(t *testing.T) {
	no := func(wait string) reaction { return responds(401, "", "Retry-After", wait) }
	ok := responds(200, "{}")
	source := func() Authenticator { s, _ := issued(); return s.Authenticator("Authorization", "") }
	for name, tc := range map[string]struct {
		a         Authenticator
		reactions []reaction
		want      time.Duration
	}{
		"no source":                         {nil, []reaction{no("5"), ok}, 5 * time.Second},
		"a header":                          {Header("Authorization", "x"), []reaction{no("5"), no("7"), ok}, 12 * time.Second},
		"a source":                          {source(), []reaction{no("5"), ok}, 0},
		"a source, refused again":           {source(), []reaction{no("5"), no("7"), ok}, 7 * time.Second},
		"a source, refused after a wait":    {source(), []reaction{responds(429, "", "Retry-After", "3"), no("5"), ok}, 3 * time.Second},
		"a source, then another wait":       {source(), []reaction{no("5"), responds(429, "", "Retry-After", "3"), ok}, 3 * time.Second},
		"a source, asked to wait very long": {source(), []reaction{no("9999"), ok}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				base := newFakeBase(tc.reactions...)
				start := time.Now()
				request := authenticatedBy(sendRequest(), tc.a)
				request.Judge = judge{401, 429}
				out := newTransport(base).Do(t.Context(), request)
				assert.Equal(t, 200, out.StatusCode)
				assert.Equal(t, tc.want, time.Since(start))
			})
		})
	}
}

func TestBackoffIsRandomAndBounded(t *testing.T) {
	const rounds = 200
	tr := &Transport{MinWait: 100 * time.Millisecond, MaxWait: 350 * time.Millisecond}
	for i, ceiling := range []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 350 * time.Millisecond, 350 * time.Millisecond} {
		shortest, longest := tr.MaxWait, time.Duration(0)
		for range rounds {
			wait := tr.Backoff(i + 1)
			shortest = min(shortest, wait)
			longest = max(longest, wait)
		}
		assert.LessOrEqual(t, longest, ceiling, "wait %d", i+1)
		assert.Greater(t, longest, ceiling*8/10, "wait %d uses its room", i+1)
		assert.Less(t, shortest, ceiling*2/10, "wait %d is jittered in full", i+1)
	}
}

func TestBackoffGrowsWithTheTries(t *testing.T) {
	for name, react := range map[string]reaction{
		"answers": responds(503, ""), "errors": unsent(errRefused), "unreadable": responds(503, "", "Retry-After", "soon"),
		"no wait asked for": responds(503, "", "Retry-After", "0"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var longest [3]time.Duration
				for range 50 {
					base := newFakeBase(react)
					newTransport(base, waits(100*time.Millisecond, time.Second)).Do(t.Context(), readRequest())
					require.Equal(t, 4, base.count())
					for i := range longest {
						longest[i] = max(longest[i], base.requests()[i+1].at.Sub(base.requests()[i].at))
					}
				}
				for i, ceiling := range []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond} {
					assert.LessOrEqual(t, longest[i], ceiling, "wait %d", i+1)
					assert.Greater(t, longest[i], ceiling/2, "wait %d", i+1)
				}
			})
		})
	}
}

func TestBackoffDoesNotOverflow(t *testing.T) {
	for _, n := range []int{1, 2, 30, 62, 63, 64, 1023, 1024, 5000, math.MaxInt32 - 1} {
		for _, bounds := range [][2]time.Duration{
			{time.Nanosecond, time.Minute},
			{200 * time.Millisecond, time.Minute},
			{time.Minute, time.Minute},
			{200 * time.Millisecond, math.MaxInt64},
		} {
			tr := &Transport{MinWait: bounds[0], MaxWait: bounds[1]}
			for range 20 {
				wait := tr.Backoff(n)
				assert.GreaterOrEqual(t, wait, time.Duration(0), n)
				assert.LessOrEqual(t, wait, bounds[1], n)
			}
		}
	}
}

func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now().UTC()
		const none = time.Duration(0)
		for field, want := range map[string]time.Duration{
			"":                          none,
			"   ":                       none,
			"\t":                        none,
			"soon":                      none,
			"-5":                        none,
			"+5":                        none,
			"1.5":                       none,
			"1e3":                       none,
			"0x10":                      none,
			"7s":                        none,
			"7, 8":                      none,
			"1 000":                     none,
			"٧":                         none,
			"2000-01-01T00:01:30Z":      none,
			"0":                         0,
			"7":                         7 * time.Second,
			" 7\t":                      7 * time.Second,
			"007":                       7 * time.Second,
			"3600":                      time.Hour,
			"9223372036":                maxRetryAfter,
			"9223372037":                maxRetryAfter,
			"18446744073":               maxRetryAfter, // would be negative by overflow
			"18446744074":               maxRetryAfter, // would be a short while by overflow
			"9223372036854775807":       maxRetryAfter,
			"9223372036854775808":       maxRetryAfter,
			strings.Repeat("9", 400):    maxRetryAfter,
			now.Format(http.TimeFormat): 0,
			now.Add(90 * time.Second).Format(http.TimeFormat):                  90 * time.Second,
			now.Add(90 * time.Second).Format("Monday, 02-Jan-06 15:04:05 GMT"): 90 * time.Second,
			now.Add(90 * time.Second).Format(time.ANSIC):                       90 * time.Second,
			"Thu, 01 Jan 1970 00:00:00 GMT":                                    0,
			"Fri, 31 Dec 9999 23:59:59 GMT":                                    maxRetryAfter,
			"Sat, 32 Jan 2000 00:00:00 GMT":                                    none,
		} {
			assert.Equal(t, want, retryAfter(http.Header{"Retry-After": {field}}), "%q", field)
		}
		assert.Zero(t, retryAfter(nil))
	})
}

// A clock that is wrong, here or there, neither gives up nor waits for ever.
func TestRetryAfterCountsFromTheDateOfTheResponse(t *testing.T) {
	for name, theirs := range map[string]time.Duration{"ahead": time.Hour, "behind": -time.Hour, "right": 0} {
		now := time.Now().Add(theirs).UTC()
		h := http.Header{"Retry-After": {now.Add(30 * time.Second).Format(http.TimeFormat)}, "Date": {now.Format(http.TimeFormat)}}
		assert.Equal(t, 30*time.Second, retryAfter(h), name)
		h.Set("Retry-After", now.Add(-time.Second).Format(http.TimeFormat))
		assert.Zero(t, retryAfter(h), name)
		h.Set("Retry-After", "7")
		assert.Equal(t, 7*time.Second, retryAfter(h), name)
	}
}

func TestRetryAfterIsWaitedFor(t *testing.T) {
	date := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
	for name, tc := range map[string]struct {
		request Request
		status  int
		field   func() string
		want    time.Duration
	}{
		"seconds, send":           {sendRequest(), 429, func() string { return "5" }, 5 * time.Second},
		"seconds, read":           {readRequest(), 429, func() string { return "5" }, 5 * time.Second},
		"unavailable":             {readRequest(), 503, func() string { return "5" }, 5 * time.Second},
		"any other":               {readRequest(), 500, func() string { return "5" }, 5 * time.Second},
		"date":                    {sendRequest(), 429, func() string { return date(20 * time.Second) }, 20 * time.Second},
		"as long as the policy":   {sendRequest(), 429, func() string { return "60" }, time.Minute},
		"shorter than the jitter": {sendRequest(), 429, func() string { return "0" }, 0},
		"past":                    {sendRequest(), 429, func() string { return date(-time.Hour) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				base := newFakeBase(responds(tc.status, "", "Retry-After", tc.field()), responds(200, "{}"))
				start := time.Now()
				out := newTransport(base).Do(t.Context(), tc.request)
				require.Equal(t, 200, out.StatusCode)
				if tc.want > 0 {
					assert.Equal(t, tc.want, time.Since(start))
				} else {
					assert.Less(t, time.Since(start), 200*time.Millisecond)
				}
				assert.Zero(t, out.RetryAfter, "the success asks for nothing")
			})
		})
	}
}

func TestRetryAfterTooLongFailsAtOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		field    string
		deadline time.Duration
		want     time.Duration
	}{
		"beyond the policy":          {"61", 0, 61 * time.Second},
		"huge":                       {"99999999999", 0, maxRetryAfter},
		"beyond the deadline":        {"30", 20 * time.Second, 30 * time.Second},
		"a date beyond the deadline": {"Sat, 01 Jan 2000 00:00:30 GMT", 20 * time.Second, 30 * time.Second},
	} {
		for _, request := range []Request{sendRequest(), readRequest()} {
			t.Run(name+", "+request.Method, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx := t.Context()
					if tc.deadline > 0 {
						var cancel context.CancelFunc
						ctx, cancel = context.WithTimeout(ctx, tc.deadline)
						defer cancel()
					}
					base := newFakeBase(responds(429, "slow down", "Retry-After", tc.field))
					start := time.Now()
					out := newTransport(base).Do(ctx, request)
					assert.Zero(t, time.Since(start))
					assert.Equal(t, 1, base.count())
					assert.Equal(t, 429, out.StatusCode)
					assert.Equal(t, "slow down", string(out.Body))
					assert.Equal(t, tc.want, out.RetryAfter)
					assert.Equal(t, tc.want, out.Wait)
					assert.NoError(t, out.Err)
					assert.NoError(t, out.Interrupted)
				})
			})
		}
	}
}

func TestRetryAfterWithinTheDeadlineIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 21*time.Second)
		defer cancel()
		base := newFakeBase(responds(429, "", "Retry-After", "20"), responds(200, "{}"))
		assert.Equal(t, 200, newTransport(base).Do(ctx, sendRequest()).StatusCode)
	})
}

func TestInterruptedWaitKeepsTheOutcome(t *testing.T) {
	t.Run("an answer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(3*time.Second, cancel)
			base := newFakeBase(responds(429, "slow down", "Retry-After", "10", "X-Request-Id", "r-1"))
			start := time.Now()
			out := newTransport(base).Do(ctx, sendRequest())
			assert.Equal(t, 3*time.Second, time.Since(start))
			require.ErrorIs(t, out.Interrupted, context.Canceled)
			assert.Equal(t, 429, out.StatusCode)
			assert.Equal(t, "slow down", string(out.Body))
			assert.Equal(t, "r-1", out.Header.Get("X-Request-Id"))
			assert.Equal(t, 10*time.Second, out.RetryAfter)
			assert.True(t, out.Written)
			assert.NoError(t, out.Err)
			assert.Equal(t, 1, out.Attempts)
		})
	})
	t.Run("an error", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Nanosecond, cancel)
			out := newTransport(newFakeBase(unsent(errRefused)), waits(time.Hour, time.Hour)).Do(ctx, sendRequest())
			require.ErrorIs(t, out.Interrupted, context.Canceled)
			assert.ErrorIs(t, out.Err, errRefused)
			assert.NotErrorIs(t, out.Err, context.Canceled)
			assert.False(t, out.Written)
			assert.Zero(t, out.StatusCode)
			assert.Equal(t, 1, out.Attempts)
		})
	})
	t.Run("of the last attempt, not the first", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(15*time.Second, cancel)
			base := newFakeBase(responds(503, "first", "Retry-After", "10"), responds(502, "second", "Retry-After", "10"))
			out := newTransport(base).Do(ctx, readRequest())
			require.ErrorIs(t, out.Interrupted, context.Canceled)
			assert.Equal(t, 502, out.StatusCode)
			assert.Equal(t, "second", string(out.Body))
			assert.Equal(t, 2, out.Attempts)
		})
	})
}

func TestInterruptedIsNilIfNothingWouldFollow(t *testing.T) {
	for name, tc := range map[string]struct {
		request Request
		react   reaction
		most    int
	}{
		"a success":        {sendRequest(), responds(200, "{}"), 4},
		"a refusal":        {sendRequest(), responds(400, "{}"), 4},
		"a send in doubt":  {sendRequest(), breaks(io.EOF), 4},
		"the last attempt": {sendRequest(), responds(429, ""), 1},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			base := newFakeBase(func(r *http.Request) (*http.Response, error) {
				cancel()
				return tc.react(r)
			})
			out := newTransport(base, attemptsUpTo(tc.most)).Do(ctx, tc.request)
			assert.Equal(t, 1, base.count())
			assert.NoError(t, out.Interrupted)
		})
	}
}

func TestInterruptedIsSetIfARetryWouldFollow(t *testing.T) {
	for name, tc := range map[string]struct {
		request Request
		react   reaction
		want    bool
	}{
		"a send that was not processed":     {sendRequest(), responds(429, "slow down"), true},
		"one that is asked to wait":         {sendRequest(), responds(429, "slow down", "Retry-After", "5"), true},
		"a read":                            {readRequest(), responds(503, "down"), true},
		"an error that is the context's":    {readRequest(), hangs, false},
		"one that was caused by it":         {readRequest(), breaks(errReset), false},
		"nothing was written, caused by it": {sendRequest(), unsent(errRefused), false},
		"an answer that was cut by it":      {readRequest(), cutResponse(503), false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, want := range []error{context.Canceled, context.DeadlineExceeded} {
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					base := newFakeBase(func(r *http.Request) (*http.Response, error) {
						if errors.Is(want, context.Canceled) {
							cancel()
						}
						<-ctx.Done()
						return tc.react(r)
					})
					out := newTransport(base).Do(ctx, tc.request)
					cancel()
					assert.Equal(t, 1, base.count())
					assert.Equal(t, 1, out.Attempts)
					if tc.want {
						assert.ErrorIs(t, out.Interrupted, want)
						assert.NoError(t, out.Err)
						assert.NotEmpty(t, out.Body)
					} else {
						assert.NoError(t, out.Interrupted)
						assert.ErrorIs(t, out.Err, want)
					}
				}
			})
		})
	}
}

func TestIsPermanentUnwraps(t *testing.T) {
	deep := fmt.Errorf("a: %w", errors.Join(io.EOF, fmt.Errorf("b: %w", &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}})))
	assert.True(t, IsPermanent(deep))
	assert.False(t, IsPermanent(errRefused))
	assert.False(t, IsPermanent(nil))
}
