package messaging_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
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
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/internal/channeltest"
	"github.com/messaging-service/messaging-go/sms"
)

// asked is a guard that remembers what it was asked.
type asked struct {
	mu  sync.Mutex
	all []messaging.Outgoing
}

func (g *asked) guard(_ context.Context, m messaging.Outgoing) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all = append(g.all, m)
	return nil
}

func accepting() *troubled { return &troubled{status: 200, body: `{"id":"m1"}`} }

func TestGuardSeesMessagesOfEveryChannel(t *testing.T) {
	for i, channel := range channeltest.Channels() {
		var g asked
		_, err := channel.Send(t.Context(), accepting().client(t, messaging.WithGuard(g.guard)), chatNumber, "Hi", "order-17")
		require.NoError(t, err)
		g.all[0].From = ""
		want := messaging.Outgoing{Channel: messaging.Channel(i + 1), To: chatNumber, ReferenceID: "order-17", Kind: "text"}
		assert.Equal(t, []messaging.Outgoing{want}, g.all)
	}
}

func TestGuardSeesTheMessage(t *testing.T) {
	var g asked
	client := accepting().client(t, messaging.WithGuard(g.guard))
	to := chatapp1.New("channel-1", hello.To)
	for _, m := range []chatapp1.Message{
		to.Text("Hi"), to.Image("https://example.com/a.png"), to.Video(chatapp1.Video{URL: "https://example.com/a.mp4"}),
		to.CallToAction(chatapp1.CallToAction{Text: "Hi", ImageURL: "https://example.com/a.png", Caption: "Go", URL: "https://example.com"}),
		to.Template(chatapp1.Template{ID: "t-1"}), to.Raw(map[string]any{"sticker": "s"}),
	} {
		_, err := client.ChatApp1.Send(t.Context(), m.WithReference("r"))
		require.NoError(t, err)
	}
	sale := chatapp2.Template{Name: "sale", Language: "en"}
	for _, m := range []chatapp2.Message{
		{To: hello.To, Content: chatapp2.Text{Body: "Hi"}, ReferenceID: "r"},
		{To: "US.1349", Content: chatapp2.Template{Name: "order_ready", Language: "en"}},
		{To: hello.To, Content: chatapp2.Raw{Type: "template", JSON: []byte(`{"name":"raw_one"}`)}},
		{To: hello.To, Recipient: "US.1349", Content: chatapp2.Text{Body: "Hi"}, Fallback: &sms.Fallback{From: "SHOP", Text: "Hi"}, Marketing: true},
		{To: hello.To, Content: sale, MarketingOptions: chatapp2.MarketingOptions{ProductPolicy: chatapp2.PolicyStrict}},
	} {
		_, err := client.ChatApp2.Send(t.Context(), m)
		require.NoError(t, err)
	}
	_, err := client.SMS.Send(t.Context(), hello)
	require.NoError(t, err)
	app1 := func(kind, template string) messaging.Outgoing {
		return messaging.Outgoing{
			Channel: messaging.ChannelChatApp1, From: "channel-1", To: hello.To, ReferenceID: "r", Kind: kind, Template: template,
		}
	}
	assert.Equal(t, []messaging.Outgoing{
		app1("text", ""), app1("image", ""), app1("video", ""), app1("call_to_action", ""), app1("template", "t-1"), app1("raw", ""),
		{Channel: messaging.ChannelChatApp2, To: hello.To, ReferenceID: "r", Kind: "text"},
		{Channel: messaging.ChannelChatApp2, To: "US.1349", UserID: "US.1349", Kind: "template", Template: "order_ready"},
		{Channel: messaging.ChannelChatApp2, To: hello.To, Kind: "template", Template: "raw_one"},
		{Channel: messaging.ChannelChatApp2, To: hello.To, UserID: "US.1349", Kind: "text", Fallback: "SHOP", Marketing: true},
		{Channel: messaging.ChannelChatApp2, To: hello.To, Kind: "template", Template: "sale", Marketing: true},
		{Channel: messaging.ChannelSMS, From: "ACME", To: hello.To, ReferenceID: hello.ReferenceID, Kind: "text"},
	}, g.all)
}

func TestGuardIsAskedOnlyAboutValidMessages(t *testing.T) {
	var g asked
	client := accepting().client(t, messaging.WithGuard(g.guard))
	_, err := client.SMS.Send(t.Context(), sms.Message{To: "1"})
	require.ErrorIs(t, err, messaging.ErrInvalid)
	require.NoError(t, client.SMS.Validate(hello))
	_, err = client.SMS.Find(t.Context(), hello.ReferenceID)
	require.Error(t, err)
	assert.Empty(t, g.all)
}

// sendInEachWay sends a message with a guard that returns an error, and calls check with each error of a send.
func sendInEachWay(t *testing.T, guardErr error, check func(error)) {
	t.Helper()
	service := accepting()
	client := service.client(t, messaging.WithGuard(func(context.Context, messaging.Outgoing) error { return guardErr }))
	_, err := client.SMS.Send(t.Context(), hello)
	check(err)
	_, err = client.SMS.SendOnce(t.Context(), hello)
	check(err)
	for out := range client.SMS.SendAll(t.Context(), slices.Values([]sms.Message{hello, hello}), 2) {
		check(out.Err)
	}
	assert.Zero(t, service.requests)
}

func TestGuardSaysNo(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		text string
	}{
		"opted out":           {messaging.ErrOptedOut, "opted out"},
		"opted out, wrapped":  {fmt.Errorf("the SMS fallback: %w", messaging.ErrOptedOut), "the SMS fallback: opted out"},
		"the window":          {messaging.ErrWindowClosed, "the 24-hour window is closed"},
		"denied":              {messaging.Deny(errors.New("the budget is spent")), "the budget is spent"},
		"denied, wrapped":     {fmt.Errorf("today: %w", messaging.Deny(errors.New("the budget is spent"))), "today: the budget is spent"},
		"denied for a number": {messaging.Deny(errors.New("639171234567 of ACME is blocked, like 1234567")), "*** of *** is blocked, like ***"},
		"denied for nothing":  {messaging.Deny(nil), "denied"},
		"denied, with a wait": {messaging.Deny(messaging.Postpone(time.Hour)), "retry in 1h0m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			sendInEachWay(t, tc.err, func(err error) {
				require.ErrorIs(t, err, tc.err)
				require.ErrorIs(t, err, messaging.ErrDenied)
				require.ErrorIs(t, err, messaging.ErrNotSent)
				assert.NotErrorIs(t, err, messaging.ErrPostponed)
				assert.NotErrorIs(t, err, messaging.ErrInvalid)
				assert.Equal(t, messaging.NotSent, messaging.VerdictOf(err))
				_, retryable := messaging.Retryable(err)
				assert.False(t, retryable)
				assert.Equal(t, "messaging: sms.send not sent: "+tc.text, err.Error())
				e, _ := errors.AsType[*messaging.Error](err)
				assert.Equal(t, hello.ReferenceID, e.ReferenceID)
			})
		})
	}
}

func TestGuardSaysLater(t *testing.T) {
	errBudget := errors.New("the budget of +639171234567 is spent")
	for name, tc := range map[string]struct {
		err   error
		after time.Duration
		text  string
	}{
		"later":                      {messaging.Postpone(8 * time.Hour), 8 * time.Hour, ", try again in 8h0m0s"},
		"later, with a cause":        {errors.Join(errBudget, messaging.Postpone(time.Minute)), time.Minute, ", try again in 1m0s"},
		"at once, which is a second": {messaging.Postpone(0), time.Second, ", try again in 1s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sendInEachWay(t, tc.err, func(err error) {
					require.ErrorIs(t, err, tc.err)
					require.ErrorIs(t, err, messaging.ErrPostponed)
					assert.NotErrorIs(t, err, messaging.ErrDenied)
					assert.Equal(t, messaging.NotSent, messaging.VerdictOf(err))
					after, retryable := messaging.Retryable(err)
					assert.True(t, retryable)
					assert.Equal(t, tc.after, after)
					assert.Equal(t, "messaging: sms.send not sent: a guard postponed the message"+tc.text, err.Error())
				})
			})
		})
	}
}

// A guard whose database is away has not decided: the message is kept.
func TestGuardCouldNotDecide(t *testing.T) {
	errDatabase := errors.New("no row for +639171234567")
	for name, guardErr := range map[string]error{
		"an error":                    errDatabase,
		"an error, wrapped":           fmt.Errorf("book: %w", errDatabase),
		"a request of its own failed": &messaging.Error{Verdict: messaging.Refused, StatusCode: 400, RetryAfter: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sendInEachWay(t, guardErr, func(err error) {
					require.ErrorIs(t, err, guardErr)
					require.ErrorIs(t, err, messaging.ErrPostponed)
					assert.NotErrorIs(t, err, messaging.ErrDenied)
					assert.Equal(t, messaging.NotSent, messaging.VerdictOf(err))
					after, retryable := messaging.Retryable(err)
					assert.True(t, retryable)
					assert.Equal(t, time.Second, after)
					assert.Contains(t, err.Error(), "messaging: sms.send not sent: a guard could not decide (*")
					assert.NotContains(t, err.Error(), "639171234567")
				})
			})
		})
	}
}

// SendAll asks a guard again that could not decide, such as while its database is away, and refuses no message.
func TestSendAllWaitsForAGuard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		service := accepting()
		client := service.client(t, messaging.WithGuard(func(context.Context, messaging.Outgoing) error {
			if time.Since(began) < 2*time.Second {
				return errors.New("driver: bad connection")
			}
			return nil
		}))
		for out := range client.SMS.SendAll(t.Context(), slices.Values(slices.Repeat([]sms.Message{hello}, 500)), 1) {
			require.NoError(t, out.Err)
		}
		assert.Equal(t, 500, service.requests)
	})
}

// ways are the ways to send a message with a guard.
var ways = map[string]func(ctx context.Context, client *messaging.Client) error{
	"Send": func(ctx context.Context, client *messaging.Client) error {
		_, err := client.SMS.Send(ctx, hello)
		return err
	},
	"SendOnce": func(ctx context.Context, client *messaging.Client) error {
		_, err := client.SMS.SendOnce(ctx, hello)
		return err
	},
	"SendAll": func(ctx context.Context, client *messaging.Client) (err error) {
		for out := range client.SMS.SendAll(ctx, slices.Values([]sms.Message{hello}), 1) {
			err = out.Err
		}
		return err
	},
}

// heldFor opens the breaker of a client, and keeps it open for a time by a probe that is not answered before.
func heldFor(t *testing.T, length time.Duration, options ...messaging.Option) (client *messaging.Client, requests func() int) {
	t.Helper()
	const probe = "+639170000000"
	status, all := http.StatusServiceUnavailable, atomic.Int64{}
	client, err := messaging.NewClient("https://api.example.com", append([]messaging.Option{
		messaging.WithToken("t"), messaging.WithTimeout(time.Hour), messaging.WithRetry(messaging.RetryPolicy{MaxWait: time.Hour}),
		roundTripper(func(r *http.Request) (*http.Response, error) {
			all.Add(1)
			if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), probe) {
				time.Sleep(length)
				status = http.StatusOK
			}
			return respond(r, status, `{"id":"m1"}`), nil
		}).option(),
	}, options...)...)
	require.NoError(t, err)
	plain, err := client.With(messaging.WithGuard(nil))
	require.NoError(t, err)
	sendUntilOpen(t, plain)
	time.Sleep(1200 * time.Millisecond) // the pause is a second and up to a tenth
	go func() { _, _ = plain.SMS.Send(t.Context(), sms.Message{From: "ACME", To: probe, Text: "Hi"}) }()
	synctest.Wait()
	before := all.Load()
	return client, func() int { return int(all.Load() - before) }
}

// A message that waits ten minutes for the breaker is asked about when it may go, and by Send also when it begins.
func TestGuardIsAskedAgainAfterTheBreaker(t *testing.T) {
	const held = 10 * time.Minute
	asks := map[string][]time.Duration{"Send": {0, held}, "SendOnce": {0, held}, "SendAll": {held}}
	for name, send := range ways {
		for _, optsOut := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", opts out: ", optsOut), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var began time.Time
					var at []time.Duration
					client, requests := heldFor(t, held, messaging.WithBreaker(messaging.BreakerPolicy{GiveUp: time.Hour}),
						messaging.WithGuard(func(context.Context, messaging.Outgoing) error {
							at = append(at, time.Since(began).Truncate(time.Second)) // it looks each 100 ms
							if optsOut && time.Since(began) >= held {
								return messaging.ErrOptedOut
							}
							return nil
						}))
					began = time.Now()
					err := send(t.Context(), client)
					assert.Equal(t, asks[name], at)
					if optsOut {
						require.ErrorIs(t, err, messaging.ErrOptedOut)
						assert.Equal(t, messaging.NotSent, messaging.VerdictOf(err))
						assert.Zero(t, requests())
					} else {
						require.NoError(t, err)
						assert.Equal(t, 1, requests())
					}
				})
			})
		}
	}
}

// A yes holds for five seconds: for attempts that begin within, no guard is asked.
func TestGuardIsAskedAgainAfterFiveSeconds(t *testing.T) {
	for wait, want := range map[string]int{"4": 1, "6": 2} {
		synctest.Test(t, func(t *testing.T) {
			var g asked
			attempts := 0
			client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("t"), messaging.WithGuard(g.guard),
				messaging.WithRetry(messaging.RetryPolicy{MinWait: 1, MaxWait: time.Minute}),
				roundTripper(func(r *http.Request) (*http.Response, error) {
					if attempts++; attempts == 1 {
						resp := respond(r, http.StatusTooManyRequests, `{}`)
						resp.Header.Set("Retry-After", wait)
						return resp, nil
					}
					return respond(r, http.StatusOK, `{"id":"m1"}`), nil
				}).option())
			require.NoError(t, err)
			_, err = client.SMS.Send(t.Context(), hello)
			require.NoError(t, err)
			assert.Equal(t, 2, attempts)
			assert.Len(t, g.all, want, wait)
		})
	}
}

// What was refused for its time is not sent, even if the guard allows it later.
func TestGuardStopsARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &troubled{status: 429, body: `{}`, retryAfter: "10"}
		asked := 0
		client := service.client(t, messaging.WithGuard(func(context.Context, messaging.Outgoing) error {
			if asked++; asked == 2 {
				return messaging.ErrOptedOut
			}
			return nil
		}))
		_, err := client.SMS.Send(t.Context(), hello)
		require.ErrorIs(t, err, messaging.ErrDenied)
		assert.Equal(t, messaging.NotSent, messaging.VerdictOf(err))
		assert.NotErrorIs(t, err, messaging.ErrRateLimited)
		_, ok := messaging.Retryable(err)
		assert.False(t, ok)
		assert.Equal(t, 1, service.requests)
		assert.Equal(t, "messaging: sms.send not sent: HTTP 429, another attempt could not begin, opted out", err.Error())
	})
}

func TestGuardsAreAskedInOrder(t *testing.T) {
	var order []string
	guard := func(name string, err error) messaging.Option {
		return messaging.WithGuard(func(context.Context, messaging.Outgoing) error {
			order = append(order, name)
			return err
		})
	}
	errNo := errors.New("no")
	client := accepting().client(t, guard("a", nil), guard("b", nil))
	with := func(of *messaging.Client, options ...messaging.Option) *messaging.Client {
		derived, err := of.With(options...)
		require.NoError(t, err)
		return derived
	}
	first, second := with(client, guard("c", errNo), guard("d", nil)), with(client, guard("e", nil))
	for _, tc := range []struct {
		client *messaging.Client
		want   []string
		err    error
	}{
		{client, []string{"a", "b"}, nil},
		{first, []string{"a", "b", "c"}, errNo},
		{second, []string{"a", "b", "e"}, nil},
		{with(first, messaging.WithGuard(nil)), nil, nil},
		{with(first, messaging.WithGuard(nil), guard("f", nil)), []string{"f"}, nil},
	} {
		order = nil
		_, err := tc.client.SMS.Send(t.Context(), hello)
		require.ErrorIs(t, err, tc.err)
		assert.Equal(t, tc.want, order)
	}
}

// A guard whose context ended while it was asked has not decided: a queue may try again.
func TestGuardWhoseContextEndedHasNotDecided(t *testing.T) {
	errDriver := errors.New("driver: bad connection")
	for name, send := range ways {
		ctx, cancel := context.WithCancel(t.Context())
		service := accepting()
		client := service.client(t, messaging.WithGuard(func(context.Context, messaging.Outgoing) error {
			cancel()
			return errDriver
		}))
		err := send(ctx, client)
		require.ErrorIs(t, err, context.Canceled, name)
		assert.ErrorIs(t, err, errDriver, name)
		assert.NotErrorIs(t, err, messaging.ErrDenied, name)
		assert.Equal(t, messaging.NotSent, messaging.VerdictOf(err), name)
		_, ok := messaging.Retryable(err)
		assert.True(t, ok, name)
		assert.Zero(t, service.requests, name)
	}
}

func TestPanicOfAGuard(t *testing.T) {
	service := accepting()
	client := service.client(t, messaging.WithGuard(func(context.Context, messaging.Outgoing) error { panic("guard") }))
	for name, send := range ways {
		if name == "SendAll" {
			err := send(t.Context(), client)
			require.ErrorContains(t, err, "panic (string) in ")
			assert.Equal(t, messaging.NotSent, messaging.VerdictOf(err))
		} else {
			assert.PanicsWithValue(t, "guard", func() { _ = send(t.Context(), client) }, name)
		}
	}
	assert.Zero(t, service.requests)
}

// A round tripper sends an alert over a guarded client after it has passed the request on.
func TestGuardOfAnotherMessageDecidesNothing(t *testing.T) {
	closed := accepting().client(t, messaging.WithGuard(func(context.Context, messaging.Outgoing) error { return messaging.ErrOptedOut }))
	transport := roundTripper(func(r *http.Request) (*http.Response, error) {
		_, err := closed.SMS.Send(r.Context(), hello)
		return nil, err
	})
	client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("t"), transport.option())
	require.NoError(t, err)
	_, err = client.SMS.Send(t.Context(), hello)
	assert.Equal(t, messaging.Unknown, messaging.VerdictOf(err))
	_, isRetryable := messaging.Retryable(err)
	assert.False(t, isRetryable)
}

// A guard's own requests are no part of the call: they wait for the breaker like any other.
func TestRequestOfAGuardIsNoPartOfTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &troubled{status: 503, body: `{}`, retryAfter: "30"}
		plain := service.client(t)
		client, err := plain.With(messaging.WithGuard(func(ctx context.Context, _ messaging.Outgoing) error {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			_, err := plain.SMS.Send(ctx, hello)
			return err
		}))
		require.NoError(t, err)
		sendUntilOpen(t, plain)
		before := service.requests
		_, err = client.SMS.Send(t.Context(), hello)
		require.ErrorIs(t, err, messaging.ErrBreakerOpen)
		assert.Equal(t, messaging.NotSent, messaging.VerdictOf(err))
		assert.Equal(t, before, service.requests)
	})
}

// Deny(Postpone(wait)) denies a message: an error that matched ErrPostponed by itself would make it retryable.
func TestErrorsOfGuardsMatchNoSentinel(t *testing.T) {
	t.Parallel()
	require.NotErrorIs(t, messaging.Deny(errors.New("the budget is spent")), messaging.ErrDenied)
	require.NotErrorIs(t, messaging.Deny(nil), messaging.ErrDenied)
	postponed := messaging.Postpone(time.Hour)
	require.NotErrorIs(t, postponed, messaging.ErrPostponed)
	_, isRetryable := messaging.Retryable(postponed)
	assert.False(t, isRetryable)
}
