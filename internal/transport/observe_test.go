package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/fence"
)

// A diary is an Observe that writes the steps down.
type diary struct {
	began time.Time
	lines []string
}

type stepKey struct{}

func (d *diary) observe(ctx context.Context, step Step, attempt int) (context.Context, func(Outcome)) {
	d.write("%s %d begins", step, attempt)
	ended := false
	return context.WithValue(ctx, stepKey{}, step), func(out Outcome) {
		if ended {
			d.write("%s %d ends again", step, attempt)
		}
		ended = true
		switch {
		case out.StatusCode != 0:
			d.write("%s %d ends: HTTP %d", step, attempt, out.StatusCode)
		case out.Err != nil:
			d.write("%s %d ends: %s", step, attempt, Describe(out.Err))
		default:
			d.write("%s %d ends", step, attempt)
		}
	}
}

func (d *diary) write(format string, values ...any) {
	d.lines = append(d.lines, fmt.Sprint(time.Since(d.began).Round(time.Millisecond), " ", fmt.Sprintf(format, values...)))
}

func TestStepsOfACall(t *testing.T) {
	busy := responds(429, "", "Retry-After", "4")
	for name, tc := range map[string]struct {
		limits
		change func(*Request)
		react  []reaction
		want   []string
	}{
		"one attempt": {want: []string{"0s attempt 1 begins", "0s attempt 1 ends: HTTP 200"}},
		"a place and a turn": {
			change: func(r *Request) { r.Slots = fullRoom(0); r.Slots.free(time.Second) },
			want: []string{
				"0s wait 1 begins", "1s wait 1 ends", "1s wait 1 begins", "3s wait 1 ends",
				"3s attempt 1 begins", "3s attempt 1 ends: HTTP 200",
			},
		},
		"a back-off": {react: []reaction{busy}, want: []string{
			"0s attempt 1 begins", "0s attempt 1 ends: HTTP 429", "0s backoff 2 begins", "4s backoff 2 ends",
			"4s attempt 2 begins", "4s attempt 2 ends: HTTP 200",
		}},
		"a back-off that is interrupted": {limits: limits{canceled: time.Second}, react: []reaction{busy}, want: []string{
			"0s attempt 1 begins", "0s attempt 1 ends: HTTP 429", "0s backoff 2 begins", "1s backoff 2 ends: context canceled",
		}},
		"no time for a back-off": {limits: limits{maxWait: time.Second}, react: []reaction{busy}, want: []string{
			"0s attempt 1 begins", "0s attempt 1 ends: HTTP 429",
		}},
		"attempts of an earlier call": {change: func(r *Request) { r.PriorAttempts = 3 }, react: []reaction{busy}, want: []string{
			"0s attempt 4 begins", "0s attempt 4 ends: HTTP 429", "0s backoff 5 begins", "4s backoff 5 ends",
			"4s attempt 5 begins", "4s attempt 5 ends: HTTP 200",
		}},
		"an open breaker": {
			change: func(r *Request) {
				r.Service = new(Breaker)
				for range failuresToOpen {
					ticket{breaker: r.Service}.record(report{health: Failing, retryAfter: 20 * time.Second, cause: errReset})
				}
				r.Service.trouble.Until = time.Now().Add(6 * time.Second)
			},
			want: []string{"0s backoff 1 begins", "6s backoff 1 ends", "6s attempt 1 begins", "6s attempt 1 ends: HTTP 200"},
		},
		"a token, and a fresh one": {
			change: func(r *Request) {
				source, _ := issued()
				r.Authenticate = source.Authenticator("Authorization", "")
			},
			react: []reaction{responds(401, "")},
			want: []string{
				"0s token 0 begins", "0s token 0 ends", "0s attempt 1 begins", "0s attempt 1 ends: HTTP 401",
				"0s token 0 begins", "0s token 0 ends", "0s attempt 2 begins", "0s attempt 2 ends: HTTP 200",
			},
		},
		"a token that fails": {
			change: func(r *Request) {
				r.Authenticate = NewTokenSource((&fetches{err: errSecret}).fetch).Authenticator("Authorization", "")
			},
			want: []string{"0s token 0 begins", "0s token 0 ends: " + authFailed},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := diary{began: time.Now()}
				request := sendRequest()
				request.Observe = d.observe
				tr := newTransport(newFakeBase(append(tc.react, responds(200, "{}"))...), ownBase)
				if name == "a place and a turn" {
					limitOf(3*time.Second, 1)(tr)
					tr.Limit.turns.Allow()
				}
				if tc.change != nil {
					tc.change(&request)
				}
				tc.do(t, tr, request)
				assert.Equal(t, tc.want, d.lines)
			})
		})
	}
}

func TestStepThatIsLateSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := diary{began: time.Now()}
		request := sendRequest()
		request.Observe = d.observe
		tr := newTransport(newFakeBase(responds(200, "{}")), limitOf(time.Hour, 1))
		tr.Limit.turns.Allow()
		tr.Do(t.Context(), request)
		assert.Equal(t, []string{"0s wait 1 begins", "0s wait 1 ends: waiting for the rate limit: " + beyondMaxWait}, d.lines)
	})
}

func TestRequestHasTheContextOfItsStep(t *testing.T) {
	var d diary
	request := sendRequest()
	request.Observe = d.observe
	out := newTransport(newFakeBase(func(r *http.Request) (*http.Response, error) {
		assert.Equal(t, Attempt, r.Context().Value(stepKey{}))
		return responds(200, "{}")(r)
	})).Do(t.Context(), request)
	assert.Equal(t, 200, out.StatusCode)
}

// What a function of the user calls within a call must not wait for what that call holds.
func TestNestedCallNeedsNoPlaceAndAsksNoBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair()
		room := fullRoom(0)
		room.free(10 * time.Second)
		tr := newTransport(newFakeBase(responds(200, "{}")), ownBase, attemptsUpTo(1))
		var within []string
		nested := func(ctx context.Context, name string) {
			began := time.Now()
			require.NotContains(t, within, name)
			within = append(within, name)
			broken := newPair()
			broken.open(t, responds(503, ""))
			assert.Equal(t, 200, tr.Do(ctx, in(fullRoom(0), broken.asking())).StatusCode, name)
			assert.Zero(t, time.Since(began), name)
		}
		request := in(room, authenticatedBy(p.asking(), Custom(func(r *http.Request) error {
			nested(r.Context(), "authenticator")
			return nil
		})))
		n := 0
		request.Guard = func(ctx context.Context) error {
			if n++; n > 1 {
				nested(ctx, "guard before the request")
			}
			return nil
		}
		request.Observe = func(ctx context.Context, step Step, _ int) (context.Context, func(Outcome)) {
			nested(ctx, string(step))
			return ctx, func(Outcome) { nested(context.WithoutCancel(ctx), string(step)+" ended") }
		}
		ctx := fence.With(t.Context(), func(ctx context.Context) error {
			nested(ctx, "fence")
			return nil
		})
		assert.Equal(t, 200, tr.Do(ctx, request).StatusCode)
		assert.Equal(t, []string{"authenticator", "wait", "wait ended", "guard before the request", "fence", "attempt", "attempt ended"}, within)
	})
}

// The fence is for the send, not for what a function of the user calls within it.
func TestFenceIsNotAskedForACallOfTheGuard(t *testing.T) {
	asked := 0
	ctx := fence.With(t.Context(), func(context.Context) error {
		asked++
		return nil
	})
	tr := newTransport(newFakeBase(responds(200, "{}")))
	request := sendRequest()
	request.Guard = func(ctx context.Context) error {
		assert.Equal(t, 200, tr.Do(ctx, readRequest()).StatusCode)
		assert.Zero(t, asked)
		return nil
	}
	assert.Equal(t, 200, tr.Do(ctx, request).StatusCode)
	assert.Equal(t, 1, asked)
}

// When a call begins it holds nothing, so that what its guard calls waits like any other call.
func TestCallOfAGuardIsNotNested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		room := fullRoom(0)
		room.free(10 * time.Second)
		tr := newTransport(newFakeBase(responds(200, "{}")), ownBase)
		began := time.Now()
		request := sendRequest()
		request.Guard = func(ctx context.Context) error {
			if time.Since(began) == 0 {
				tr.Do(ctx, in(room, readRequest()))
				assert.Equal(t, 10*time.Second, time.Since(began))
			}
			return nil
		}
		assert.Equal(t, 200, tr.Do(t.Context(), request).StatusCode)
		assert.Equal(t, 10*time.Second, time.Since(began))
	})
}

// The outer call holds a slot, for which a call within the guard of a nested call would wait.
func TestCallOfTheGuardOfANestedCallIsNested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := newTransport(newFakeBase(responds(200, "{}")), ownBase)
		nested := sendRequest()
		nested.Guard = func(ctx context.Context) error {
			began := time.Now()
			assert.Equal(t, 200, tr.Do(ctx, in(fullRoom(0), readRequest())).StatusCode)
			assert.Zero(t, time.Since(began))
			return nil
		}
		request := sendRequest()
		request.Observe = func(ctx context.Context, _ Step, _ int) (context.Context, func(Outcome)) {
			assert.Equal(t, 200, tr.Do(ctx, nested).StatusCode)
			return ctx, func(Outcome) {}
		}
		assert.Equal(t, 200, tr.Do(t.Context(), request).StatusCode)
	})
}

// The fence has the last word: after the guard and the breakers, and before the step of the attempt.
func TestFenceIsAskedDirectlyBeforeEachRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []string
		request := in(NewSlots(), newPair().asking())
		request.Guard = func(context.Context) error {
			events = append(events, "guard")
			return nil
		}
		request.Observe = func(ctx context.Context, step Step, _ int) (context.Context, func(Outcome)) {
			events = append(events, string(step))
			return ctx, func(Outcome) {}
		}
		base := newFakeBase(responds(429, "", "Retry-After", "10"), responds(200, "{}"))
		ctx := fence.With(t.Context(), func(context.Context) error {
			events = append(events, "fence")
			assert.Len(t, request.Slots.taken, 1)
			assert.Equal(t, slices.Contains(events, "backoff"), base.count() == 1)
			return nil
		})
		require.Equal(t, 200, newTransport(base, ownBase).Do(ctx, request).StatusCode)
		assert.Equal(t, []string{"guard", "fence", "attempt", "backoff", "guard", "fence", "attempt"}, events)
	})
}

func TestFenceThatFailsSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair()
		p.open(t, responds(503, ""))
		time.Sleep(afterPause)
		failed := errors.New("the job is not this attempt's")
		ctx := fence.With(t.Context(), func(context.Context) error { return failed })
		base := newFakeBase(responds(200, "{}"))
		tr := newTransport(base, ownBase)
		request := in(NewSlots(), p.asking())
		out := tr.Do(ctx, request)
		assertOutcome(t, Outcome{Err: out.Err}, out)
		require.ErrorIs(t, out.Err, failed)
		assert.Equal(t, "stopped before it was written", Describe(out.Err))
		assert.Zero(t, base.count())
		assert.Empty(t, request.Slots.taken)
		began := time.Now()
		assert.Equal(t, 200, tr.Do(t.Context(), request).StatusCode, "the next call is the probe")
		assert.Zero(t, time.Since(began))
	})
}

func TestPanicOfAFenceGivesBackWhatTheCallHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair()
		p.open(t, responds(503, ""))
		time.Sleep(afterPause)
		ctx := fence.With(t.Context(), func(context.Context) error { panic("fence") })
		tr := newTransport(newFakeBase(responds(200, "{}")), ownBase, attemptsUpTo(1))
		request := in(NewSlots(), p.asking())
		doubt := true
		request.MaybeWritten = &doubt
		assert.PanicsWithValue(t, "fence", func() { tr.Do(ctx, request) })
		assert.False(t, doubt)
		assert.Empty(t, request.Slots.taken)
		assert.Equal(t, 200, tr.Do(t.Context(), request).StatusCode)
	})
}
