package transport

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// endingReader calls end when the last byte has been read, and before the end of the body is told.
type endingReader struct {
	io.Reader
	end func()
}

func (r endingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil {
		r.end()
	}
	return n, err
}

func TestSuccessIsKeptAfterTheContextEnds(t *testing.T) {
	for name, react := range map[string]func(end func()) reaction{
		"before the answer": func(end func()) reaction {
			return func(r *http.Request) (*http.Response, error) {
				end()
				return responds(200, "accepted")(r)
			}
		},
		"in the body": func(end func()) reaction {
			return func(*http.Request) (*http.Response, error) {
				return response(200, endingReader{strings.NewReader("accepted"), end}), nil
			}
		},
	} {
		for _, request := range []Request{sendRequest(), readRequest()} {
			t.Run(name+", canceled, "+request.Method, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				out := newTransport(newFakeBase(react(cancel))).Do(ctx, request)
				require.Error(t, ctx.Err())
				assertOutcome(t, Outcome{StatusCode: 200, Header: http.Header{}, Body: []byte("accepted"), Written: true, Attempts: 1}, out)
			})
			t.Run(name+", deadline, "+request.Method, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					out := newTransport(newFakeBase(react(func() { time.Sleep(time.Minute) }))).Do(ctx, request)
					require.Error(t, ctx.Err())
					assertOutcome(t, Outcome{StatusCode: 200, Header: http.Header{}, Body: []byte("accepted"), Written: true, Attempts: 1}, out)
				})
			})
			t.Run(name+", timeout, "+request.Method, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					out := newTransport(newFakeBase(react(func() { time.Sleep(time.Minute) }))).Do(t.Context(), request)
					assertOutcome(t, Outcome{StatusCode: 200, Header: http.Header{}, Body: []byte("accepted"), Written: true, Attempts: 1}, out)
				})
			})
		}
	}
}

func TestTimeoutBoundsEachAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newFakeBase(hangs)
		out := newTransport(base, timeoutOf(7*time.Second), attemptsUpTo(3), waits(time.Second, time.Minute)).Do(t.Context(), readRequest())
		require.Equal(t, 3, base.count())
		for i := range 2 {
			took := base.requests()[i+1].at.Sub(base.requests()[i].at)
			assert.GreaterOrEqual(t, took, 7*time.Second)
			assert.LessOrEqual(t, took, 9*time.Second)
		}
		assert.True(t, out.Written)
		require.ErrorIs(t, out.Err, context.DeadlineExceeded)
		var timeout net.Error
		require.ErrorAs(t, out.Err, &timeout)
		assert.True(t, timeout.Timeout())
		assert.Contains(t, out.Err.Error(), "timeout of 7s")
		assert.Equal(t, out.Err.Error(), Describe(out.Err))
		assert.NoError(t, out.Interrupted)
	})
}

// readerFunc is a function that reads.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// untilEnded is a body that is silent until the context ends.
func untilEnded(ctx context.Context) io.Reader {
	return readerFunc(func([]byte) (int, error) {
		<-ctx.Done()
		return 0, ctx.Err()
	})
}

func TestTimeoutBoundsReadingTheResponse(t *testing.T) {
	for _, status := range []int{200, 503} {
		synctest.Test(t, func(t *testing.T) {
			base := newFakeBase(func(r *http.Request) (*http.Response, error) {
				writing(r)
				return response(status, io.MultiReader(strings.NewReader("half"), untilEnded(r.Context()))), nil
			})
			start := time.Now()
			out := newTransport(base, timeoutOf(7*time.Second)).Do(t.Context(), sendRequest())
			assert.Equal(t, 7*time.Second, time.Since(start))
			assert.Equal(t, status, out.StatusCode)
			assert.Equal(t, "half", string(out.Body))
			require.ErrorIs(t, out.Err, context.DeadlineExceeded)
			assert.Contains(t, out.Err.Error(), "timeout of 7s")
			assert.Equal(t, 1, base.count())
		})
	}
}

func TestTimeoutBoundsAuthentication(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, tc := range map[string]struct {
			a     Authenticator
			cause error
			says  string
		}{
			"a token source that gives up": {NewTokenSource(func(ctx context.Context) (string, time.Time, error) {
				<-ctx.Done()
				return "", time.Time{}, ctx.Err()
			}).Authenticator("Authorization", ""), context.DeadlineExceeded, authFailed},
			"a token source that fails": {NewTokenSource(func(ctx context.Context) (string, time.Time, error) {
				<-ctx.Done()
				return "", time.Time{}, errSecret
			}).Authenticator("Authorization", ""), errSecret, authFailed},
			"a token source that is late": {NewTokenSource(func(ctx context.Context) (string, time.Time, error) {
				<-ctx.Done()
				return "late", time.Time{}, nil
			}).Authenticator("Authorization", ""), context.DeadlineExceeded, "no complete response within the timeout of 7s"},
			"an authenticator that gives up": {Custom(func(r *http.Request) error {
				<-r.Context().Done()
				return r.Context().Err()
			}), context.DeadlineExceeded, authFailed},
			"an authenticator that fails": {Custom(func(r *http.Request) error {
				<-r.Context().Done()
				return errSecret
			}), errSecret, authFailed},
			"an authenticator that is late": {Custom(func(r *http.Request) error {
				<-r.Context().Done()
				return nil
			}), context.DeadlineExceeded, "no complete response within the timeout of 7s"},
		} {
			base := newFakeBase(responds(200, "{}"))
			start := time.Now()
			out := newTransport(base, timeoutOf(7*time.Second)).Do(t.Context(), authenticatedBy(readRequest(), tc.a))
			assert.Equal(t, 7*time.Second, time.Since(start), "it is not repeated: %s", name)
			require.ErrorIs(t, out.Err, context.DeadlineExceeded, name)
			require.ErrorIs(t, out.Err, tc.cause, name)
			assert.Equal(t, tc.says, Describe(out.Err), name)
			assertOutcome(t, Outcome{Err: out.Err}, out, name)
			assert.Zero(t, base.count(), name)
		}
	})
}

func TestTimeoutBoundsWaitingForAnothersToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		source := NewTokenSource(func(context.Context) (string, time.Time, error) {
			<-release
			return "t1", time.Time{}, nil
		})
		var first sync.WaitGroup
		first.Go(func() { assert.Equal(t, "t1", value(t.Context(), source)) })
		synctest.Wait() // until it fetches
		base := newFakeBase(responds(200, "{}"))
		out := newTransport(base, timeoutOf(7*time.Second)).Do(t.Context(), authenticatedBy(sendRequest(), source.Authenticator("Authorization", "")))
		require.ErrorIs(t, out.Err, context.DeadlineExceeded)
		assert.True(t, isAuthError(out.Err))
		assertOutcome(t, Outcome{Err: out.Err}, out)
		assert.Zero(t, base.count())
		close(release)
		first.Wait()
	})
}

// A round tripper of the user's may give a body that knows of no context.
func TestBodyThatIgnoresTheContextEndsWithIt(t *testing.T) {
	for name, tc := range map[string]struct {
		ends time.Duration // the caller's context; 0: never
		took time.Duration
		want string
		err  error
	}{
		"timeout":  {0, 7 * time.Second, "no complete response within the timeout of 7s", context.DeadlineExceeded},
		"canceled": {3 * time.Second, 3 * time.Second, "context canceled", context.Canceled},
	} {
		for _, status := range []int{200, 503} {
			for _, length := range []int64{-1, 0, 10} {
				t.Run(fmt.Sprint(name, " ", status, " ", length), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						ctx, cancel := context.WithCancel(t.Context())
						defer cancel()
						if tc.ends > 0 {
							time.AfterFunc(tc.ends, cancel)
						}
						base := newFakeBase(func(r *http.Request) (*http.Response, error) {
							writing(r)
							body, sent := io.Pipe()
							go func() { _, _ = io.WriteString(sent, "half") }()
							return &http.Response{StatusCode: status, Header: http.Header{}, ContentLength: length, Body: body}, nil
						})
						start := time.Now()
						out := newTransport(base, timeoutOf(7*time.Second)).Do(ctx, sendRequest())
						assert.Equal(t, tc.took, time.Since(start))
						assert.Equal(t, status, out.StatusCode)
						assert.Equal(t, "half", string(out.Body))
						require.ErrorIs(t, out.Err, tc.err)
						assert.Equal(t, tc.want, out.Err.Error())
						assert.True(t, out.Written)
						assert.Equal(t, 1, out.Attempts)
					})
				})
			}
		}
	}
}

func TestTimeoutErrorIsATimeout(t *testing.T) {
	for name, tc := range map[string]struct {
		with func(context.Context) (context.Context, context.CancelFunc)
		want bool
	}{
		"timeout of the attempt": {context.WithCancel, true},
		"deadline of the caller": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 3*time.Second)
		}, true},
		"canceled": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(3*time.Second, cancel)
			return ctx, cancel
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := tc.with(t.Context())
				defer cancel()
				out := newTransport(newFakeBase(breaksAfter(time.Minute, errReset)), attemptsUpTo(1), timeoutOf(7*time.Second)).Do(ctx, sendRequest())
				require.Error(t, out.Err)
				assert.Equal(t, tc.want, os.IsTimeout(out.Err))
				assert.Equal(t, tc.want, (&url.Error{Op: "Post", Err: out.Err}).Timeout())
				assert.True(t, out.Written)
			})
		})
	}
}

func TestCallersContextIsTheCause(t *testing.T) {
	for name, tc := range map[string]struct {
		with func(context.Context) (context.Context, context.CancelFunc)
		want error
	}{
		"deadline": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 3*time.Second)
		}, context.DeadlineExceeded},
		"canceled": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(3*time.Second, cancel)
			return ctx, cancel
		}, context.Canceled},
	} {
		for kind, react := range map[string]reaction{
			"context's error": hangs,
			"error of a connection that was closed for it": func(r *http.Request) (*http.Response, error) {
				writing(r)
				<-r.Context().Done()
				return nil, errReset
			},
		} {
			t.Run(name+", "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := tc.with(t.Context())
					defer cancel()
					base := newFakeBase(react)
					out := newTransport(base).Do(ctx, readRequest())
					assert.Equal(t, 1, base.count())
					assert.True(t, out.Written)
					require.ErrorIs(t, out.Err, tc.want)
					assert.Equal(t, tc.want.Error(), out.Err.Error())
					if kind != "context's error" {
						assert.ErrorIs(t, out.Err, errReset)
					}
				})
			})
		}
	}
}

func TestEndedContextSendsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	base := newFakeBase(responds(200, "{}"))
	for _, request := range []Request{sendRequest(), readRequest()} {
		asked := 0
		out := newTransport(base, limitOf(time.Hour, 1)).Do(ctx, authenticatedBy(request, Custom(func(*http.Request) error {
			asked++
			return nil
		})))
		assertOutcome(t, Outcome{Err: context.Canceled}, out, "it is the context's own error, not one of a limit or of credentials")
		assert.Zero(t, asked)
	}
	assert.Zero(t, base.count())
}

func TestAttemptThatCannotBeginKeepsTheLastOutcome(t *testing.T) {
	// Each way lets the first attempt begin, and not the second.
	type way struct {
		change func(*Transport)
		a      Authenticator
		backed func() // called when the wait before the second attempt has ended
		ctx    func(context.Context) (context.Context, context.CancelFunc)
		want   error
		auth   bool // credentials could not be had
	}
	second := func(f func(*http.Request) error) Authenticator {
		n := 0
		return Custom(func(r *http.Request) error {
			if n++; n == 1 {
				return nil
			}
			assert.Equal(t, 2, n, "it is not tried again")
			return f(r)
		})
	}
	fetched := func(f func(context.Context) error) Authenticator {
		n := 0
		return NewTokenSource(func(ctx context.Context) (string, time.Time, error) {
			if n++; n == 1 {
				return "t1", time.Now(), nil
			}
			assert.Equal(t, 2, n, "it is not tried again")
			return "", time.Time{}, f(ctx)
		}).Authenticator("Authorization", "Bearer")
	}
	within := func(d time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
		return func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, d) }
	}
	canceledIn := func(d time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
		return func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(d, cancel)
			return ctx, cancel
		}
	}
	ways := map[string]func() way{
		"rate limit does not fit": func() way {
			return way{change: limitOf(time.Hour, 1), ctx: within(time.Minute), want: context.DeadlineExceeded}
		},
		"canceled at the rate limit": func() way {
			return way{change: limitOf(time.Hour, 1), ctx: canceledIn(time.Minute), want: context.Canceled}
		},
		"authenticator failed": func() way {
			return way{a: second(func(*http.Request) error { return errSecret }), want: errSecret, auth: true}
		},
		"authenticator moved it": func() way {
			return way{a: second(func(r *http.Request) error { r.Host = "h"; return nil }), want: errMoved}
		},
		"authenticator set a bad header": func() way {
			return way{a: second(func(r *http.Request) error { r.Header[""] = nil; return nil }), want: errInvalidHeader}
		},
		"authenticator took too long": func() way {
			return way{a: second(func(r *http.Request) error { <-r.Context().Done(); return errSecret }), want: context.DeadlineExceeded, auth: true}
		},
		"authenticator was late": func() way {
			return way{a: second(func(r *http.Request) error { <-r.Context().Done(); return nil }), want: context.DeadlineExceeded}
		},
		"canceled in the authenticator": func() way {
			return way{
				a:   second(func(r *http.Request) error { <-r.Context().Done(); return r.Context().Err() }),
				ctx: canceledIn(15 * time.Second), want: context.Canceled, auth: true,
			}
		},
		"token source failed": func() way {
			return way{a: fetched(func(context.Context) error { return errSecret }), want: errSecret, auth: true}
		},
		"token is empty": func() way { return way{a: fetched(func(context.Context) error { return nil }), want: errInvalidToken} },
		"token source took too long": func() way {
			return way{a: fetched(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }), want: context.DeadlineExceeded, auth: true}
		},
		"context ended": func() way {
			stop := context.CancelFunc(nil)
			return way{
				ctx: func(ctx context.Context) (_ context.Context, cancel context.CancelFunc) {
					ctx, stop = context.WithCancel(ctx)
					return ctx, stop
				},
				change: limitOf(time.Hour, 1),
				backed: func() { stop() },
				a:      second(func(*http.Request) error { t.Error("the authenticator was called"); return nil }),
				want:   context.Canceled,
			}
		},
	}
	for name, next := range ways {
		for kind, tc := range map[string]struct {
			request Request
			react   reaction
			want    Outcome
		}{
			"an answer": {sendRequest(), responds(429, "slow down", "Retry-After", "10", "X-Request-Id", "r-1"), Outcome{
				StatusCode: 429, Header: http.Header{"Retry-After": {"10"}, "X-Request-Id": {"r-1"}}, Body: []byte("slow down"),
				Written: true, Attempts: 1, RetryAfter: 10 * time.Second,
			}},
			"an answer that was cut": {readRequest(), cutResponse(200), Outcome{
				StatusCode: 200, Header: http.Header{}, Body: []byte("half"), Err: io.ErrUnexpectedEOF, Written: true, Attempts: 1,
			}},
			"nothing was written": {sendRequest(), unsent(errRefused), Outcome{Err: errRefused, Attempts: 1}},
			"in doubt":            {readRequest(), breaks(io.EOF), Outcome{Err: io.EOF, Written: true, Attempts: 1}},
		} {
			t.Run(name+", "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					way := next()
					ctx, cancel := t.Context(), context.CancelFunc(func() {})
					if way.ctx != nil {
						ctx, cancel = way.ctx(ctx)
					}
					defer cancel()
					change := func(*Transport) {}
					if way.change != nil {
						change = way.change
					}
					base := newFakeBase(tc.react)
					request := authenticatedBy(tc.request, way.a)
					request.Observe = func(ctx context.Context, step Step, _ int) (context.Context, func(Outcome)) {
						return ctx, func(Outcome) {
							if step == Backoff && way.backed != nil {
								way.backed()
							}
						}
					}
					out := newTransport(base, timeoutOf(20*time.Second), waits(time.Millisecond, 2*time.Hour), change).Do(ctx, request)
					require.ErrorIs(t, out.Interrupted, way.want)
					assert.Equal(t, way.auth, isAuthError(out.Interrupted))
					if name == "context ended" {
						assert.Equal(t, context.Canceled, out.Interrupted, "it is the context's own error")
					}
					assert.Equal(t, name == "rate limit does not fit", out.Wait > 0)
					out.Interrupted = nil
					out.Wait = 0
					assertOutcome(t, tc.want, out)
					assert.Equal(t, 1, base.count())
				})
			})
		}
	}
}

func TestAttemptsCountsRequestsBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		base := newFakeBase(responds(503, "first"), breaks(io.EOF), responds(502, "third"))
		out := newTransport(base, attemptsUpTo(9)).Do(t.Context(), authenticatedBy(readRequest(), Custom(func(*http.Request) error {
			if asked++; asked == 4 {
				return errSecret
			}
			return nil
		})))
		require.ErrorIs(t, out.Interrupted, errSecret)
		out.Interrupted = nil
		assertOutcome(t, Outcome{StatusCode: 502, Header: http.Header{}, Body: []byte("third"), Written: true, Attempts: 3}, out)
	})
}

func TestContextThatEndsInAuthenticationSendsNothing(t *testing.T) {
	for _, failure := range []error{nil, errSecret} {
		ctx, cancel := context.WithCancel(t.Context())
		base := newFakeBase(responds(200, "{}"))
		out := newTransport(base).Do(ctx, authenticatedBy(sendRequest(), Custom(func(*http.Request) error { cancel(); return failure })))
		require.ErrorIs(t, out.Err, context.Canceled)
		assert.Equal(t, failure != nil, isAuthError(out.Err))
		if failure != nil {
			assert.ErrorIs(t, out.Err, failure)
		}
		assertOutcome(t, Outcome{Err: out.Err}, out)
		assert.Zero(t, base.count())
	}
}

func limitOf(every time.Duration, burst int) func(*Transport) {
	return func(c *Transport) { c.Limit = NewLimiter(1/every.Seconds(), burst) }
}

func TestRateLimitDelaysEachAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newFakeBase(responds(503, ""), unsent(errRefused), responds(200, "{}"))
		start := time.Now()
		tr := newTransport(base, limitOf(10*time.Second, 1))
		tr.Do(t.Context(), readRequest())
		tr.Do(t.Context(), sendRequest())
		require.Equal(t, 4, base.count())
		for i, request := range base.requests() {
			want := start.Add(time.Duration(i) * 10 * time.Second)
			assert.WithinDuration(t, want, request.at, time.Microsecond, "attempt %d: retries count too", i+1)
		}
	})
}

func TestRateLimitAllowsItsBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newFakeBase(responds(200, ""))
		start := time.Now()
		tr := newTransport(base, limitOf(10*time.Second, 3))
		for range 4 {
			tr.Do(t.Context(), sendRequest())
		}
		assert.Equal(t, start, base.requests()[2].at)
		assert.Equal(t, 10*time.Second, base.requests()[3].at.Sub(start))
	})
}

func TestRateLimitIsNotPartOfTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var remaining time.Duration
		base := newFakeBase(func(r *http.Request) (*http.Response, error) {
			deadline, _ := r.Context().Deadline()
			remaining = time.Until(deadline)
			return responds(200, "{}")(r)
		})
		tr := newTransport(base, limitOf(time.Minute, 1), timeoutOf(time.Second))
		tr.Do(t.Context(), sendRequest())
		require.NoError(t, tr.Do(t.Context(), sendRequest()).Err)
		assert.Equal(t, time.Minute, base.requests()[1].at.Sub(base.requests()[0].at))
		assert.Equal(t, time.Second, remaining, "the request has its whole time when its turn comes")
	})
}

func TestRateLimitBeyondTheDeadlineFailsAtOnce(t *testing.T) {
	for _, request := range []Request{sendRequest(), readRequest()} {
		synctest.Test(t, func(t *testing.T) {
			base := newFakeBase(responds(200, "{}"))
			tr := newTransport(base, limitOf(time.Minute, 1))
			tr.Do(t.Context(), sendRequest())
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			start := time.Now()
			out := tr.Do(ctx, request)
			assert.Zero(t, time.Since(start))
			require.ErrorIs(t, out.Err, context.DeadlineExceeded)
			assert.Contains(t, out.Err.Error(), "rate limit")
			assertOutcome(t, Outcome{Err: out.Err, Wait: time.Minute}, out)
			assert.Equal(t, 1, base.count())
		})
	}
}

func TestRateLimitTurnIsReturnedByACanceledCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newFakeBase(responds(200, "{}"))
		tr := newTransport(base, limitOf(time.Minute, 1))
		start := time.Now()
		tr.Do(t.Context(), sendRequest())
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Second, cancel)
		out := tr.Do(ctx, sendRequest())
		assert.Equal(t, 10*time.Second, time.Since(start))
		require.ErrorIs(t, out.Err, context.Canceled)
		assertOutcome(t, Outcome{Err: out.Err}, out)
		tr.Do(t.Context(), sendRequest())
		require.Equal(t, 2, base.count())
		assert.Equal(t, time.Minute, base.requests()[1].at.Sub(start))
	})
}

func TestRateLimitIsSharedByCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newFakeBase(responds(200, "{}"))
		tr := newTransport(base, limitOf(100*time.Millisecond, 1))
		start := time.Now()
		var calls sync.WaitGroup
		for range 50 {
			calls.Go(func() { tr.Do(t.Context(), sendRequest()) })
		}
		calls.Wait()
		assert.WithinDuration(t, start.Add(4900*time.Millisecond), time.Now(), time.Microsecond)
	})
}

func TestBaseChangesOneAttemptOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newFakeBase(func(r *http.Request) (*http.Response, error) {
			r.Header.Set("X-Added", "by a round tripper")
			r.Header.Del("Accept")
			r.URL.RawQuery = "changed=1"
			return responds(503, "")(r)
		})
		request := readRequest()
		tr := newTransport(base)
		tr.Do(t.Context(), request)
		for _, s := range base.requests() {
			assert.Empty(t, s.header.Get("X-Added"))
			assert.Equal(t, "application/json", s.header.Get("Accept"))
			assert.Equal(t, readRequest().URL.String(), s.url)
		}
		assert.Equal(t, readRequest().URL, request.URL)
	})
}

// A round tripper that masks credentials for its log may do so in place.
func TestBaseMayEditHeaderValuesInPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mask := func(react reaction) reaction {
			return func(r *http.Request) (*http.Response, error) {
				for name, values := range r.Header {
					if name == "Accept" || name == "Content-Type" || name == "User-Agent" {
						continue // constants, shared by all requests
					}
					for i := range values {
						values[i] = "***"
					}
				}
				return react(r)
			}
		}
		source, _ := issued()
		for name, a := range map[string]Authenticator{
			"none":   nil,
			"header": Header("Authorization", "Bearer x", "X-Api-Key", "k"),
			"source": source.Authenticator("Authorization", "Bearer"),
			"custom": Custom(func(r *http.Request) error { r.Header.Set("X-Key", "k"); return nil }),
		} {
			jar, err := cookiejar.New(nil)
			require.NoError(t, err)
			jar.SetCookies(readRequest().URL, []*http.Cookie{{Name: "route", Value: "1", Path: "/"}})
			base := newFakeBase(mask(responds(429, "")), mask(unsent(errRefused)), mask(responds(200, "{}")))
			tr := newTransport(base, func(c *Transport) { c.Jar = jar })
			for range 2 {
				require.Equal(t, 200, tr.Do(t.Context(), authenticatedBy(sendRequest(), a)).StatusCode)
			}
			require.Equal(t, 4, base.count(), name)
			want := base.requests()[0].header
			assert.Equal(t, []string{"application/json"}, want["Accept"], name)
			for i, request := range base.requests() {
				assert.Equal(t, want, request.header, "%s, attempt %d", name, i+1)
			}
		}
	})
}

func TestResponseBesideAnErrorIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := &countedBody{Reader: strings.NewReader("x")}
		base := newFakeBase(func(r *http.Request) (*http.Response, error) {
			writing(r)
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body}, errReset
		})
		out := newTransport(base).Do(t.Context(), sendRequest())
		assertOutcome(t, Outcome{Err: errReset, Written: true, Attempts: 1}, out)
		assert.Equal(t, 1, body.closed)

		bodiless := newFakeBase(func(*http.Request) (*http.Response, error) { return &http.Response{}, errReset })
		assertOutcome(t, Outcome{Err: errReset, Written: true, Attempts: 1}, newTransport(bodiless).Do(t.Context(), sendRequest()))
	})
}

func TestOutcomeHoldsTheRequestSent(t *testing.T) {
	out := newTransport(newFakeBase(responds(200, "{}"))).Do(t.Context(), authenticatedBy(sendRequest(), Header("X-Api-Key", "k")))
	assert.Equal(t, "k", out.Sent.Header.Get("X-Api-Key"))
	assert.Equal(t, sendRequest().URL, out.Sent.URL)

	out = newTransport(newFakeBase(responds(200, "{}"))).Do(t.Context(), authenticatedBy(sendRequest(), Custom(func(*http.Request) error { return errSecret })))
	assert.Nil(t, out.Sent)
}
