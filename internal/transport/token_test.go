package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fetches is a token source for tests. Its tokens are t1, t2 and so on; how it behaves may change between fetches.
type fetches struct {
	life  time.Duration // 0: a token holds until it is refused
	takes time.Duration
	err   error
	count atomic.Int32
}

func (f *fetches) fetch(ctx context.Context) (string, time.Time, error) {
	n := f.count.Add(1)
	if f.takes > 0 {
		select {
		case <-time.After(f.takes):
		case <-ctx.Done():
			return "", time.Time{}, ctx.Err()
		}
	}
	if f.err != nil {
		return "", time.Time{}, f.err
	}
	var expiry time.Time
	if f.life > 0 {
		expiry = time.Now().Add(f.life)
	}
	return fmt.Sprint("t", n), expiry, nil
}

// value is the token of the source, or the error's text.
func value(ctx context.Context, s *TokenSource) string {
	got, err := s.token(ctx, nil)
	if err != nil {
		return err.Error()
	}
	return got.value()
}

func TestTokenSourceCaches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetches{life: time.Hour}
		source := NewTokenSource(f.fetch)
		base := newFakeBase(responds(200, "{}"))
		tr := newTransport(base)
		request := authenticatedBy(sendRequest(), source.Authenticator("authorization", "Bearer"))
		assert.Zero(t, f.count.Load(), "nothing is fetched before it is needed")
		for range 5 {
			require.NoError(t, tr.Do(t.Context(), request).Err)
		}
		bare := authenticatedBy(sendRequest(), source.Authenticator("x-token", ""))
		require.NoError(t, tr.Do(t.Context(), bare).Err)
		assert.EqualValues(t, 1, f.count.Load())
		for _, r := range base.requests()[:5] {
			assert.Equal(t, []string{"Bearer t1"}, r.header["Authorization"])
		}
		assert.Equal(t, []string{"t1"}, base.requests()[5].header["X-Token"])
		assert.NotContains(t, base.requests()[5].header, "Authorization")
	})
}

func TestTokenSourceRefreshesBeforeExpiry(t *testing.T) {
	for _, tc := range []struct{ life, refreshed time.Duration }{
		{10 * time.Second, 9 * time.Second},
		{100 * time.Second, 90 * time.Second},
		{10 * time.Minute, 9 * time.Minute},
		{time.Hour, 59 * time.Minute},
		{24 * time.Hour, 24*time.Hour - time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := &fetches{life: tc.life}
			source := NewTokenSource(f.fetch)
			require.Equal(t, "t1", value(t.Context(), source))
			time.Sleep(tc.refreshed - time.Nanosecond)
			assert.Equal(t, "t1", value(t.Context(), source), tc.life)
			time.Sleep(time.Nanosecond)
			assert.Equal(t, "t2", value(t.Context(), source), tc.life)
			assert.Equal(t, "t2", value(t.Context(), source), tc.life)
		})
	}
}

func TestTokenSourceKeepsATokenWithoutExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := NewTokenSource((&fetches{}).fetch)
		require.Equal(t, "t1", value(t.Context(), source))
		time.Sleep(50 * 365 * 24 * time.Hour)
		assert.Equal(t, "t1", value(t.Context(), source))
	})
}

func TestTokenSourceDoesNotUseAnExpiredToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetches{life: time.Minute}
		source := NewTokenSource(f.fetch)
		require.Equal(t, "t1", value(t.Context(), source))
		f.takes = time.Second
		time.Sleep(time.Minute)
		var calls sync.WaitGroup
		for range 10 {
			calls.Go(func() { assert.Equal(t, "t2", value(t.Context(), source)) })
		}
		calls.Wait()
		assert.EqualValues(t, 2, f.count.Load())
	})
}

func TestTokenSourceUsesATokenIssuedExpiredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetches{life: -time.Second}
		source := NewTokenSource(func(ctx context.Context) (string, time.Time, error) {
			token, _, err := f.fetch(ctx)
			return token, time.Now().Add(-time.Second), err
		})
		assert.Equal(t, "t1", value(t.Context(), source), "the clocks may differ; the service decides")
		assert.Equal(t, "t2", value(t.Context(), source))
	})
}

func TestTokenSourceRefreshesEarlyForOneCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetches{life: 100 * time.Second}
		source := NewTokenSource(f.fetch)
		require.Equal(t, "t1", value(t.Context(), source))
		f.takes = 5 * time.Second
		time.Sleep(95 * time.Second)
		start := time.Now()
		var leader sync.WaitGroup
		leader.Go(func() {
			assert.Equal(t, "t2", value(t.Context(), source))
			assert.Equal(t, 5*time.Second, time.Since(start))
		})
		synctest.Wait() // until it fetches
		for range 100 {
			assert.Equal(t, "t1", value(t.Context(), source))
		}
		assert.Zero(t, time.Since(start), "no other call waits")
		leader.Wait()
		assert.Equal(t, "t2", value(t.Context(), source))
		assert.EqualValues(t, 2, f.count.Load())
	})
}

func TestTokenSourceFetchesOnceForAllWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetches{life: time.Hour, takes: time.Second}
		source := NewTokenSource(f.fetch)
		start := time.Now()
		var calls sync.WaitGroup
		for range 100 {
			calls.Go(func() { assert.Equal(t, "t1", value(t.Context(), source)) })
		}
		calls.Wait()
		assert.EqualValues(t, 1, f.count.Load())
		assert.Equal(t, time.Second, time.Since(start))
	})
}

func TestTokenSourceIsSafeForConcurrentUse(t *testing.T) {
	f := &fetches{life: time.Millisecond}
	source := NewTokenSource(f.fetch)
	var calls sync.WaitGroup
	for range 50 {
		calls.Go(func() {
			for range 100 {
				got, err := source.token(t.Context(), nil)
				if assert.NoError(t, err) && f.count.Load()%3 == 0 {
					source.forget(got)
				}
			}
		})
	}
	calls.Wait()
}

func TestTokenSourceFailsForAllWaitingAndRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetches{takes: time.Second, err: errSecret}
		source := NewTokenSource(f.fetch)
		var calls sync.WaitGroup
		for range 100 {
			calls.Go(func() {
				_, err := source.token(t.Context(), nil)
				assert.ErrorIs(t, err, errSecret)
				assert.True(t, isAuthError(err))
				assert.NotContains(t, Describe(err), "secret")
			})
		}
		calls.Wait()
		assert.EqualValues(t, 1, f.count.Load())
		f.err = nil
		assert.Equal(t, "t2", value(t.Context(), source))
	})
}

// The context of a step may end with the step, as that of a span with a deadline.
func TestTokenSourceFailsForAllWaitingAlthoughTheStepsContextEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetches{takes: time.Second, err: errSecret}
		source := NewTokenSource(f.fetch)
		observe := func(ctx context.Context, _ Step, _ int) (context.Context, func(Outcome)) {
			ctx, cancel := context.WithCancel(ctx)
			return ctx, func(Outcome) { cancel() }
		}
		var calls sync.WaitGroup
		for range 100 {
			calls.Go(func() {
				_, err := source.token(t.Context(), observe)
				assert.ErrorIs(t, err, errSecret)
			})
		}
		calls.Wait()
		assert.EqualValues(t, 1, f.count.Load())
	})
}

func TestTokenSourceErrorSendsNothing(t *testing.T) {
	for _, request := range []Request{sendRequest(), readRequest()} {
		f := &fetches{err: errSecret}
		base := newFakeBase(responds(200, "{}"))
		out := newTransport(base).Do(t.Context(), authenticatedBy(request, NewTokenSource(f.fetch).Authenticator("Authorization", "")))
		require.ErrorIs(t, out.Err, errSecret)
		assertOutcome(t, Outcome{Err: out.Err}, out)
		assert.EqualValues(t, 1, f.count.Load())
		assert.Zero(t, base.count())
	}
}

func TestTokenSourceSurvivesAnAbandonedFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetches{life: time.Hour, takes: 10 * time.Second}
		source := NewTokenSource(f.fetch)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var calls sync.WaitGroup
		calls.Go(func() {
			_, err := source.token(ctx, nil)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
		})
		synctest.Wait() // until it fetches
		for range 20 {
			calls.Go(func() { assert.Equal(t, "t2", value(t.Context(), source)) })
		}
		start := time.Now()
		calls.Wait()
		assert.EqualValues(t, 2, f.count.Load())
		assert.Equal(t, 11*time.Second, time.Since(start))
	})
}

func TestTokenSourceWaitEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetches{life: time.Hour, takes: 10 * time.Second}
		source := NewTokenSource(f.fetch)
		var calls sync.WaitGroup
		calls.Go(func() { assert.Equal(t, "t1", value(t.Context(), source)) })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := source.token(ctx, nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(start))
		calls.Wait()
		assert.Equal(t, "t1", value(t.Context(), source))
		assert.EqualValues(t, 1, f.count.Load())
	})
}

func TestTokenSourceKeepsALateToken(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	fetched := 0
	source := NewTokenSource(func(context.Context) (string, time.Time, error) {
		fetched++
		cancel()
		return "t1", time.Time{}, nil
	})
	base := newFakeBase(responds(200, "{}"))
	request := authenticatedBy(sendRequest(), source.Authenticator("Authorization", ""))
	out := newTransport(base).Do(ctx, request)
	require.ErrorIs(t, out.Err, context.Canceled)
	assertOutcome(t, Outcome{Err: out.Err}, out)
	assert.Zero(t, base.count())
	require.NoError(t, newTransport(base).Do(t.Context(), request).Err)
	assert.Equal(t, 1, fetched)
}

func TestTokenSourceKeepsTheOldTokenIfARefreshFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetches{life: 100 * time.Second}
		source := NewTokenSource(f.fetch)
		start := time.Now()
		at := func(d time.Duration) { time.Sleep(time.Until(start.Add(d))) }
		require.Equal(t, "t1", value(t.Context(), source))
		f.err = errors.New("the issuer is down")

		at(90 * time.Second)
		assert.Equal(t, "t1", value(t.Context(), source))
		assert.EqualValues(t, 2, f.count.Load())
		at(95*time.Second - time.Nanosecond)
		assert.Equal(t, "t1", value(t.Context(), source))
		assert.EqualValues(t, 2, f.count.Load(), "not each call asks an issuer that is down")
		at(95 * time.Second)
		assert.Equal(t, "t1", value(t.Context(), source))
		assert.EqualValues(t, 3, f.count.Load(), "half of the rest later it is asked again")
		at(100*time.Second - time.Nanosecond)
		assert.Equal(t, "t1", value(t.Context(), source))
		at(100 * time.Second)
		assert.Equal(t, authFailed, value(t.Context(), source), "it is over")
		f.err = nil
		assert.Equal(t, fmt.Sprint("t", f.count.Load()+1), value(t.Context(), source))
	})
}

func TestTokenSourceKeepsTheOldTokenIfTheNewIsInvalid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := "t1"
		source := NewTokenSource(func(context.Context) (string, time.Time, error) { return next, time.Now().Add(time.Minute), nil })
		require.Equal(t, "t1", value(t.Context(), source))
		next = ""
		time.Sleep(55 * time.Second)
		assert.Equal(t, "t1", value(t.Context(), source))
		time.Sleep(5 * time.Second)
		_, err := source.token(t.Context(), nil)
		assert.ErrorIs(t, err, errInvalidToken)
	})
}

func TestTokenSourceDropsATokenRefusedDuringARefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetches{life: 100 * time.Second}
		source := NewTokenSource(f.fetch)
		old, err := source.token(t.Context(), nil)
		require.NoError(t, err)
		f.takes, f.err = 2*time.Second, errSecret
		time.Sleep(95 * time.Second)
		var leader sync.WaitGroup
		leader.Go(func() {
			_, err := source.token(t.Context(), nil)
			assert.ErrorIs(t, err, errSecret)
		})
		synctest.Wait()
		source.forget(old)
		leader.Wait()
		f.err = nil
		assert.Equal(t, "t3", value(t.Context(), source))
	})
}

func TestTokenSourceRejectsInvalidTokens(t *testing.T) {
	for _, token := range []string{"", "a\nb", "a\r\nX-Injected: 1", "a\rb", "\n", "a\x00", "secret\x7f"} {
		base := newFakeBase(responds(200, "{}"))
		source := NewTokenSource(func(context.Context) (string, time.Time, error) { return token, time.Time{}, nil })
		out := newTransport(base).Do(t.Context(), authenticatedBy(sendRequest(), source.Authenticator("Authorization", "Bearer")))
		require.ErrorIs(t, out.Err, errInvalidToken, "%q", token)
		assert.NotContains(t, out.Err.Error(), "secret")
		assert.False(t, out.Written)
		assert.Zero(t, base.count())
	}
}

func TestTokenSourceErrorBesideATokenIsAnError(t *testing.T) {
	source := NewTokenSource(func(context.Context) (string, time.Time, error) { return "t1", time.Time{}, errSecret })
	_, err := source.token(t.Context(), nil)
	assert.ErrorIs(t, err, errSecret)
}

func TestTokenSourceDropsOnlyTheRefusedToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetches{}
		source := NewTokenSource(f.fetch)
		// The service stops to accept t1. Of two calls that hold it, one is told long after the other.
		base := newFakeBase(func(r *http.Request) (*http.Response, error) {
			if r.Header.Get("Authorization") != "t1" {
				return responds(200, "{}")(r)
			}
			time.Sleep(time.Second)
			if r.Method == http.MethodGet {
				time.Sleep(10 * time.Second)
			}
			return responds(401, "")(r)
		})
		tr := newTransport(base)
		var calls sync.WaitGroup
		for _, request := range []Request{sendRequest(), readRequest()} {
			calls.Go(func() {
				out := tr.Do(t.Context(), authenticatedBy(request, source.Authenticator("Authorization", "")))
				assert.Equal(t, 200, out.StatusCode)
				assert.Equal(t, 2, out.Attempts)
			})
		}
		calls.Wait()
		assert.EqualValues(t, 2, f.count.Load(), "the second refusal of t1 leaves t2 alone")
	})
}

func TestTokenSourceDropsATokenOnceForAllRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetches{takes: time.Second}
		source := NewTokenSource(f.fetch)
		require.Equal(t, "t1", value(t.Context(), source))
		tr := newTransport(newFakeBase(func(r *http.Request) (*http.Response, error) {
			if r.Header.Get("Authorization") == "t1" {
				return responds(401, "")(r)
			}
			return responds(200, "{}")(r)
		}))
		var calls sync.WaitGroup
		for range 100 {
			calls.Go(func() {
				out := tr.Do(t.Context(), authenticatedBy(sendRequest(), source.Authenticator("Authorization", "")))
				assert.Equal(t, 200, out.StatusCode)
			})
		}
		calls.Wait()
		assert.EqualValues(t, 2, f.count.Load())
	})
}

func TestTokenSourceForgetKeepsAnotherToken(t *testing.T) {
	source := NewTokenSource((&fetches{}).fetch)
	first, err := source.token(t.Context(), nil)
	require.NoError(t, err)
	source.forget(first)
	source.forget(first)
	require.Equal(t, "t2", value(t.Context(), source))
	source.forget(first)
	assert.Equal(t, "t2", value(t.Context(), source))
}

func TestTokenSourceHasTheContextOfTheAttempt(t *testing.T) {
	type key struct{}
	synctest.Test(t, func(t *testing.T) {
		source := NewTokenSource(func(ctx context.Context) (string, time.Time, error) {
			assert.Equal(t, "trace-1", ctx.Value(key{}))
			deadline, ok := ctx.Deadline()
			assert.True(t, ok)
			assert.Equal(t, 7*time.Second, time.Until(deadline))
			return "t1", time.Time{}, nil
		})
		ctx := context.WithValue(t.Context(), key{}, "trace-1")
		out := newTransport(newFakeBase(responds(200, "")), timeoutOf(7*time.Second)).Do(ctx, authenticatedBy(sendRequest(), source.Authenticator("Authorization", "")))
		assert.Equal(t, 200, out.StatusCode)
	})
}

func TestTokenSourcePanicReleasesAllWaiting(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic("issuer") }, "exit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first := true
				source := NewTokenSource(func(context.Context) (string, time.Time, error) {
					if first {
						first = false
						time.Sleep(time.Second)
						end()
					}
					return "t2", time.Time{}, nil
				})
				var calls sync.WaitGroup
				calls.Go(func() {
					defer func() {
						if name == "panic" {
							assert.Equal(t, "issuer", recover(), "a panic reaches the caller whose call fetched")
						}
					}()
					_, _ = source.token(t.Context(), nil)
					t.Error("the source did not end its goroutine")
				})
				synctest.Wait()
				for range 20 {
					calls.Go(func() {
						_, err := source.token(t.Context(), nil)
						assert.True(t, isAuthError(err))
						assert.ErrorContains(t, errors.Unwrap(err), "panicked")
					})
				}
				calls.Wait()
				assert.Equal(t, "t2", value(t.Context(), source), "the next call tries again")
			})
		})
	}
}

func TestTokenSourceKeepsTheOldTokenIfARefreshPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fetched := 0
		source := NewTokenSource(func(context.Context) (string, time.Time, error) {
			if fetched++; fetched > 1 {
				panic("issuer")
			}
			return "t1", time.Now().Add(100 * time.Second), nil
		})
		require.Equal(t, "t1", value(t.Context(), source))
		time.Sleep(95 * time.Second)
		assert.PanicsWithValue(t, "issuer", func() { _, _ = source.token(t.Context(), nil) })
		assert.Equal(t, "t1", value(t.Context(), source))
	})
}
