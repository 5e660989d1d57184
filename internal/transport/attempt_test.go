package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
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

func TestASuccessIsKeptHoweverLateTheContextEnds(t *testing.T) {
	for name, react := range map[string]func(end func()) reaction{
		"before the answer": func(end func()) reaction {
			return func(r *http.Request) (*http.Response, error) {
				end()
				return answers(200, "accepted")(r)
			}
		},
		"in the body": func(end func()) reaction {
			return func(*http.Request) (*http.Response, error) {
				return response(200, endingReader{strings.NewReader("accepted"), end}), nil
			}
		},
	} {
		for _, request := range []Request{aSend(), aRead()} {
			t.Run(name+", canceled, "+request.Operation, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				out := newTransport(newBase(react(cancel))).Do(ctx, request)
				require.Error(t, ctx.Err())
				assert.Equal(t, Outcome{StatusCode: 200, Header: http.Header{}, Body: []byte("accepted"), Written: true, Attempts: 1}, out)
			})
			t.Run(name+", deadline, "+request.Operation, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					out := newTransport(newBase(react(func() { time.Sleep(time.Minute) }))).Do(ctx, request)
					require.Error(t, ctx.Err())
					assert.Equal(t, Outcome{StatusCode: 200, Header: http.Header{}, Body: []byte("accepted"), Written: true, Attempts: 1}, out)
				})
			})
			t.Run(name+", timeout, "+request.Operation, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					out := newTransport(newBase(react(func() { time.Sleep(time.Minute) }))).Do(t.Context(), request)
					assert.Equal(t, Outcome{StatusCode: 200, Header: http.Header{}, Body: []byte("accepted"), Written: true, Attempts: 1}, out)
				})
			})
		}
	}
}

func TestTheTimeoutBoundsEachAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newBase(hangs)
		out := newTransport(base, timeoutOf(7*time.Second), attemptsUpTo(3), waits(time.Second, time.Second)).Do(t.Context(), aRead())
		require.Equal(t, 3, base.count())
		for i := range 2 {
			took := base.requests()[i+1].at.Sub(base.requests()[i].at)
			assert.GreaterOrEqual(t, took, 7*time.Second)
			assert.LessOrEqual(t, took, 8*time.Second)
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

// silence gives no end, as a connection does that went silent, until the context ends.
func silence(ctx context.Context) io.Reader {
	return readerFunc(func([]byte) (int, error) {
		<-ctx.Done()
		return 0, ctx.Err()
	})
}

func TestTheTimeoutBoundsReadingTheAnswer(t *testing.T) {
	for _, status := range []int{200, 503} {
		synctest.Test(t, func(t *testing.T) {
			base := newBase(func(r *http.Request) (*http.Response, error) {
				writing(r)
				return response(status, io.MultiReader(strings.NewReader("half"), silence(r.Context()))), nil
			})
			start := time.Now()
			out := newTransport(base, timeoutOf(7*time.Second)).Do(t.Context(), aSend())
			assert.Equal(t, 7*time.Second, time.Since(start))
			assert.Equal(t, status, out.StatusCode)
			assert.Equal(t, "half", string(out.Body))
			require.ErrorIs(t, out.Err, context.DeadlineExceeded)
			assert.Contains(t, out.Err.Error(), "timeout of 7s")
			assert.Equal(t, 1, base.count())
		})
	}
}

func TestTheTimeoutBoundsAuthentication(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newBase(answers(200, "{}"))
		source := NewSource(func(ctx context.Context) (string, time.Time, error) {
			<-ctx.Done()
			return "", time.Time{}, ctx.Err()
		})
		start := time.Now()
		out := newTransport(base, timeoutOf(7*time.Second)).Do(t.Context(), authenticatedBy(aRead(), source.Authenticator("Authorization", "")))
		assert.Equal(t, 7*time.Second, time.Since(start), "it is not repeated")
		assert.False(t, out.Written)
		require.ErrorIs(t, out.Err, context.DeadlineExceeded)
		assert.Contains(t, out.Err.Error(), "timeout of 7s")
		assert.Zero(t, base.count())
	})
}

func TestTheCallersContextIsNamedAsTheCause(t *testing.T) {
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
					base := newBase(react)
					out := newTransport(base).Do(ctx, aRead())
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

func TestACallWhoseContextHasEndedSendsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	base := newBase(answers(200, "{}"))
	for _, request := range []Request{aSend(), aRead()} {
		out := newTransport(base).Do(ctx, request)
		require.ErrorIs(t, out.Err, context.Canceled)
		assert.False(t, out.Written)
		assert.Zero(t, out.StatusCode)
	}
	assert.Zero(t, base.count())
}

func TestAContextThatEndsInAuthenticationSendsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	base := newBase(answers(200, "{}"))
	out := newTransport(base).Do(ctx, authenticatedBy(aSend(), Custom(func(*http.Request) error { cancel(); return nil })))
	require.ErrorIs(t, out.Err, context.Canceled)
	assert.False(t, out.Written)
	assert.Zero(t, base.count())
}

func limitOf(every time.Duration, burst int) func(*Config) {
	return func(c *Config) { c.Limiter = rate.NewLimiter(rate.Every(every), burst) }
}

func TestAttemptsWaitForTheRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newBase(answers(503, ""), unsent(errRefused), answers(200, "{}"))
		start := time.Now()
		tr := newTransport(base, limitOf(10*time.Second, 1))
		tr.Do(t.Context(), aRead())
		tr.Do(t.Context(), aSend())
		require.Equal(t, 4, base.count())
		for i, request := range base.requests() {
			want := start.Add(time.Duration(i) * 10 * time.Second)
			assert.WithinDuration(t, want, request.at, time.Microsecond, "attempt %d: retries count too", i+1)
		}
	})
}

func TestTheRateLimitAllowsItsBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newBase(answers(200, ""))
		start := time.Now()
		tr := newTransport(base, limitOf(10*time.Second, 3))
		for range 4 {
			tr.Do(t.Context(), aSend())
		}
		assert.Equal(t, start, base.requests()[2].at)
		assert.Equal(t, 10*time.Second, base.requests()[3].at.Sub(start))
	})
}

func TestTheTimeoutLeavesTheWaitForTheRateLimitAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newBase(answers(200, "{}"))
		tr := newTransport(base, limitOf(time.Minute, 1), timeoutOf(time.Second))
		tr.Do(t.Context(), aSend())
		var remaining time.Duration
		out := tr.Do(t.Context(), authenticatedBy(aSend(), Custom(func(r *http.Request) error {
			deadline, _ := r.Context().Deadline()
			remaining = time.Until(deadline)
			return nil
		})))
		require.NoError(t, out.Err)
		assert.Equal(t, time.Minute, base.requests()[1].at.Sub(base.requests()[0].at))
		assert.Equal(t, time.Second, remaining, "credentials are put in when it is the attempt's turn, with its whole time left")
	})
}

func TestADeadlineTooShortForTheRateLimitEndsTheCallAtOnce(t *testing.T) {
	for _, request := range []Request{aSend(), aRead()} {
		synctest.Test(t, func(t *testing.T) {
			base := newBase(answers(200, "{}"))
			tr := newTransport(base, limitOf(time.Minute, 1))
			tr.Do(t.Context(), aSend())
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			start := time.Now()
			out := tr.Do(ctx, request)
			assert.Zero(t, time.Since(start))
			require.ErrorIs(t, out.Err, context.DeadlineExceeded)
			assert.Contains(t, out.Err.Error(), "rate limit")
			assert.False(t, out.Written)
			assert.Equal(t, 1, base.count())
		})
	}
}

func TestAContextThatEndsWhileItWaitsForTheRateLimitGivesItsTurnBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newBase(answers(200, "{}"))
		tr := newTransport(base, limitOf(time.Minute, 1))
		start := time.Now()
		tr.Do(t.Context(), aSend())
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Second, cancel)
		out := tr.Do(ctx, aSend())
		assert.Equal(t, 10*time.Second, time.Since(start))
		require.ErrorIs(t, out.Err, context.Canceled)
		assert.False(t, out.Written)
		tr.Do(t.Context(), aSend())
		require.Equal(t, 2, base.count())
		assert.Equal(t, time.Minute, base.requests()[1].at.Sub(start))
	})
}

func TestManyCallsShareOneRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newBase(answers(200, "{}"))
		tr := newTransport(base, limitOf(100*time.Millisecond, 1))
		start := time.Now()
		var calls sync.WaitGroup
		for range 50 {
			calls.Go(func() { tr.Do(t.Context(), aSend()) })
		}
		calls.Wait()
		assert.WithinDuration(t, start.Add(4900*time.Millisecond), time.Now(), time.Microsecond)
	})
}

func TestWhatABaseDoesToARequestDoesNotShowInTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newBase(func(r *http.Request) (*http.Response, error) {
			r.Header.Set("X-Added", "by a round tripper")
			r.Header.Del("Accept")
			r.URL.RawQuery = "changed=1"
			return answers(503, "")(r)
		})
		request := aRead()
		tr := newTransport(base)
		tr.Do(t.Context(), request)
		for _, s := range base.requests() {
			assert.Empty(t, s.header.Get("X-Added"))
			assert.Equal(t, "application/json", s.header.Get("Accept"))
			assert.Equal(t, aRead().URL.String(), s.url)
		}
		assert.Equal(t, aRead().URL, request.URL)
	})
}

func logged(t *testing.T, level slog.Level, request Request, reactions ...reaction) string {
	t.Helper()
	var text bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		logger := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
		newTransport(newBase(reactions...), timeoutOf(time.Second), func(c *Config) { c.Logger = logger }).Do(t.Context(), request)
	})
	return text.String()
}

func TestEachAttemptIsLogged(t *testing.T) {
	slow := func(r *http.Request) (*http.Response, error) {
		time.Sleep(250 * time.Millisecond)
		return answers(200, "{}")(r)
	}
	assert.Equal(t, strings.Join([]string{
		`level=DEBUG msg="messaging: attempt" operation=sms.list attempt=1 status=503 took=0s`,
		`level=DEBUG msg="messaging: attempt" operation=sms.list attempt=2 status=0 took=0s error="dial tcp: connection refused" written=false`,
		`level=DEBUG msg="messaging: attempt" operation=sms.list attempt=3 status=0 took=1s error="no whole answer within the timeout of 1s" written=true`,
		`level=DEBUG msg="messaging: attempt" operation=sms.list attempt=4 status=200 took=250ms`,
		"",
	}, "\n"), logged(t, slog.LevelDebug, aRead(), answers(503, ""), unsent(errRefused), hangs, slow))
}

func TestTheLogHoldsNothingThatBelongsToSomebody(t *testing.T) {
	secret := errors.New("secret-error")
	request := authenticatedBy(aRead(), Header("Authorization", "Bearer secret-token", "X-Secret", "secret-header"))
	request.URL.RawQuery = "to=639171234567&token=secret-query"
	request.URL.Path = "/secret-path"
	text := logged(t, slog.LevelDebug, request,
		breaks(secret), unsent(secret), cutAnswer(200),
		answers(200, "secret-body", "X-Secret-Answer", "secret-answer"),
	)
	send := aSend()
	send.Body = []byte("secret-sent 639171234567")
	text += logged(t, slog.LevelDebug, authenticatedBy(send, Custom(func(*http.Request) error { return secret })), answers(200, ""))
	require.Equal(t, 5, strings.Count(text, "messaging: attempt"))
	assert.NotContains(t, text, "secret")
	assert.NotContains(t, text, "639171234567")
	assert.NotContains(t, text, "example.com")
}

func TestAttemptsAreNotLoggedAboveDebug(t *testing.T) {
	assert.Empty(t, logged(t, slog.LevelInfo, aRead(), answers(503, ""), breaks(io.EOF), answers(200, "{}")))
}

// contextHandler keeps the contexts that it is given.
type contextHandler struct {
	slog.Handler
	values *[]any
	key    any
}

func (h contextHandler) Handle(ctx context.Context, r slog.Record) error {
	*h.values = append(*h.values, ctx.Value(h.key))
	return h.Handler.Handle(ctx, r)
}

func TestTheLoggerSeesTheCallersContext(t *testing.T) {
	type key struct{}
	var values []any
	handler := contextHandler{slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelDebug}), &values, key{}}
	tr := newTransport(newBase(answers(200, "{}")), func(c *Config) { c.Logger = slog.New(handler) })
	tr.Do(context.WithValue(t.Context(), key{}, "trace-1"), aSend())
	assert.Equal(t, []any{"trace-1"}, values)
}
