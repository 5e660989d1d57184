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

// value is the token that the source gives, or the error's text.
func value(ctx context.Context, s *Source) string {
	got, err := s.token(ctx)
	if err != nil {
		return err.Error()
	}
	return got.value()
}

func TestATokenIsFetchedOnceAndKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetches{life: time.Hour}
		source := NewSource(f.fetch)
		base := newBase(answers(200, "{}"))
		tr := newTransport(base)
		request := authenticatedBy(aSend(), source.Authenticator("authorization", "Bearer"))
		assert.Zero(t, f.count.Load(), "nothing is fetched before it is needed")
		for range 5 {
			require.NoError(t, tr.Do(t.Context(), request).Err)
		}
		bare := authenticatedBy(aSend(), source.Authenticator("x-token", ""))
		require.NoError(t, tr.Do(t.Context(), bare).Err)
		assert.EqualValues(t, 1, f.count.Load())
		for _, r := range base.requests()[:5] {
			assert.Equal(t, []string{"Bearer t1"}, r.header["Authorization"])
		}
		assert.Equal(t, []string{"t1"}, base.requests()[5].header["X-Token"])
		assert.NotContains(t, base.requests()[5].header, "Authorization")
	})
}

func TestATokenIsRefreshedShortlyBeforeItsExpiry(t *testing.T) {
	for _, tc := range []struct{ life, refreshed time.Duration }{
		{10 * time.Second, 9 * time.Second},
		{100 * time.Second, 90 * time.Second},
		{10 * time.Minute, 9 * time.Minute},
		{time.Hour, 59 * time.Minute},
		{24 * time.Hour, 24*time.Hour - time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := &fetches{life: tc.life}
			source := NewSource(f.fetch)
			require.Equal(t, "t1", value(t.Context(), source))
			time.Sleep(tc.refreshed - time.Nanosecond)
			assert.Equal(t, "t1", value(t.Context(), source), tc.life)
			time.Sleep(time.Nanosecond)
			assert.Equal(t, "t2", value(t.Context(), source), tc.life)
			assert.Equal(t, "t2", value(t.Context(), source), tc.life)
		})
	}
}

func TestATokenWithoutAnExpiryIsKeptForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := NewSource((&fetches{}).fetch)
		require.Equal(t, "t1", value(t.Context(), source))
		time.Sleep(50 * 365 * 24 * time.Hour)
		assert.Equal(t, "t1", value(t.Context(), source))
	})
}

func TestATokenThatIsOverIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetches{life: time.Minute}
		source := NewSource(f.fetch)
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

func TestATokenThatComesExpiredIsUsedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetches{life: -time.Second}
		source := NewSource(func(ctx context.Context) (string, time.Time, error) {
			token, _, err := f.fetch(ctx)
			return token, time.Now().Add(-time.Second), err
		})
		assert.Equal(t, "t1", value(t.Context(), source), "the clocks may differ; the service decides")
		assert.Equal(t, "t2", value(t.Context(), source))
	})
}

func TestOneCallerRefreshesEarlyWhileTheOthersUseTheOldToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetches{life: 100 * time.Second}
		source := NewSource(f.fetch)
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
		assert.Zero(t, time.Since(start), "nobody else waits")
		leader.Wait()
		assert.Equal(t, "t2", value(t.Context(), source))
		assert.EqualValues(t, 2, f.count.Load())
	})
}

func TestOneFetchServesAllWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetches{life: time.Hour, takes: time.Second}
		source := NewSource(f.fetch)
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

func TestManyCallersOfATokenThatKeepsExpiring(t *testing.T) {
	f := &fetches{life: time.Millisecond}
	source := NewSource(f.fetch)
	var calls sync.WaitGroup
	for range 50 {
		calls.Go(func() {
			for range 100 {
				got, err := source.token(t.Context())
				if assert.NoError(t, err) && f.count.Load()%3 == 0 {
					source.forget(got)
				}
			}
		})
	}
	calls.Wait()
}

func TestAFailedFetchIsToldToAllWhoWaitedAndTriedAgainByTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetches{takes: time.Second, err: errSecret}
		source := NewSource(f.fetch)
		var calls sync.WaitGroup
		for range 100 {
			calls.Go(func() {
				_, err := source.token(t.Context())
				assert.ErrorIs(t, err, errSecret)
				var auth AuthError
				assert.ErrorAs(t, err, &auth)
				assert.NotContains(t, Describe(err), "secret")
			})
		}
		calls.Wait()
		assert.EqualValues(t, 1, f.count.Load())
		f.err = nil
		assert.Equal(t, "t2", value(t.Context(), source))
	})
}

func TestAFailedFetchSendsNothingAndIsNotRepeated(t *testing.T) {
	for _, request := range []Request{aSend(), aRead()} {
		f := &fetches{err: errSecret}
		base := newBase(answers(200, "{}"))
		out := newTransport(base).Do(t.Context(), authenticatedBy(request, NewSource(f.fetch).Authenticator("Authorization", "")))
		require.ErrorIs(t, out.Err, errSecret)
		assert.Equal(t, Outcome{Err: out.Err}, out)
		assert.EqualValues(t, 1, f.count.Load())
		assert.Zero(t, base.count())
	}
}

func TestAFetchWhoseCallerGaveUpDoesNotFailTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetches{life: time.Hour, takes: 10 * time.Second}
		source := NewSource(f.fetch)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var calls sync.WaitGroup
		calls.Go(func() {
			_, err := source.token(ctx)
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

func TestACallerThatGivesUpWaitingDisturbsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetches{life: time.Hour, takes: 10 * time.Second}
		source := NewSource(f.fetch)
		var calls sync.WaitGroup
		calls.Go(func() { assert.Equal(t, "t1", value(t.Context(), source)) })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := source.token(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(start))
		calls.Wait()
		assert.Equal(t, "t1", value(t.Context(), source))
		assert.EqualValues(t, 1, f.count.Load())
	})
}

func TestAFetchThatOutlivesItsCallersContextIsKept(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	fetched := 0
	source := NewSource(func(context.Context) (string, time.Time, error) {
		fetched++
		cancel()
		return "t1", time.Time{}, nil
	})
	base := newBase(answers(200, "{}"))
	request := authenticatedBy(aSend(), source.Authenticator("Authorization", ""))
	out := newTransport(base).Do(ctx, request)
	require.ErrorIs(t, out.Err, context.Canceled)
	assert.Equal(t, Outcome{Err: out.Err}, out)
	assert.Zero(t, base.count())
	require.NoError(t, newTransport(base).Do(t.Context(), request).Err)
	assert.Equal(t, 1, fetched)
}

func TestAFailedEarlyRefreshKeepsTheOldTokenWhileItLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetches{life: 100 * time.Second}
		source := NewSource(f.fetch)
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
		assert.Equal(t, AuthError{}.Error(), value(t.Context(), source), "it is over")
		f.err = nil
		assert.Equal(t, fmt.Sprint("t", f.count.Load()+1), value(t.Context(), source))
	})
}

func TestAnEarlyRefreshThatBringsNothingUsableKeepsTheOldToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := "t1"
		source := NewSource(func(context.Context) (string, time.Time, error) { return next, time.Now().Add(time.Minute), nil })
		require.Equal(t, "t1", value(t.Context(), source))
		next = ""
		time.Sleep(55 * time.Second)
		assert.Equal(t, "t1", value(t.Context(), source))
		time.Sleep(5 * time.Second)
		_, err := source.token(t.Context())
		assert.ErrorIs(t, err, errEmptyToken)
	})
}

func TestATokenThatWasRefusedInAnEarlyRefreshIsNotTakenUpAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetches{life: 100 * time.Second}
		source := NewSource(f.fetch)
		old, err := source.token(t.Context())
		require.NoError(t, err)
		f.takes, f.err = 2*time.Second, errSecret
		time.Sleep(95 * time.Second)
		var leader sync.WaitGroup
		leader.Go(func() {
			_, err := source.token(t.Context())
			assert.ErrorIs(t, err, errSecret)
		})
		synctest.Wait()
		source.forget(old)
		leader.Wait()
		f.err = nil
		assert.Equal(t, "t3", value(t.Context(), source))
	})
}

func TestTokensThatNoHeaderMayHoldAreRefused(t *testing.T) {
	for _, token := range []string{"", "a\nb", "a\r\nX-Injected: 1", "a\rb", "\n", "a\x00", "secret\x7f"} {
		base := newBase(answers(200, "{}"))
		source := NewSource(func(context.Context) (string, time.Time, error) { return token, time.Time{}, nil })
		out := newTransport(base).Do(t.Context(), authenticatedBy(aSend(), source.Authenticator("Authorization", "Bearer")))
		require.ErrorIs(t, out.Err, errEmptyToken, "%q", token)
		assert.NotContains(t, out.Err.Error(), "secret")
		assert.False(t, out.Written)
		assert.Zero(t, base.count())
	}
}

func TestAnErrorBesideATokenIsAnError(t *testing.T) {
	source := NewSource(func(context.Context) (string, time.Time, error) { return "t1", time.Time{}, errSecret })
	_, err := source.token(t.Context())
	assert.ErrorIs(t, err, errSecret)
}

func TestOnlyTheTokenThatWasRefusedIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetches{}
		source := NewSource(f.fetch)
		// The service stops to accept t1. Of two calls that hold it, one is told long after the other.
		base := newBase(func(r *http.Request) (*http.Response, error) {
			if r.Header.Get("Authorization") != "t1" {
				return answers(200, "{}")(r)
			}
			time.Sleep(time.Second)
			if r.Method == http.MethodGet {
				time.Sleep(10 * time.Second)
			}
			return answers(401, "")(r)
		})
		tr := newTransport(base)
		var calls sync.WaitGroup
		for _, request := range []Request{aSend(), aRead()} {
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

func TestATokenIsDroppedOnceForAllThatWereRefusedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetches{takes: time.Second}
		source := NewSource(f.fetch)
		require.Equal(t, "t1", value(t.Context(), source))
		tr := newTransport(newBase(func(r *http.Request) (*http.Response, error) {
			if r.Header.Get("Authorization") == "t1" {
				return answers(401, "")(r)
			}
			return answers(200, "{}")(r)
		}))
		var calls sync.WaitGroup
		for range 100 {
			calls.Go(func() {
				out := tr.Do(t.Context(), authenticatedBy(aSend(), source.Authenticator("Authorization", "")))
				assert.Equal(t, 200, out.StatusCode)
			})
		}
		calls.Wait()
		assert.EqualValues(t, 2, f.count.Load())
	})
}

func TestForgettingLeavesAnotherTokenAlone(t *testing.T) {
	source := NewSource((&fetches{}).fetch)
	first, err := source.token(t.Context())
	require.NoError(t, err)
	source.forget(first)
	source.forget(first)
	require.Equal(t, "t2", value(t.Context(), source))
	source.forget(first)
	assert.Equal(t, "t2", value(t.Context(), source))
}

func TestAFetchHasTheContextOfTheAttempt(t *testing.T) {
	type key struct{}
	synctest.Test(t, func(t *testing.T) {
		source := NewSource(func(ctx context.Context) (string, time.Time, error) {
			assert.Equal(t, "trace-1", ctx.Value(key{}))
			deadline, ok := ctx.Deadline()
			assert.True(t, ok)
			assert.Equal(t, 7*time.Second, time.Until(deadline))
			return "t1", time.Time{}, nil
		})
		ctx := context.WithValue(t.Context(), key{}, "trace-1")
		out := newTransport(newBase(answers(200, "")), timeoutOf(7*time.Second)).Do(ctx, authenticatedBy(aSend(), source.Authenticator("Authorization", "")))
		assert.Equal(t, 200, out.StatusCode)
	})
}

func TestASourceThatEndsItsGoroutineLeavesNobodyHanging(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic("issuer") }, "exit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first := true
				source := NewSource(func(context.Context) (string, time.Time, error) {
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
					_, _ = source.token(t.Context())
					t.Error("the source did not end its goroutine")
				})
				synctest.Wait()
				for range 20 {
					calls.Go(func() {
						_, err := source.token(t.Context())
						var auth AuthError
						if assert.ErrorAs(t, err, &auth) {
							assert.EqualError(t, err, "authentication failed before anything was sent")
							assert.ErrorContains(t, auth.Err, "panicked")
						}
					})
				}
				calls.Wait()
				assert.Equal(t, "t2", value(t.Context(), source), "the next call tries again")
			})
		})
	}
}

func TestASourceThatPanicsInAnEarlyRefreshKeepsTheOldToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fetched := 0
		source := NewSource(func(context.Context) (string, time.Time, error) {
			if fetched++; fetched > 1 {
				panic("issuer")
			}
			return "t1", time.Now().Add(100 * time.Second), nil
		})
		require.Equal(t, "t1", value(t.Context(), source))
		time.Sleep(95 * time.Second)
		assert.PanicsWithValue(t, "issuer", func() { _, _ = source.token(t.Context()) })
		assert.Equal(t, "t1", value(t.Context(), source))
	})
}
