package transport

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func once(r Request) Request {
	r.Once = true
	return r
}

// With one attempt a call never backs off; nor does one of a SendAll, which waits itself.
func TestCallThatNeverBacksOff(t *testing.T) {
	for kind, tc := range map[string]struct {
		most   int
		change func(Request) Request
	}{
		"MaxAttempts 1": {1, func(r Request) Request { return r }},
		"Once":          {4, once},
	} {
		for name, react := range map[string]reaction{
			"throttled": responds(429, ""), "asked to wait": responds(429, "", "Retry-After", "5"), "unsent": unsent(errRefused),
		} {
			t.Run(kind+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					base := newFakeBase(react)
					began := time.Now()
					out := newTransport(base, attemptsUpTo(tc.most)).Do(t.Context(), tc.change(sendRequest()))
					assert.Zero(t, time.Since(began))
					assert.Equal(t, 1, base.count())
					assert.NoError(t, out.Interrupted)
				})
			})
		}
		t.Run(kind+", an open breaker", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPair()
				p.open(t, responds(503, "", "Retry-After", "5"))
				base := newFakeBase(responds(200, "{}"))
				began := time.Now()
				out := newTransport(base, attemptsUpTo(tc.most)).Do(t.Context(), tc.change(p.asking()))
				assert.Zero(t, time.Since(began))
				open, ok := errors.AsType[*OpenError](out.Err)
				require.True(t, ok)
				assertOutcome(t, Outcome{Err: out.Err, Wait: open.RetryAfter}, out)
				assert.Zero(t, base.count())
			})
		})
		t.Run(kind+", a fresh token", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source, _ := issued()
				request := authenticatedBy(tc.change(sendRequest()), source.Authenticator("Authorization", ""))
				base := newFakeBase(responds(401, ""), responds(200, "{}"))
				out := newTransport(base, attemptsUpTo(tc.most)).Do(t.Context(), request)
				assert.Equal(t, 200, out.StatusCode)
				assert.Equal(t, 2, out.Attempts)
			})
		})
	}
}

func TestCallBacksOffForAnOpenBreaker(t *testing.T) {
	for name, tc := range map[string]struct {
		limits
		ends time.Duration // 0: at once, not sent
	}{
		"it may":                          {limits{}, 10 * time.Second},
		"MaxWait is too short":            {limits{maxWait: 9 * time.Second}, 0},
		"the deadline is too short":       {limits{deadline: 9 * time.Second}, 0},
		"no time is left for a response":  {limits{deadline: 11500 * time.Millisecond}, 0},
		"just enough time for a response": {limits{deadline: 13500 * time.Millisecond}, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPair()
				p.open(t, responds(503, "", "Retry-After", "10"))
				room := NewSlots()
				room.addTime(time.Second)
				base := newFakeBase(responds(200, "{}"))
				began := time.Now()
				out := tc.do(t, newTransport(base), in(room, p.asking()))
				took := time.Since(began)
				if tc.ends > 0 {
					assert.Equal(t, 200, out.StatusCode)
					assert.InDelta(t, tc.ends+tc.ends/20, took, float64(tc.ends/20))
					assert.Equal(t, [2]bool{}, p.areOpen())
					return
				}
				assert.Zero(t, took)
				assert.Zero(t, base.count())
				assert.InDelta(t, 10.5, out.Wait.Seconds(), 0.5)
				assert.False(t, out.Written)
			})
		})
	}
}

func TestBackoffForABreakerCountsNoAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair()
		p.open(t, responds(503, ""))
		time.Sleep(afterPause)
		probe := begin(t, p.service)
		time.AfterFunc(5*time.Second, func() { probe(Healthy) }) // until then the call is told again and again to come later
		base := newFakeBase(responds(429, "", "Retry-After", "1"), responds(200, "{}"))
		out := newTransport(base, attemptsUpTo(2)).Do(t.Context(), p.asking())
		assert.Equal(t, 200, out.StatusCode)
		assert.Equal(t, 2, out.Attempts)
		assert.Equal(t, 2, base.count())
	})
}

// A breaker that opens between two attempts leaves the outcome of the first.
func TestOpenBreakerKeepsTheLastOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair()
		base := newFakeBase(func(r *http.Request) (*http.Response, error) {
			pair{p.service, nil}.open(t, responds(503, "", "Retry-After", "20"))
			return responds(429, "busy", "Retry-After", "1")(r)
		})
		out := newTransport(base, waits(time.Millisecond, 10*time.Second)).Do(t.Context(), p.asking())
		_, ok := errors.AsType[*OpenError](out.Interrupted)
		assert.True(t, ok)
		assert.Equal(t, 429, out.StatusCode)
		assert.Equal(t, "busy", string(out.Body))
		assert.Equal(t, 1, out.Attempts)
		assert.Greater(t, out.Wait, 18*time.Second)
	})
}

// endedAfter returns a context that ends after a time. It derives from ctx.
func endedAfter(ctx context.Context, d time.Duration) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	time.AfterFunc(d, cancel)
	return ctx
}

func TestEndOfTheWaitsEndsNoRequest(t *testing.T) {
	for name, tc := range map[string]struct {
		react       reaction
		status      int
		interrupted error
	}{
		"a success":      {responds(200, "response"), 200, nil},
		"a refusal":      {responds(400, "response"), 400, nil},
		"not processed":  {responds(429, "response"), 429, context.Canceled},
		"asked to wait":  {responds(429, "response", "Retry-After", "5"), 429, context.Canceled},
		"in doubt":       {breaks(errReset), 0, nil},
		"nothing's sent": {unsent(errRefused), 0, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				base := newFakeBase(func(r *http.Request) (*http.Response, error) {
					time.Sleep(10 * time.Second)
					assert.NoError(t, r.Context().Err())
					return tc.react(r)
				})
				request := sendRequest()
				request.WaitContext = endedAfter(t.Context(), time.Second)
				out := newTransport(base).Do(t.Context(), request)
				assert.Equal(t, 1, base.count())
				assert.Equal(t, tc.status, out.StatusCode)
				assert.Equal(t, tc.interrupted, out.Interrupted)
				if tc.status != 0 {
					assert.Equal(t, "response", string(out.Body))
				}
			})
		})
	}
}

func TestEndOfTheWaitsEndsABackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newFakeBase(responds(429, "", "Retry-After", "10"))
		request := sendRequest()
		request.WaitContext = endedAfter(t.Context(), time.Second)
		began := time.Now()
		out := newTransport(base).Do(t.Context(), request)
		assert.Equal(t, time.Second, time.Since(began))
		assert.Equal(t, 429, out.StatusCode)
		require.ErrorIs(t, out.Interrupted, context.Canceled)
	})
}

func TestEndedWaitsSendNothing(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	base := newFakeBase(responds(200, "{}"))
	request := sendRequest()
	request.WaitContext = ended
	assertOutcome(t, Outcome{Err: context.Canceled}, newTransport(base).Do(t.Context(), request))
	assert.Zero(t, base.count())
}

// A response that came before the context ended is judged all the same, and the breakers count it.
func TestResponseIsJudgedAfterTheContextEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair()
		p.open(t, responds(503, ""))
		time.Sleep(afterPause)
		ctx, cancel := context.WithCancel(t.Context())
		base := newFakeBase(func(r *http.Request) (*http.Response, error) {
			cancel()
			return responds(200, "accepted")(r)
		})
		out := newTransport(base).Do(ctx, p.asking())
		assertOutcome(t, Outcome{StatusCode: 200, Header: http.Header{}, Body: []byte("accepted"), Written: true, Attempts: 1}, out)
		assert.Equal(t, [2]bool{}, p.areOpen())
	})
}

// What waits belongs to the call, although its waits end with those of a SendAll: its trace goes on.
func TestWaitsHaveTheValuesOfTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		var asked []string
		saw := func(ctx context.Context, name string) {
			asked = append(asked, name)
			assert.Equal(t, "call", ctx.Value(key{}), name)
		}
		ctx := context.WithValue(t.Context(), key{}, "call")
		source := NewTokenSource(func(ctx context.Context) (string, time.Time, error) {
			saw(ctx, "token source")
			return "t1", time.Time{}, nil
		})
		request := authenticatedBy(sendRequest(), source.Authenticator("Authorization", ""))
		request.WaitContext = endedAfter(t.Context(), time.Hour)
		request.Guard = func(ctx context.Context) error {
			saw(ctx, "guard")
			return nil
		}
		request.Observe = func(ctx context.Context, step Step, _ int) (context.Context, func(Outcome)) {
			saw(ctx, string(step))
			return ctx, func(Outcome) {}
		}
		tr := newTransport(newFakeBase(responds(429, ""), responds(200, "{}")), limitOf(time.Second, 1))
		tr.Limit.turns.Allow()
		assert.Equal(t, 200, tr.Do(ctx, request).StatusCode)
		assert.Equal(t, []string{"guard", "token", "token source", "wait", "attempt", "backoff", "wait", "attempt"}, asked)
	})
}
