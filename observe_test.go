package messaging_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// watcher is an Observer that keeps what it is told. Lines are indented by the depth of the step.
type watcher struct {
	name string

	mu      sync.Mutex
	lines   []string
	results map[messaging.StepKind][]messaging.StepResult
}

type (
	depthKey   struct{ *watcher }
	stepKey    struct{}
	innermost  struct{ name string }
	attemptKey struct{}
)

func (w *watcher) StartStep(ctx context.Context, step messaging.Step) context.Context {
	depth, _ := ctx.Value(depthKey{w}).(int)
	line := strings.Repeat("  ", depth) + string(step.Kind) + " " + step.Operation
	if step.Attempt > 0 {
		line += fmt.Sprint(" ", step.Attempt)
	}
	w.add(line)
	ctx = context.WithValue(ctx, stepKey{}, innermost{w.name})
	if step.Kind == messaging.StepAttempt {
		ctx = context.WithValue(ctx, attemptKey{}, step.Attempt)
	}
	return context.WithValue(ctx, depthKey{w}, depth+1)
}

func (w *watcher) EndStep(ctx context.Context, step messaging.Step, result messaging.StepResult) {
	depth, _ := ctx.Value(depthKey{w}).(int)
	w.add(strings.Repeat("  ", depth-1) + "end of " + string(step.Kind))
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.results == nil {
		w.results = map[messaging.StepKind][]messaging.StepResult{}
	}
	w.results[step.Kind] = append(w.results[step.Kind], result)
}

func (w *watcher) add(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, line)
}

// begun returns the lines of steps that began.
func (w *watcher) begun() []string {
	return slices.DeleteFunc(slices.Clone(w.lines), func(line string) bool { return strings.Contains(line, "end of ") })
}

func TestObserverSeesEveryStepOfASend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := 0
		service := roundTripper(func(r *http.Request) (*http.Response, error) {
			if requests++; requests == 1 {
				return respond(r, http.StatusTooManyRequests, `{"code":"40002","requestId":"r-1"}`, "Retry-After", "1"), nil
			}
			return respond(r, http.StatusOK, accepted), nil
		})
		w := &watcher{}
		client, err := messaging.NewClient("https://api.example.com:8443/base", service.option(), messaging.WithRateLimit(0.1, 1),
			messaging.WithObserver(w), messaging.WithTokenSource(func(context.Context) (messaging.Token, error) {
				time.Sleep(time.Second)
				return messaging.Token{Value: "SECRET"}, nil
			}))
		require.NoError(t, err)
		receipt, err := client.SMS.Send(t.Context(), message)
		require.NoError(t, err)
		assert.Equal(t, []string{
			"call sms.send", "  token sms.send", "  end of token",
			"  attempt sms.send 1", "  end of attempt",
			"  backoff sms.send 2", "  end of backoff",
			"  wait sms.send 2", "  end of wait",
			"  attempt sms.send 2", "  end of attempt", "end of call",
		}, w.lines)
		assert.Equal(t, []messaging.StepResult{{
			Duration: 11 * time.Second, Verdict: messaging.Accepted, StatusCode: http.StatusOK, Attempts: 2, // the first turn is of when it was written
			MessageID: receipt.ID, RequestID: "r-77", Parts: 1,
		}}, w.results[messaging.StepCall])
		assert.Equal(t, []messaging.StepResult{
			{
				Reason: "messaging: sms.send refused: HTTP 429, code 40002, rate limited, request r-1, asked to wait 1s",
				Class:  "rate limited", StatusCode: http.StatusTooManyRequests, RequestID: "r-1",
			},
			{StatusCode: http.StatusOK},
		}, w.results[messaging.StepAttempt])
		assert.Equal(t, time.Second, w.results[messaging.StepToken][0].Duration)
		assert.Positive(t, w.results[messaging.StepWait][0].Duration)
		assert.GreaterOrEqual(t, w.results[messaging.StepBackoff][0].Duration, time.Second)
	})
}

func TestObserverSeesSettlingAsPartOfTheSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &watcher{}
		c := &clerk{sends: "lost", lookups: "nothing listed", listedTo: message.To, start: time.Now()}
		client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("t"),
			messaging.WithHTTPClient(&http.Client{Transport: c}), messaging.WithObserver(w))
		require.NoError(t, err)
		_, err = client.SMS.SendOnce(t.Context(), message)
		require.NoError(t, err)
		assert.Equal(t, []string{
			"call sms.send", "  attempt sms.send 1",
			"  lookup sms.list", "    call sms.list", "      attempt sms.list 1",
			"  backoff sms.list",
			"  lookup sms.list", "    call sms.list", "      attempt sms.list 1",
		}, w.begun())
		calls := w.results[messaging.StepCall]
		assert.Equal(t, messaging.Accepted, calls[len(calls)-1].Verdict, "one verdict for the whole send")
		assert.Equal(t, "not listed", w.results[messaging.StepLookup][0].Class)
		assert.Empty(t, w.results[messaging.StepLookup][1].Reason)
	})
}

func TestObserverSeesHowACallFailed(t *testing.T) {
	wrong := message
	wrong.To = ""
	for name, test := range map[string]struct {
		message sms.Message
		respond roundTripper
		token   error
		want    messaging.StepResult
		begun   []string
	}{
		"invalid": {message: wrong, want: messaging.StepResult{
			Verdict: messaging.NotSent, Class: "invalid", Reason: "messaging: sms.send not sent: To: required, but absent",
		}, begun: []string{"call sms.send"}},
		"refused": {respond: func(r *http.Request) (*http.Response, error) {
			return respond(r, http.StatusBadRequest, `{"code":"200101","message":"no credit"}`), nil
		}, want: messaging.StepResult{
			Verdict: messaging.Refused, Class: "insufficient balance", StatusCode: 400, Attempts: 1,
			Reason: `messaging: sms.send refused: HTTP 400, code 200101, insufficient balance, "no credit"`,
		}},
		"no such path": {respond: func(r *http.Request) (*http.Response, error) {
			return respond(r, http.StatusNotFound, "<html>"), nil
		}, want: messaging.StepResult{
			Verdict: messaging.Unknown, Class: "not found", StatusCode: 404, Attempts: 1,
			Reason: "messaging: sms.send has an unknown outcome: HTTP 404, a page responded to POST /sms/send: the base URL or the path may be wrong, not found, \"<html>\"",
		}},
		"lost": {respond: func(*http.Request) (*http.Response, error) { return nil, errors.New("reset by " + message.To) }, want: messaging.StepResult{
			Verdict: messaging.Unknown, Attempts: 1,
			Reason: "messaging: sms.send has an unknown outcome: the round tripper failed, and does not tell whether it wrote the request",
		}},
		"no token": {token: errors.New("SECRET"), want: messaging.StepResult{
			Verdict: messaging.NotSent, Reason: "messaging: sms.send not sent: authentication failed before anything was sent",
		}, begun: []string{"call sms.send", "  token sms.send"}},
		"numbers in the response": {respond: func(r *http.Request) (*http.Response, error) {
			return respond(r, http.StatusOK, `{"id":"639171234567","requestId":"639171234567"}`), nil
		}, want: messaging.StepResult{Verdict: messaging.Accepted, StatusCode: 200, Attempts: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &watcher{}
			client, err := messaging.NewClient("https://api.example.com", test.respond.option(), messaging.WithObserver(w),
				messaging.WithTokenSource(func(context.Context) (messaging.Token, error) {
					return messaging.Token{Value: "SECRET"}, test.token
				}))
			require.NoError(t, err)
			if test.message.From == "" {
				test.message = message
			}
			_, _ = client.SMS.Send(t.Context(), test.message)
			require.Len(t, w.results[messaging.StepCall], 1)
			got := w.results[messaging.StepCall][0]
			got.Duration = 0
			assert.Equal(t, test.want, got)
			if test.begun != nil {
				assert.Equal(t, test.begun, w.begun())
			}
			shown, err := json.Marshal(w.results)
			require.NoError(t, err)
			assertSilent(t, string(shown))
		})
	}
}

// The context of an attempt is that of its request, so that a span can be passed on in headers.
func TestObserverContextReachesTheWrappedTransport(t *testing.T) {
	var seen []any
	service := roundTripper(func(r *http.Request) (*http.Response, error) {
		if len(seen) < 2 {
			return respond(r, http.StatusTooManyRequests, ""), nil
		}
		return respond(r, http.StatusOK, accepted), nil
	})
	client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("t"), service.option(), messaging.WithObserver(&watcher{}),
		messaging.WithRetry(messaging.RetryPolicy{MinWait: 1, MaxWait: 1}),
		messaging.WithTransport(func(base http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				seen = append(seen, r.Context().Value(attemptKey{}))
				return base.RoundTrip(r)
			})
		}))
	require.NoError(t, err)
	_, err = client.SMS.Send(t.Context(), message)
	require.NoError(t, err)
	assert.Equal(t, []any{1, 2}, seen)
}

// The caller's own hooks run once for each event, even if an attempt has another context from an observer.
func TestObserverLeavesTheCallersTraceAlone(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, accepted) }))
	defer server.Close()
	type key struct{}
	client, err := messaging.NewClient(server.URL, messaging.WithToken("t"), messaging.WithObserver(observerFuncs{
		start: func(ctx context.Context, step messaging.Step) context.Context {
			return context.WithValue(ctx, key{}, step.Kind)
		},
		end: func(context.Context, messaging.Step, messaging.StepResult) {},
	}))
	require.NoError(t, err)
	var connections, headers atomic.Int32
	_, err = client.SMS.Send(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		GetConn:      func(string) { connections.Add(1) },
		WroteHeaders: func() { headers.Add(1) },
	}), message)
	require.NoError(t, err)
	assert.EqualValues(t, 1, connections.Load())
	assert.EqualValues(t, 1, headers.Load())
}

func TestObserversAreNested(t *testing.T) {
	var order []string
	observe := func(name string) messaging.Option {
		return messaging.WithObserver(observerFuncs{
			start: func(ctx context.Context, step messaging.Step) context.Context {
				order = append(order, fmt.Sprint("start ", name, " in ", ctx.Value(stepKey{})))
				return context.WithValue(ctx, stepKey{}, name)
			},
			end: func(ctx context.Context, _ messaging.Step, _ messaging.StepResult) {
				order = append(order, "end "+name)
			},
		})
	}
	wrong := message
	wrong.To = ""
	client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("t"), observe("a"))
	require.NoError(t, err)
	both, err := client.With(observe("b"))
	require.NoError(t, err)
	other, err := client.With(observe("c"))
	require.NoError(t, err)
	for _, c := range []*messaging.Client{client, both, other} {
		_, err = c.SMS.Send(t.Context(), wrong)
		require.Error(t, err)
	}
	assert.Equal(t, []string{
		"start a in <nil>", "end a",
		"start a in <nil>", "start b in a", "end b", "end a",
		"start a in <nil>", "start c in a", "end c", "end a",
	}, order)
}

type observerFuncs struct {
	start func(context.Context, messaging.Step) context.Context
	end   func(context.Context, messaging.Step, messaging.StepResult)
}

func (o observerFuncs) StartStep(ctx context.Context, s messaging.Step) context.Context {
	return o.start(ctx, s)
}

func (o observerFuncs) EndStep(ctx context.Context, s messaging.Step, r messaging.StepResult) {
	o.end(ctx, s, r)
}

// A panic of an observer is a panic of the call, and leaves the client usable.
func TestObserverThatPanics(t *testing.T) {
	client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("t"), roundTripper(func(r *http.Request) (*http.Response, error) {
		return respond(r, http.StatusOK, accepted), nil
	}).option())
	require.NoError(t, err)
	panicking, err := client.With(messaging.WithObserver(observerFuncs{
		start: func(ctx context.Context, step messaging.Step) context.Context {
			if step.Kind == messaging.StepAttempt {
				panic("observer")
			}
			return ctx
		},
		end: func(context.Context, messaging.Step, messaging.StepResult) {},
	}))
	require.NoError(t, err)
	assert.PanicsWithValue(t, "observer", func() { _, _ = panicking.SMS.Send(t.Context(), message) })
	_, err = client.SMS.Send(t.Context(), message)
	require.NoError(t, err)
}

func TestStepsSayWhatIsCalled(t *testing.T) {
	var steps []messaging.Step
	client, err := messaging.NewClient("https://api.example.com:8443/base", messaging.WithToken("t"),
		roundTripper(func(r *http.Request) (*http.Response, error) { return respond(r, http.StatusOK, accepted), nil }).option(),
		messaging.WithObserver(observerFuncs{
			start: func(ctx context.Context, step messaging.Step) context.Context {
				steps = append(steps, step)
				return ctx
			},
			end: func(context.Context, messaging.Step, messaging.StepResult) {},
		}))
	require.NoError(t, err)
	_, err = client.SMS.Send(t.Context(), message)
	require.NoError(t, err)
	_, err = client.SMS.Find(t.Context(), "order-17")
	require.Error(t, err)
	send := messaging.Step{
		Kind: messaging.StepCall, Operation: "sms.send", Channel: messaging.ChannelSMS, Method: http.MethodPost, Server: "api.example.com:8443",
	}
	attempt := send
	attempt.Kind, attempt.Attempt = messaging.StepAttempt, 1
	require.GreaterOrEqual(t, len(steps), 3)
	assert.Equal(t, []messaging.Step{send, attempt}, steps[:2])
	assert.Equal(t, messaging.Step{
		Kind: messaging.StepLookup, Operation: "sms.list", Channel: messaging.ChannelSMS, Read: true, Method: http.MethodGet,
		Server: "api.example.com:8443",
	}, steps[2])
}
