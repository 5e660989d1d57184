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

func TestWhatIsRepeated(t *testing.T) {
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
		"success, cut":                        {cutAnswer(200), true, false},
		"refusal, cut":                        {cutAnswer(429), true, true},
		"unavailable, cut":                    {cutAnswer(503), true, false},
		"success that is too large":           {answers(200, strings.Repeat("x", 1<<20+1)), false, false},
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
		rows[fmt.Sprintf("HTTP %d", status)] = row{answers(status, "{}"), want[0], want[1]}
	}
	for name, tc := range rows {
		for kind, want := range map[string]bool{"read": tc.read, "send": tc.send} {
			t.Run(name+", "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					base := newBase(tc.react)
					tr := newTransport(base, func(c *Config) { c.NotProcessed = []int{425, 429} })
					request, most := aSend(), 1
					if kind == "read" {
						request = aRead()
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
func TestEachAttemptIsJudgedByItsOwnEvidence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newBase(unsent(io.EOF), answers(429, "wait", "Retry-After", "1", "X-Request-Id", "r"), silent(io.EOF))
		out := newTransport(base).Do(t.Context(), aSend())
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
		for name, react := range map[string]reaction{"answers": answers(429, ""), "errors": unsent(errRefused)} {
			t.Run(fmt.Sprint(most, " ", name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					base := newBase(react)
					out := newTransport(base, attemptsUpTo(most)).Do(t.Context(), aSend())
					assert.Equal(t, most, base.count())
					assert.Equal(t, most, out.Attempts)
				})
			})
		}
	}
}

func TestTheFirstSuccessEndsACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newBase(answers(503, "no"), breaks(io.EOF), answers(200, "yes"), answers(200, "again"))
		out := newTransport(base).Do(t.Context(), aRead())
		assert.Equal(t, 3, base.count())
		assert.Equal(t, Outcome{StatusCode: 200, Header: http.Header{}, Body: []byte("yes"), Written: true, Attempts: 3}, out)
	})
}

// issued is a source whose tokens are t1, t2 and so on.
func issued() (*Source, *int) {
	var mu sync.Mutex
	n := new(int)
	return NewSource(func(context.Context) (string, time.Time, error) {
		mu.Lock()
		defer mu.Unlock()
		*n++
		return fmt.Sprint("t", *n), time.Time{}, nil
	}), n
}

func TestUnauthorizedIsRepeatedOnceWithAFreshToken(t *testing.T) {
	no, busy, ok := answers(401, "who"), answers(429, ""), answers(200, "{}")
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
		"an answer that is cut says the same":      {1, []reaction{cutAnswer(401), ok}, 200, "t1 t2"},
		"a repeat that wrote nothing is retried":   {2, []reaction{no, unsent(errRefused), ok}, 200, "t1 t2 t2"},
		"a repeat in doubt is not":                 {4, []reaction{no, breaks(io.EOF), ok}, 0, "t1 t2"},
		"forbidden is no reason for a fresh token": {4, []reaction{answers(403, ""), ok}, 403, "t1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				base := newBase(tc.reactions...)
				source, _ := issued()
				tr := newTransport(base, attemptsUpTo(tc.most))
				out := tr.Do(t.Context(), authenticatedBy(aSend(), source.Authenticator("authorization", "Bearer")))
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

func TestUnauthorizedIsRepeatedWithoutAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newBase(answers(401, "", "Retry-After", "30"), answers(200, "{}"))
		source, _ := issued()
		start := time.Now()
		out := newTransport(base).Do(t.Context(), authenticatedBy(aSend(), source.Authenticator("Authorization", "")))
		require.Equal(t, 200, out.StatusCode)
		assert.Zero(t, time.Since(start))
	})
}

func TestUnauthorizedWithoutATokenSourceIsAnAnswer(t *testing.T) {
	for name, a := range map[string]Authenticator{
		"none": nil, "header": Header("Authorization", "Bearer x"), "custom": Custom(func(*http.Request) error { return nil }),
	} {
		for _, request := range []Request{aSend(), aRead()} {
			base := newBase(answers(401, "who"))
			out := newTransport(base).Do(t.Context(), authenticatedBy(request, a))
			assert.Equal(t, 401, out.StatusCode)
			assert.Equal(t, "who", string(out.Body))
			assert.Equal(t, 1, base.count(), "%s, %s", name, request.Operation)
		}
	}
}

func TestUnauthorizedIsKeptWhereTheContextHasEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	base := newBase(func(r *http.Request) (*http.Response, error) {
		cancel()
		return answers(401, "who")(r)
	})
	source, fetched := issued()
	out := newTransport(base).Do(ctx, authenticatedBy(aSend(), source.Authenticator("Authorization", "")))
	assert.Equal(t, 401, out.StatusCode)
	assert.Equal(t, "who", string(out.Body))
	assert.ErrorIs(t, out.Interrupted, context.Canceled)
	assert.NoError(t, out.Err)
	assert.Equal(t, 1, base.count())
	assert.Equal(t, 1, *fetched)
}

// The contract may list 401 among the statuses of requests that were not processed.
func TestOnlyTheRepeatWithAFreshTokenDoesNotWait(t *testing.T) {
	no := func(wait string) reaction { return answers(401, "", "Retry-After", wait) }
	ok := answers(200, "{}")
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
		"a source, refused after a wait":    {source(), []reaction{answers(429, "", "Retry-After", "3"), no("5"), ok}, 3 * time.Second},
		"a source, then another wait":       {source(), []reaction{no("5"), answers(429, "", "Retry-After", "3"), ok}, 3 * time.Second},
		"a source, asked to wait very long": {source(), []reaction{no("9999"), ok}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				base := newBase(tc.reactions...)
				start := time.Now()
				out := newTransport(base, func(c *Config) { c.NotProcessed = []int{401, 429} }).Do(t.Context(), authenticatedBy(aSend(), tc.a))
				assert.Equal(t, 200, out.StatusCode)
				assert.Equal(t, tc.want, time.Since(start))
			})
		})
	}
}

func TestWaitsAreRandomAndBounded(t *testing.T) {
	const rounds = 200
	least, most := 100*time.Millisecond, 350*time.Millisecond
	bounds := []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 350 * time.Millisecond, 350 * time.Millisecond}
	for name, react := range map[string]reaction{"answers": answers(503, ""), "errors": unsent(errRefused), "unreadable": answers(503, "", "Retry-After", "soon"), "no wait asked for": answers(503, "", "Retry-After", "0")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				shortest, longest := [4]time.Duration{most, most, most, most}, [4]time.Duration{}
				for range rounds {
					base := newBase(react)
					newTransport(base, attemptsUpTo(5), waits(least, most)).Do(t.Context(), aRead())
					require.Equal(t, 5, base.count())
					for i := range 4 {
						wait := base.requests()[i+1].at.Sub(base.requests()[i].at)
						shortest[i], longest[i] = min(shortest[i], wait), max(longest[i], wait)
					}
				}
				for i, bound := range bounds {
					assert.LessOrEqual(t, longest[i], bound, "wait %d", i+1)
					assert.Greater(t, longest[i], bound*8/10, "wait %d uses its room", i+1)
					assert.Less(t, shortest[i], bound*2/10, "wait %d is jittered in full", i+1)
				}
			})
		})
	}
}

func TestBackoffStaysWithinItsBoundHoweverLate(t *testing.T) {
	for _, n := range []int{0, 1, 30, 62, 63, 64, 1023, 1024, 5000, math.MaxInt32} {
		for _, bounds := range [][2]time.Duration{
			{time.Nanosecond, time.Minute},
			{200 * time.Millisecond, time.Minute},
			{time.Minute, time.Minute},
			{200 * time.Millisecond, math.MaxInt64},
		} {
			for range 20 {
				wait := backoff(bounds[0], bounds[1], n, nil)
				assert.GreaterOrEqual(t, wait, time.Duration(0), n)
				assert.LessOrEqual(t, wait, bounds[1], n)
			}
		}
	}
}

func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now().UTC()
		type result struct {
			wait time.Duration
			ok   bool
		}
		none := result{}
		for field, want := range map[string]result{
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
			"0":                         {0, true},
			"7":                         {7 * time.Second, true},
			" 7\t":                      {7 * time.Second, true},
			"007":                       {7 * time.Second, true},
			"3600":                      {time.Hour, true},
			"9223372036":                {9223372036 * time.Second, true},
			"9223372037":                {furthest, true},
			"18446744073":               {furthest, true}, // would be negative by overflow
			"18446744074":               {furthest, true}, // would be a short while by overflow
			"9223372036854775807":       {furthest, true},
			"9223372036854775808":       {furthest, true},
			strings.Repeat("9", 400):    {furthest, true},
			now.Format(http.TimeFormat): {0, true},
			now.Add(90 * time.Second).Format(http.TimeFormat):                  {90 * time.Second, true},
			now.Add(90 * time.Second).Format("Monday, 02-Jan-06 15:04:05 GMT"): {90 * time.Second, true},
			now.Add(90 * time.Second).Format(time.ANSIC):                       {90 * time.Second, true},
			"Thu, 01 Jan 1970 00:00:00 GMT":                                    {0, true},
			"Fri, 31 Dec 9999 23:59:59 GMT":                                    {furthest, true},
			"Sat, 32 Jan 2000 00:00:00 GMT":                                    none,
		} {
			wait, ok := retryAfter(http.Header{"Retry-After": {field}})
			assert.Equal(t, want, result{wait, ok}, "%q", field)
		}
		_, ok := retryAfter(nil)
		assert.False(t, ok)
	})
}

func TestRetryAfterIsWaitedFor(t *testing.T) {
	date := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
	for name, tc := range map[string]struct {
		request Request
		status  int
		field   func() string
		want    time.Duration
	}{
		"seconds, send":           {aSend(), 429, func() string { return "5" }, 5 * time.Second},
		"seconds, read":           {aRead(), 429, func() string { return "5" }, 5 * time.Second},
		"unavailable":             {aRead(), 503, func() string { return "5" }, 5 * time.Second},
		"any other":               {aRead(), 500, func() string { return "5" }, 5 * time.Second},
		"date":                    {aSend(), 429, func() string { return date(20 * time.Second) }, 20 * time.Second},
		"as long as the policy":   {aSend(), 429, func() string { return "60" }, time.Minute},
		"shorter than the jitter": {aSend(), 429, func() string { return "0" }, 0},
		"past":                    {aSend(), 429, func() string { return date(-time.Hour) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				base := newBase(answers(tc.status, "", "Retry-After", tc.field()), answers(200, "{}"))
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

func TestARetryAfterThatIsTooLongEndsTheCallAtOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		field    string
		deadline time.Duration
		want     time.Duration
	}{
		"beyond the policy":          {"61", 0, 61 * time.Second},
		"huge":                       {"99999999999", 0, furthest},
		"beyond the deadline":        {"30", 20 * time.Second, 30 * time.Second},
		"as late as the deadline":    {"20", 20 * time.Second, 20 * time.Second},
		"a date beyond the deadline": {"Sat, 01 Jan 2000 00:00:30 GMT", 20 * time.Second, 30 * time.Second},
	} {
		for _, request := range []Request{aSend(), aRead()} {
			t.Run(name+", "+request.Operation, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx := t.Context()
					if tc.deadline > 0 {
						var cancel context.CancelFunc
						ctx, cancel = context.WithTimeout(ctx, tc.deadline)
						defer cancel()
					}
					base := newBase(answers(429, "slow down", "Retry-After", tc.field))
					start := time.Now()
					out := newTransport(base).Do(ctx, request)
					assert.Zero(t, time.Since(start))
					assert.Equal(t, 1, base.count())
					assert.Equal(t, 429, out.StatusCode)
					assert.Equal(t, "slow down", string(out.Body))
					assert.Equal(t, tc.want, out.RetryAfter)
					assert.NoError(t, out.Err)
					assert.NoError(t, out.Interrupted)
				})
			})
		}
	}
}

func TestARetryAfterWithinTheDeadlineIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 21*time.Second)
		defer cancel()
		base := newBase(answers(429, "", "Retry-After", "20"), answers(200, "{}"))
		assert.Equal(t, 200, newTransport(base).Do(ctx, aSend()).StatusCode)
	})
}

func TestAContextThatEndsInTheWaitKeepsWhatIsKnown(t *testing.T) {
	t.Run("an answer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(3*time.Second, cancel)
			base := newBase(answers(429, "slow down", "Retry-After", "10", "X-Request-Id", "r-1"))
			start := time.Now()
			out := newTransport(base).Do(ctx, aSend())
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
			ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
			defer cancel()
			out := newTransport(newBase(unsent(errRefused)), waits(time.Hour, time.Hour)).Do(ctx, aSend())
			require.ErrorIs(t, out.Interrupted, context.DeadlineExceeded)
			assert.ErrorIs(t, out.Err, errRefused)
			assert.NotErrorIs(t, out.Err, context.DeadlineExceeded)
			assert.False(t, out.Written)
			assert.Zero(t, out.StatusCode)
			assert.Equal(t, 1, out.Attempts)
		})
	})
	t.Run("of the last attempt, not the first", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(15*time.Second, cancel)
			base := newBase(answers(503, "first", "Retry-After", "10"), answers(502, "second", "Retry-After", "10"))
			out := newTransport(base).Do(ctx, aRead())
			require.ErrorIs(t, out.Interrupted, context.Canceled)
			assert.Equal(t, 502, out.StatusCode)
			assert.Equal(t, "second", string(out.Body))
			assert.Equal(t, 2, out.Attempts)
		})
	})
}

func TestOnlyACallThatWouldGoOnIsInterrupted(t *testing.T) {
	for name, tc := range map[string]struct {
		request Request
		react   reaction
		most    int
	}{
		"a success":        {aSend(), answers(200, "{}"), 4},
		"a refusal":        {aSend(), answers(400, "{}"), 4},
		"a send in doubt":  {aSend(), breaks(io.EOF), 4},
		"the last attempt": {aSend(), answers(429, ""), 1},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			base := newBase(func(r *http.Request) (*http.Response, error) {
				cancel()
				return tc.react(r)
			})
			out := newTransport(base, attemptsUpTo(tc.most)).Do(ctx, tc.request)
			assert.Equal(t, 1, base.count())
			assert.NoError(t, out.Interrupted)
		})
	}
}

func TestACallWhoseContextEndedBeforeItWouldGoOnIsInterrupted(t *testing.T) {
	for name, tc := range map[string]struct {
		request Request
		react   reaction
		want    bool
	}{
		"a send that was not processed":     {aSend(), answers(429, "slow down"), true},
		"one that is asked to wait":         {aSend(), answers(429, "slow down", "Retry-After", "5"), true},
		"a read":                            {aRead(), answers(503, "down"), true},
		"an error that is the context's":    {aRead(), hangs, false},
		"one that was caused by it":         {aRead(), breaks(errReset), false},
		"nothing was written, caused by it": {aSend(), unsent(errRefused), false},
		"an answer that was cut by it":      {aRead(), cutAnswer(503), false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, want := range []error{context.Canceled, context.DeadlineExceeded} {
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					base := newBase(func(r *http.Request) (*http.Response, error) {
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

func TestHopelessErrorsAreFoundHoweverDeep(t *testing.T) {
	deep := fmt.Errorf("a: %w", errors.Join(io.EOF, fmt.Errorf("b: %w", &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}})))
	assert.True(t, hopeless(deep))
	assert.False(t, hopeless(errRefused))
	assert.False(t, hopeless(nil))
}
