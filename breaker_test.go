package messaging_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/sms"
)

// troubled is a service in memory that responds alike to everything, until that is changed.
type troubled struct {
	status     int
	body       string
	retryAfter string
	requests   int
}

// countRequest guards the requests of every troubled service, whose values are copied in tables.
var countRequest sync.Mutex

func (s *troubled) RoundTrip(r *http.Request) (*http.Response, error) {
	countRequest.Lock()
	s.requests++
	countRequest.Unlock()
	h := http.Header{}
	if s.retryAfter != "" {
		h.Set("Retry-After", s.retryAfter)
	}
	return &http.Response{
		StatusCode: s.status, Header: h, Request: r, Body: io.NopCloser(strings.NewReader(s.body)), ContentLength: int64(len(s.body)),
	}, nil
}

func (s *troubled) client(t *testing.T, options ...messaging.Option) *messaging.Client {
	t.Helper()
	client, err := messaging.NewClient("https://api.example.com", slices.Concat([]messaging.Option{
		messaging.WithToken("t"), messaging.WithHTTPClient(&http.Client{Transport: s}),
	}, options)...)
	require.NoError(t, err)
	return client
}

var hello = sms.Message{From: "ACME", To: "+639171234567", Text: "Hi", ReferenceID: "order-17"}

// sendUntilOpen sends until the breaker for sends is open, at most as often as opens one. None of these sends waits.
func sendUntilOpen(t *testing.T, client *messaging.Client) {
	t.Helper()
	for range 16 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		_, _ = client.SMS.Send(ctx, hello)
		cancel()
		if client.Breaker(messaging.ChannelSMS).Open {
			return
		}
	}
}

func TestBreakerState(t *testing.T) {
	for name, tc := range map[string]struct {
		service troubled
		class   error
		account bool
		cause   string
	}{
		"the service":          {troubled{status: 503, retryAfter: "10", body: `{"message":"for +639171234567"}`}, messaging.ErrUnavailable, false, "HTTP 503, unavailable"},
		"a code of that class": {troubled{status: 400, retryAfter: "10", body: `{"code":"50001"}`}, messaging.ErrUnavailable, false, "HTTP 400, unavailable"},
		"credentials":          {troubled{status: 401, retryAfter: "10", body: `{}`}, messaging.ErrUnauthorized, true, "HTTP 401, unauthorized"},
		"credit, by its code":  {troubled{status: 400, retryAfter: "10", body: `{"code":"200101"}`}, messaging.ErrInsufficientBalance, true, "HTTP 400, insufficient balance"},
		"credit":               {troubled{status: 402, retryAfter: "10", body: `{}`}, messaging.ErrInsufficientBalance, true, "HTTP 402, insufficient balance"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := tc.service.client(t)
				assert.Zero(t, client.Breaker(messaging.ChannelSMS))
				sendUntilOpen(t, client)
				state := client.Breaker(messaging.ChannelSMS)
				assert.True(t, state.Open)
				assert.Equal(t, time.Now(), state.Since)
				assert.InDelta(t, 10.5, time.Until(state.Until).Seconds(), 0.5)
				assert.ErrorIs(t, state.Cause, tc.class)
				assert.Equal(t, tc.cause, state.Cause.Error())
				assert.Equal(t, tc.account, state.Account)

				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				requests := tc.service.requests
				_, err := client.SMS.Send(ctx, hello)
				assert.Equal(t, requests, tc.service.requests)
				assert.Equal(t, messaging.NotSent, messaging.VerdictOf(err))
				require.ErrorIs(t, err, messaging.ErrBreakerOpen)
				assert.ErrorIs(t, err, messaging.ErrNotSent)
				assert.ErrorIs(t, err, tc.class)
				e, _ := errors.AsType[*messaging.Error](err)
				assert.InDelta(t, 10.5, e.RetryAfter.Seconds(), 0.5)
				assert.Contains(t, err.Error(), "messaging: sms.send not sent: the circuit breaker is open: "+tc.cause)
				assert.Contains(t, err.Error(), "try again in "+e.RetryAfter.Round(time.Millisecond).String())
				assert.NotContains(t, err.Error(), "asked to wait", "it is the pause of the client")
				after, ok := messaging.Retryable(err)
				assert.True(t, ok)
				assert.Equal(t, e.RetryAfter, after)

				tc.service = troubled{status: 200, body: `{"id":"m1"}`}
				_, err = client.SMS.Send(t.Context(), hello)
				require.NoError(t, err)
				assert.Zero(t, client.Breaker(messaging.ChannelSMS))
			})
		})
	}
}

// A refusal of one message is the service's own word. An unknown outcome, a page and a 5xx are trouble, and so is a refusal of the account.
func TestBreakerCountsEvidence(t *testing.T) {
	const explains = ", which the contract does not explain (WithContract)"
	for name, tc := range map[string]struct {
		service troubled
		cause   string // "" if no breaker opens
		account bool
	}{
		"refused":                         {service: troubled{status: 400, body: `{}`}},
		"refused by a code":               {service: troubled{status: 422, body: `{"code":"200202"}`}},
		"refused by a code with a 404":    {service: troubled{status: 404, body: `{"code":"200202"}`}},
		"an ID and a code of failure":     {service: troubled{status: 200, body: `{"id":"m1","code":"200206"}`}},
		"a page of a gateway's refusal":   {service: troubled{status: 413, body: `<html>`}},
		"a code that is known with a 500": {service: troubled{status: 500, body: `{"code":"200206"}`}, cause: "HTTP 500, duplicate"},
		"a request ID":                    {service: troubled{status: 200, body: `{"requestId":"r1234567"}`}, cause: "HTTP 200" + explains},
		"another reference":               {service: troubled{status: 200, body: `{"referenceId":"somebody-elses"}`}, cause: "HTTP 200" + explains},
		"an odd status with an ID":        {service: troubled{status: 302, body: `{"id":"m1"}`}, cause: "HTTP 302"},
		"a page with 404":                 {service: troubled{status: 404, body: `<html>`}, cause: "HTTP 404, not found" + explains},
		"a page with 403":                 {service: troubled{status: 403, body: `<html>`}, cause: "HTTP 403, forbidden" + explains},
		"a page with 429":                 {service: troubled{status: 429, body: `<html>`}, cause: "HTTP 429, rate limited" + explains},
		"a page with 402":                 {service: troubled{status: 402, body: `<html>`}, cause: "HTTP 402, insufficient balance" + explains},
		"a page with 200":                 {service: troubled{status: 200, body: `<html>`}, cause: "HTTP 200" + explains},
		"a redirect":                      {service: troubled{status: 302}, cause: "HTTP 302"},
		"an empty response":               {service: troubled{status: 200}, cause: "HTTP 200" + explains},
		"JSON of another form":            {service: troubled{status: 200, body: `{}`}, cause: "HTTP 200" + explains},
		"a 500 with a request ID":         {service: troubled{status: 500, body: `{"requestId":"r1234567"}`}, cause: "HTTP 500, unavailable"},
		"no credit, by its code":          {service: troubled{status: 400, body: `{"code":"200101"}`}, cause: "HTTP 400, insufficient balance", account: true},
		"a 401 in JSON":                   {service: troubled{status: 401, body: `{}`}, cause: "HTTP 401, unauthorized", account: true},
		"a 403 in JSON":                   {service: troubled{status: 403, body: `{}`}, cause: "HTTP 403, forbidden", account: true},
		"a code of no class with a 403":   {service: troubled{status: 403, body: `{"code":"99999"}`}, cause: "HTTP 403, forbidden", account: true},
		"a 404 in JSON":                   {service: troubled{status: 404, body: `{}`}, cause: "HTTP 404, not found", account: true},
		"a 405 without a body":            {service: troubled{status: 405}, cause: "HTTP 405", account: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := tc.service.client(t)
				for i := range 30 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
					m := hello
					m.To = fmt.Sprint("+6391712345", i)
					_, err := client.SMS.Send(ctx, m)
					require.Error(t, err)
					cancel()
				}
				if tc.cause == "" {
					assert.Equal(t, 30, tc.service.requests)
					return
				}
				assert.Equal(t, 16, tc.service.requests)
				state := client.Breaker(messaging.ChannelSMS)
				require.True(t, state.Open)
				require.Equal(t, tc.cause, state.Cause.Error())
				require.Equal(t, tc.account, state.Account)
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				defer cancel()
				_, err := client.SMS.Send(ctx, hello)
				assert.ErrorContains(t, err, "the circuit breaker is open: "+tc.cause)
			})
		})
	}
}

func TestSettledMessageClosesTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listed := false
		client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("t"),
			roundTripper(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodPost {
					return respond(r, http.StatusOK, `<html>`), nil
				}
				if listed {
					return respond(r, http.StatusOK, `{"data":[{"id":"m1","to":"`+hello.To+`","referenceId":"`+hello.ReferenceID+`"}]}`), nil
				}
				return respond(r, http.StatusOK, `{"data":[]}`), nil
			}).option())
		require.NoError(t, err)
		sendUntilOpen(t, client)
		require.True(t, client.Breaker(messaging.ChannelSMS).Open)
		time.Sleep(time.Second)
		listed = true
		_, err = client.SMS.SendOnce(t.Context(), hello)
		require.NoError(t, err)
		assert.False(t, client.Breaker(messaging.ChannelSMS).Open)
	})
}

// A status of errors.notProcessed is the service's own word if the response is proof of that.
func TestBreakerTakesWhatWasNotProcessedForHealth(t *testing.T) {
	names, err := contract.Parse([]byte(`{"errors": {"notProcessed": [425, 429, 503]}}`))
	require.NoError(t, err)
	const own = `{"requestId":"r1234567","code":"50001"}`
	for name, tc := range map[string]struct {
		service troubled
		opens   bool
	}{
		"the service's 503": {troubled{status: 503, body: own}, false},
		"425":               {troubled{status: 425, body: `{}`}, false},
		"429":               {troubled{status: 429, body: `{}`}, false},
		"a 503 of a page":   {troubled{status: 503, body: `<html>`}, true},
		"a 500":             {troubled{status: 500, body: own}, true},
		"a 503 with an ID":  {troubled{status: 503, body: `{"id":"m1","code":"50001"}`}, true},
		"without credit":    {troubled{status: 503, body: `{"requestId":"r1234567","code":"200101"}`}, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			client := tc.service.client(t, messaging.WithContract(names), messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
			sent := 0
			for ; sent < 30 && !client.Breaker(messaging.ChannelSMS).Open; sent++ {
				_, err := client.SMS.Send(t.Context(), hello)
				require.Error(t, err)
			}
			assert.Equal(t, tc.opens, sent == 16, name)
		})
	}
}

func TestBreakersOfClientsThatShare(t *testing.T) {
	with := func(options ...messaging.Option) func(*testing.T, *messaging.Client) *messaging.Client {
		return func(t *testing.T, c *messaging.Client) *messaging.Client {
			t.Helper()
			derived, err := c.With(options...)
			require.NoError(t, err)
			return derived
		}
	}
	auth := messaging.WithAuth(func(*http.Request) error { return nil })
	for name, tc := range map[string]struct {
		status int
		other  func(*testing.T, *messaging.Client) *messaging.Client
		shared bool
	}{
		"the service, other credentials": {503, with(messaging.WithToken("other")), true},
		"the service, other timeout":     {503, with(messaging.WithTimeout(time.Minute)), true},
		"the account, other credentials": {402, with(messaging.WithToken("other")), false},
		"the account, the same again":    {402, with(messaging.WithToken("t")), false},
		"the account, other timeout":     {402, with(messaging.WithTimeout(time.Minute)), true},
		"turned off":                     {503, with(messaging.WithBreaker(messaging.BreakerPolicy{Off: true})), false},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := troubled{status: tc.status, body: `{}`}
			client := s.client(t)
			other := tc.other(t, client)
			sendUntilOpen(t, client)
			require.True(t, client.Breaker(messaging.ChannelSMS).Open, name)
			assert.Equal(t, tc.shared, other.Breaker(messaging.ChannelSMS).Open, name)
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := troubled{status: 402, body: `{}`}
		tenants := s.client(t, auth)
		sendUntilOpen(t, tenants)
		assert.False(t, tenants.Breaker(messaging.ChannelSMS).Open, "the function of WithAuth may serve many accounts")
		basic := s.client(t, messaging.WithBasicAuth("user", "password"))
		sendUntilOpen(t, basic)
		assert.True(t, basic.Breaker(messaging.ChannelSMS).Open, "Basic has one")
	})
}

func TestBreakerIsOfOneChannelAndOfSends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := troubled{status: 503, body: `{}`}
		client := s.client(t, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
		sendUntilOpen(t, client)
		require.True(t, client.Breaker(messaging.ChannelSMS).Open)
		assert.False(t, client.Breaker(messaging.ChannelChatApp1).Open)
		s.status, s.body = 200, `{"id":"m1"}`
		began := time.Now()
		_, err := client.ChatApp1.Send(t.Context(), chatapp1.New("channel-1", "+639171234567").Text("Hi"))
		require.NoError(t, err)
		s.body = `{"data":[]}`
		_, err = client.SMS.Find(t.Context(), "order-17")
		require.ErrorIs(t, err, messaging.ErrNotListed)
		assert.Zero(t, time.Since(began), "lookups have a breaker of their own")
		s.status = 503
		requests := s.requests
		for range 30 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			_, err = client.SMS.Find(ctx, "order-17")
			cancel()
			require.Error(t, err)
		}
		assert.Equal(t, 16, s.requests-requests, "and are held back by it")
		require.ErrorIs(t, err, messaging.ErrBreakerOpen)
		require.NotErrorIs(t, err, messaging.ErrNotSent)
	})
}

// The function of WithAuth may serve many accounts. If one of them is refused a read, the service is up.
func TestRefusedReadOfOneAccountShowsThatTheServiceIsUp(t *testing.T) {
	for name, tc := range map[string]struct {
		response troubled
		isUp     bool
	}{
		"401 in JSON":            {troubled{status: 401, body: `{}`}, true},
		"402 in JSON":            {troubled{status: 402, body: `{}`}, true},
		"403 in JSON":            {troubled{status: 403, body: `{}`}, true},
		"no credit, by its code": {troubled{status: 400, body: `{"code":"200101"}`}, true},
		"a page with 401":        {troubled{status: 401, body: `<html>`}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			down := troubled{status: 503, body: `{}`}
			s := down
			auth := messaging.WithAuth(func(*http.Request) error { return nil })
			client := s.client(t, auth, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
			find := func(response troubled, times int) (err error) {
				s.status, s.body = response.status, response.body
				for range times {
					ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
					_, err = client.SMS.Find(ctx, "order-17")
					cancel()
				}
				return err
			}
			_ = find(down, 15)
			_ = find(tc.response, 1)
			isOpen := errors.Is(find(down, 2), messaging.ErrBreakerOpen)
			assert.Equal(t, tc.isUp, !isOpen, "%s ends a row of failures", name)

			require.ErrorIs(t, find(down, 17), messaging.ErrBreakerOpen)
			time.Sleep(2 * time.Minute)
			_ = find(tc.response, 1)
			isOpen = errors.Is(find(down, 1), messaging.ErrBreakerOpen)
			assert.Equal(t, tc.isUp, !isOpen, "%s closes the breaker", name)
		})
	}
}

func TestBreakerIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelInfo}))
		s := troubled{status: 402, body: `{"message":"for +639171234567"}`}
		client := s.client(t, messaging.WithLogger(logger))
		sendUntilOpen(t, client)
		_, _ = client.SMS.Send(t.Context(), hello)
		_, _ = client.SMS.Send(t.Context(), hello)
		s.status, s.body = 200, `{"id":"m1"}`
		_, err := client.SMS.Send(t.Context(), hello)
		require.NoError(t, err)
		s.status = 503
		for range 16 {
			_, err = client.SMS.Find(t.Context(), "order-17")
			require.Error(t, err)
		}
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		require.Len(t, lines, 3)
		assert.Contains(t, lines[0], `level=WARN msg="messaging: circuit breaker opened" channel=sms read=false cause="HTTP 402, insufficient balance" account=true pause=`)
		assert.Contains(t, lines[1], `level=INFO msg="messaging: circuit breaker closed" channel=sms read=false cause="HTTP 402, insufficient balance" account=true open=`)
		assert.Contains(t, lines[2], `level=WARN msg="messaging: circuit breaker opened" channel=sms read=true cause="HTTP 503, unavailable" account=false`)
	})
}

// stepsOf keeps the ends of the steps of a kind.
type stepsOf struct {
	kind messaging.StepKind
	ends []messaging.StepResult
}

func (*stepsOf) StartStep(ctx context.Context, _ messaging.Step) context.Context { return ctx }

func (s *stepsOf) EndStep(_ context.Context, step messaging.Step, result messaging.StepResult) {
	if step.Kind == s.kind {
		s.ends = append(s.ends, result)
	}
}

func TestSendBacksOffForTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backoffs := &stepsOf{kind: messaging.StepBackoff}
		s := troubled{status: 503, body: `{}`, retryAfter: "10"}
		client := s.client(t, messaging.WithObserver(backoffs))
		sendUntilOpen(t, client)
		backoffs.ends = nil
		s.status, s.body = 200, `{"id":"m1"}`
		receipt, err := client.SMS.Send(t.Context(), hello)
		require.NoError(t, err)
		assert.Equal(t, 1, receipt.Attempts, "a wait is no attempt")
		require.Len(t, backoffs.ends, 1)
		assert.InDelta(t, 10.5, backoffs.ends[0].Duration.Seconds(), 0.5)
	})
}

func TestSendThatMustNotWaitForTheBreakerEndsAtOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		retry    messaging.RetryPolicy
		deadline time.Duration
	}{
		"MaxWait":      {messaging.RetryPolicy{MaxWait: time.Second}, time.Hour},
		"one attempt":  {messaging.RetryPolicy{MaxAttempts: 1}, time.Hour},
		"the deadline": {messaging.RetryPolicy{}, 5 * time.Second},
	} {
		for way, send := range ways {
			if way == "SendAll" {
				continue
			}
			t.Run(name+", "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := troubled{status: 503, body: `{}`, retryAfter: "10"}
					client := s.client(t, messaging.WithRetry(tc.retry))
					sendUntilOpen(t, client)
					s.status, s.body = 200, `{"id":"m1"}`
					ctx, cancel := context.WithTimeout(t.Context(), tc.deadline)
					defer cancel()
					began := time.Now()
					err := send(ctx, client)
					assert.Zero(t, time.Since(began))
					require.ErrorIs(t, err, messaging.ErrBreakerOpen)
					after, ok := messaging.Retryable(err)
					assert.True(t, ok)
					assert.InDelta(t, 10.5, after.Seconds(), 0.5)
				})
			})
		}
	}
}

func TestRetryable(t *testing.T) {
	refuses := func(status int, body string, header ...string) error {
		s := troubled{status: status, body: body}
		if len(header) > 0 {
			s.retryAfter = header[0]
		}
		_, err := s.client(t, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1})).SMS.Send(t.Context(), hello)
		require.Error(t, err)
		return err
	}
	fails := func(cause error) error {
		client, err := messaging.NewClient("https://api.example.com", messaging.WithTokenSource(func(context.Context) (messaging.Token, error) {
			return messaging.Token{}, cause
		}))
		require.NoError(t, err)
		_, err = client.SMS.Send(t.Context(), hello)
		return err
	}
	away, err := contract.Parse([]byte(`{"errors": {"notProcessed": [429, 503]}}`))
	require.NoError(t, err)
	s := troubled{status: 503, body: `{"code":"50001"}`}
	_, notProcessed := s.client(t, messaging.WithContract(away), messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1})).SMS.Send(t.Context(), hello)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, unbegun := (&troubled{status: 200}).client(t).SMS.Send(ended, hello)
	only, err := messaging.NewClient("https://api.example.com", messaging.WithBasicAuth("u", "p", messaging.ChannelChatApp1))
	require.NoError(t, err)
	_, uncredentialed := only.SMS.Send(t.Context(), hello)
	_, invalid := only.ChatApp1.Send(t.Context(), chatapp1.Message{})
	for name, tc := range map[string]struct {
		err   error
		after time.Duration
		ok    bool
	}{
		"no error":                       {nil, 0, false},
		"not sent":                       {unbegun, time.Second, true},
		"wrapped":                        {fmt.Errorf("wrapped: %w", unbegun), time.Second, true},
		"a token source":                 {fails(errors.New("down")), time.Second, true},
		"a certificate":                  {fails(&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}), 0, false},
		"no credentials":                 {uncredentialed, 0, false},
		"invalid":                        {invalid, 0, false},
		"throttled":                      {refuses(429, `{}`), time.Second, true},
		"throttled for a while":          {refuses(429, `{}`, "90"), 90 * time.Second, true},
		"throttled, and names a message": {refuses(429, `{"id":"m1","code":"40002"}`), 0, false},
		"not processed, by its status":   {notProcessed, time.Second, true},
		"refused":                        {refuses(400, `{}`), 0, false},
		"unknown":                        {refuses(503, `{}`), 0, false},
		"of somebody else":               {io.EOF, 0, false},
	} {
		after, ok := messaging.Retryable(tc.err)
		assert.Equal(t, tc.ok, ok, name)
		assert.Equal(t, tc.after, after, name)
	}
}

// A panic of a function of the user is the outcome of one message of a SendAll, and reaches the caller of Send.
func TestPanicIsTheOutcomeOfItsMessage(t *testing.T) {
	messages := func(yield func(sms.Message) bool) {
		for i := range 3 {
			m := hello
			m.ReferenceID = fmt.Sprint("r-", i)
			if !yield(m) {
				return
			}
		}
	}
	s := troubled{status: 200, body: `{"id":"m1"}`}
	for name, tc := range map[string]struct {
		option messaging.Option
		want   messaging.Verdict
	}{
		"an Auth":        {messaging.WithAuth(func(*http.Request) error { panic("boom 639171234567") }), messaging.NotSent},
		"a token source": {messaging.WithTokenSource(func(context.Context) (messaging.Token, error) { panic("boom 639171234567") }), messaging.NotSent},
		"a round tripper": {messaging.WithTransport(func(http.RoundTripper) http.RoundTripper {
			return roundTripper(func(*http.Request) (*http.Response, error) { panic("boom 639171234567") })
		}), messaging.Unknown},
	} {
		client := s.client(t, tc.option)
		assert.PanicsWithValue(t, "boom 639171234567", func() { _, _ = client.SMS.Send(t.Context(), hello) }, name)
		seen := 0
		for out := range client.SMS.SendAll(t.Context(), messages, 1) { // two at once would share the panic of a token source
			seen++
			assert.Equal(t, tc.want, messaging.VerdictOf(out.Err), name)
			assert.ErrorContains(t, out.Err, "panic (string) in github.com/messaging-service/messaging-go_test.", name)
			assert.ErrorContains(t, out.Err, " (breaker_test.go:", name)
			assert.NotContains(t, out.Err.Error(), "639171234567")
			failed, _ := errors.AsType[*messaging.Error](out.Err)
			assert.Equal(t, out.Message.ReferenceID, failed.ReferenceID)
		}
		assert.Equal(t, 3, seen, name)
	}
}

// panicking is an observer that panics at the beginning or the end of a kind of step.
type panicking struct {
	kind messaging.StepKind
	end  bool
}

func (p panicking) StartStep(ctx context.Context, step messaging.Step) context.Context {
	if step.Kind == p.kind && !step.Read && !p.end {
		panic("observer")
	}
	return ctx
}

func (p panicking) EndStep(_ context.Context, step messaging.Step, _ messaging.StepResult) {
	if step.Kind == p.kind && !step.Read && p.end {
		panic("observer")
	}
}

// TestPanicOfAnObserverIsTheOutcomeOfItsMessage: a message that the service may have is never called not sent.
func TestPanicOfAnObserverIsTheOutcomeOfItsMessage(t *testing.T) {
	synctest.Test(t, panicOfAnObserver)
}

func panicOfAnObserver(t *testing.T) {
	t.Helper()
	one := slices.Values([]sms.Message{hello})
	for name, response := range map[string]troubled{
		"accepted":                     {status: 200, body: `{"id":"m-1"}`},
		"unknown":                      {status: 500, body: `{}`},
		"refused, with an ID":          {status: 429, body: `{"id":"m-1"}`},
		"refused, another may be made": {status: 429, retryAfter: "1", body: `{}`},
	} {
		for _, kind := range []messaging.StepKind{messaging.StepCall, messaging.StepToken, messaging.StepAttempt, messaging.StepBackoff} {
			for _, end := range []bool{false, true} {
				for _, settle := range []bool{false, true} {
					s := response
					options := []messaging.Option{
						messaging.WithObserver(panicking{kind, end}),
						messaging.WithTokenSource(func(context.Context) (messaging.Token, error) { return messaging.Token{Value: "t"}, nil }),
					}
					if settle {
						options = append(options, messaging.WithSettle(messaging.SettlePolicy{Window: time.Millisecond, Interval: time.Millisecond}))
					}
					client := s.client(t, options...)
					for out := range client.SMS.SendAll(t.Context(), one, 1) {
						verdict := messaging.VerdictOf(out.Err)
						_, retryable := messaging.Retryable(out.Err)
						what := fmt.Sprintf("%s, %s, at the end: %t, settled: %t, after %d requests", name, kind, end, settle, s.requests)
						panicked := out.Err != nil && strings.Contains(out.Err.Error(), "panic (string)")
						switch {
						case !panicked: // such a step did not come
							assert.NotContains(t, []messaging.StepKind{messaging.StepCall, messaging.StepToken, messaging.StepAttempt}, kind, what)
						case s.requests == 0:
							assert.Equal(t, messaging.NotSent, verdict, what)
						case s.retryAfter != "" && kind != messaging.StepAttempt:
							// The service's word proves that it has nothing.
							assert.Contains(t, []messaging.Verdict{messaging.NotSent, messaging.Unknown}, verdict, what)
							assert.Equal(t, verdict == messaging.NotSent, retryable, what)
						default:
							assert.Equal(t, messaging.Unknown, verdict, what)
							assert.False(t, retryable, what)
						}
					}
				}
			}
		}
	}
}

func TestWithBreakerRejectsANegativeTime(t *testing.T) {
	_, err := messaging.NewClient("https://api.example.com", messaging.WithToken("t"), messaging.WithBreaker(messaging.BreakerPolicy{GiveUp: -1}))
	require.ErrorIs(t, err, messaging.ErrInvalid)
	assert.Contains(t, err.Error(), "WithBreaker: GiveUp must not be negative")
}
