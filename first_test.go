package messaging_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

type sendFunc = func(context.Context) (messaging.Receipt, error)

// failing returns a function that sends nothing and fails.
func failing(err error) sendFunc {
	return func(context.Context) (messaging.Receipt, error) { return messaging.Receipt{}, err }
}

func TestFirstAcceptedGoesOnOnlyIfTheMessageDidNotGoOut(t *testing.T) {
	t.Parallel()
	notSent, refused := &messaging.Error{Verdict: messaging.NotSent}, &messaging.Error{Verdict: messaging.Refused}
	unknown := &messaging.Error{Verdict: messaging.Unknown}
	for name, tt := range map[string]struct {
		err    error
		goesOn bool
	}{
		"not sent":                        {notSent, true},
		"not sent, wrapped":               {fmt.Errorf("first: %w", notSent), true},
		"refused":                         {refused, true},
		"refused, a window that closed":   {errors.Join(refused, messaging.ErrWindowClosed), true},
		"stopped by a guard":              {errors.Join(notSent, messaging.ErrDenied), false},
		"a guard, a window that closed":   {errors.Join(notSent, messaging.ErrDenied, messaging.ErrWindowClosed), true},
		"refused, somebody opted out":     {errors.Join(refused, messaging.ErrOptedOut), false},
		"a window, somebody opted out":    {errors.Join(notSent, messaging.ErrWindowClosed, messaging.ErrOptedOut), false},
		"refused, and names a message":    {&messaging.Error{Verdict: messaging.Refused, MessageID: "m-1"}, false},
		"refused as a duplicate":          {errors.Join(refused, messaging.ErrDuplicate), false},
		"unknown":                         {unknown, false},
		"not sent, joined with unknown":   {errors.Join(notSent, unknown), false},
		"not sent, joined with invalid":   {errors.Join(notSent, &messaging.ValidationError{}), false},
		"invalid":                         {&messaging.ValidationError{Field: "To"}, false},
		"another error":                   {errors.New("disk full"), false},
		"a bare context error":            {context.DeadlineExceeded, false},
		"not found, the error of nothing": {messaging.ErrNotFound, false},
	} {
		called := false
		receipt, err := messaging.FirstAccepted(t.Context(), failing(tt.err), func(context.Context) (messaging.Receipt, error) {
			called = true
			return messaging.Receipt{ID: "m-2"}, nil
		})
		assert.Equal(t, tt.goesOn, called, name)
		if tt.goesOn {
			require.NoError(t, err, name)
			assert.Equal(t, "m-2", receipt.ID, name)
		} else {
			assert.Equal(t, tt.err, err, name)
		}
	}
}

// A message that may have been sent is not sent again, and a message that was not sent may be.
func TestMayHaveBeenSent(t *testing.T) {
	t.Parallel()
	notSent := &messaging.Error{Verdict: messaging.NotSent}
	refused := &messaging.Error{Verdict: messaging.Refused}
	unknown := &messaging.Error{Verdict: messaging.Unknown}
	for name, tt := range map[string]struct {
		err  error
		want bool
	}{
		"accepted":                          {nil, true},
		"unknown":                           {unknown, true},
		"unknown, wrapped":                  {fmt.Errorf("order 17: %w", unknown), true},
		"not sent, joined with unknown":     {errors.Join(notSent, unknown), true},
		"refused, and names a message":      {&messaging.Error{Verdict: messaging.Refused, MessageID: "m-1"}, true},
		"not sent, joined with a named one": {errors.Join(notSent, fmt.Errorf("sms: %w", &messaging.Error{Verdict: messaging.Refused, MessageID: "m-1"})), true},
		"refused as a duplicate":            {errors.Join(refused, messaging.ErrDuplicate), true},
		"an error of a database":            {errors.New("disk full"), true},
		"the error of a context alone":      {context.DeadlineExceeded, true},
		"not sent":                          {notSent, false},
		"not sent, wrapped":                 {fmt.Errorf("order 17: %w", notSent), false},
		"not sent, since the context ended": {errors.Join(notSent, context.Canceled), false},
		"refused":                           {refused, false},
		"refused, the recipient opted out":  {errors.Join(refused, messaging.ErrOptedOut), false},
		"invalid":                           {&messaging.ValidationError{Field: "To"}, false},
		"invalid, wrapped":                  {fmt.Errorf("order 17: %w", &messaging.ValidationError{Field: "To"}), false},
	} {
		assert.Equal(t, tt.want, messaging.MayHaveBeenSent(tt.err), name)
	}
}

// What the service responds decides, and a response that refuses the message may be about one that it took.
func TestMayHaveBeenSentAfterAResponse(t *testing.T) {
	t.Parallel()
	classes := overlay(t, `{"errors": {"classes": {"duplicate": ["7003"]}}}`)
	for name, tt := range map[string]struct {
		status int
		body   string
		want   bool
	}{
		"accepted":                     {http.StatusOK, `{"id":"m-1"}`, true},
		"refused":                      {http.StatusBadRequest, `{"code":"1"}`, false},
		"refused, and names a message": {http.StatusBadRequest, `{"id":"m-1","code":"1"}`, true},
		"a duplicate":                  {http.StatusBadRequest, `{"code":"7003"}`, true},
		"throttled":                    {http.StatusTooManyRequests, `{}`, false},
		"no credit":                    {http.StatusPaymentRequired, `{}`, false},
		"a server error":               {http.StatusInternalServerError, `{}`, true},
	} {
		service := roundTripper(func(r *http.Request) (*http.Response, error) { return respond(r, tt.status, tt.body), nil })
		client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), service.option(), classes,
			messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
		require.NoError(t, err)
		_, err = client.SMS.Send(t.Context(), hello)
		assert.Equal(t, tt.want, messaging.MayHaveBeenSent(err), "%s: %v", name, err)
	}
}

func TestFirstAcceptedAfterAGuard(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err    error
		goesOn bool
	}{
		"the window is closed": {messaging.ErrWindowClosed, true},
		"opted out":            {messaging.ErrOptedOut, false},
		"denied":               {messaging.Deny(errors.New("the budget is spent")), false},
		"later":                {messaging.Postpone(time.Hour), false},
		"could not decide":     {errors.New("driver: bad connection"), false},
	} {
		service := accepting()
		client := service.client(t, messaging.WithGuard(func(_ context.Context, m messaging.Outgoing) error {
			if m.To == hello.To {
				return tt.err
			}
			return nil
		}))
		other := hello
		other.To = "+639170000000"
		_, err := messaging.FirstAccepted(t.Context(), func(ctx context.Context) (messaging.Receipt, error) {
			return client.SMS.Send(ctx, hello)
		}, func(ctx context.Context) (messaging.Receipt, error) { return client.SMS.Send(ctx, other) })
		assert.Equal(t, tt.goesOn, err == nil, name)
		assert.Equal(t, tt.goesOn, service.requests == 1, name)
	}
}

func TestFirstAcceptedStopsAtTheFirstThatIsAccepted(t *testing.T) {
	t.Parallel()
	receipt, err := messaging.FirstAccepted(t.Context(), func(context.Context) (messaging.Receipt, error) {
		return messaging.Receipt{ID: "m-1"}, nil
	}, func(context.Context) (messaging.Receipt, error) { panic("called") })
	require.NoError(t, err)
	assert.Equal(t, "m-1", receipt.ID)
}

func TestFirstAcceptedStopsWhenTheContextHasEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := messaging.FirstAccepted(ctx, func(context.Context) (messaging.Receipt, error) {
		cancel()
		return messaging.Receipt{}, &messaging.Error{Verdict: messaging.NotSent}
	}, func(context.Context) (messaging.Receipt, error) { panic("called") })
	assert.Equal(t, messaging.NotSent, messaging.VerdictOf(err))
}

func TestFirstAcceptedErrorHasTheVerdictOfTheLast(t *testing.T) {
	t.Parallel()
	first := errors.Join(&messaging.Error{Operation: "sms.send", Verdict: messaging.NotSent}, messaging.ErrUnavailable)
	second := &messaging.Error{Operation: "chatapp1.send", Verdict: messaging.Unknown}
	_, err := messaging.FirstAccepted(t.Context(), failing(first), failing(second))
	assert.Equal(t, messaging.Unknown, messaging.VerdictOf(err))
	require.ErrorIs(t, err, messaging.ErrOutcomeUnknown)
	require.NotErrorIs(t, err, messaging.ErrNotSent, "it would be taken for safe to send again")
	require.NotErrorIs(t, err, messaging.ErrUnavailable)
	require.ErrorContains(t, err, "sms.send not sent")
	require.ErrorContains(t, err, "chatapp1.send has an unknown outcome")

	_, err = messaging.FirstAccepted(t.Context(), failing(first), failing(&messaging.Error{Verdict: messaging.NotSent, RetryAfter: time.Minute}))
	after, ok := messaging.Retryable(err)
	assert.True(t, ok)
	assert.Equal(t, time.Minute, after)
}

func TestFirstAcceptedErrorIsLoggedInGroups(t *testing.T) {
	t.Parallel()
	first := &messaging.Error{Operation: "chatapp2.send", Verdict: messaging.NotSent, ReferenceID: "order-17"}
	second := &messaging.Error{Operation: "sms.send", Verdict: messaging.Unknown, StatusCode: 503}
	_, err := messaging.FirstAccepted(t.Context(), failing(first), failing(second))
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Error("send", "err", err)
	for _, want := range []string{
		"err.send1.operation=chatapp2.send", `err.send1.verdict="not sent"`, "err.send1.reference_id=order-17",
		"err.send2.operation=sms.send", "err.send2.verdict=unknown", "err.send2.status=503",
	} {
		assert.Contains(t, log.String(), want)
	}
}

func TestFirstAcceptedRejectsWrongArguments(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ctx   context.Context //nolint:containedctx // an argument
		sends []sendFunc
		field string
	}{
		"no functions":      {t.Context(), nil, "sends"},
		"a nil function":    {t.Context(), []sendFunc{failing(messaging.ErrInvalid), nil}, "sends[1]"},
		"a context of none": {nil, []sendFunc{failing(messaging.ErrInvalid)}, "ctx"},
	} {
		_, err := messaging.FirstAccepted(tt.ctx, tt.sends...)
		var invalid *messaging.ValidationError
		require.ErrorAs(t, err, &invalid, name)
		assert.Equal(t, tt.field, invalid.Field, name)
	}
}

// The error of a real send: a refusal by name, and one that also has the ID of a message.
func TestFirstAcceptedReadsWhatTheServiceSaid(t *testing.T) {
	t.Parallel()
	for body, goesOn := range map[string]bool{
		`{"code":"40005"}`:                       true,
		`{"code":"40005","data":{"id":"m-9"}}`:   false, // a refusal that names a message
		`{"code":"200206"}`:                      false, // a duplicate
		`{"code":"131047"}`:                      true,  // the window is closed, which is no matter to another channel
		`{"code":"unknown","data":{"id":"m-9"}}`: false,
	} {
		client, mock := mocked(t)
		responding(mock, http.StatusForbidden, body)
		_, err := messaging.FirstAccepted(t.Context(), func(ctx context.Context) (messaging.Receipt, error) {
			return client.SMS.Send(ctx, sms.Message{From: "ACME", To: chatNumber, Text: "Hi"})
		}, failing(&messaging.Error{Operation: "second"}))
		last, ok := errors.AsType[*messaging.Error](err)
		require.True(t, ok)
		assert.Equal(t, goesOn, last.Operation == "second", body)
	}
}

func TestFirstAcceptedIsNotHeldUpByAnOpenBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down, up := &troubled{status: 503, body: `{}`}, accepting()
		first, second := down.client(t, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1})), up.client(t)
		sendUntilOpen(t, first)
		began, before := time.Now(), down.requests
		receipt, err := messaging.FirstAccepted(t.Context(), func(ctx context.Context) (messaging.Receipt, error) {
			return first.SMS.Send(ctx, hello)
		}, func(ctx context.Context) (messaging.Receipt, error) { return second.SMS.Send(ctx, hello) })
		require.NoError(t, err)
		assert.Equal(t, "m1", receipt.ID)
		assert.Equal(t, before, down.requests)
		assert.Zero(t, time.Since(began))
	})
}

func ExampleFirstAccepted() {
	service, client := connected()
	defer service.Close()
	once, err := client.With(messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1})) // for every channel but the last
	if err != nil {
		fmt.Println(err)
		return
	}
	service.Inject(messagingtest.FaultStatus(http.StatusPaymentRequired, 0), 1) // no credit for SMS

	var smsErr error // nil if the SMS was accepted
	receipt, err := messaging.FirstAccepted(context.Background(),
		func(ctx context.Context) (receipt messaging.Receipt, err error) {
			receipt, smsErr = once.SMS.Send(ctx, sms.Message{From: "ACME", To: "+639171234567", Text: "Your code is 4711", ReferenceID: "code-1"})
			return receipt, smsErr
		},
		func(ctx context.Context) (messaging.Receipt, error) {
			return client.ChatApp1.Send(ctx, chatapp1.New("channel-1", "+639171234567").Text("Your code is 4711").WithReference("code-1"))
		},
	)
	sent := service.Sent()
	fmt.Println(messaging.VerdictOf(err), receipt.ReferenceID, sent[len(sent)-1].Channel)
	fmt.Println("the SMS was", messaging.VerdictOf(smsErr), errors.Is(smsErr, messaging.ErrInsufficientBalance))
	// Output:
	// accepted code-1 chatapp1
	// the SMS was refused true
}

// A refusal with a status of success that names a message under any usual name may be about a message that the service took.
func TestFirstAcceptedStopsAtARefusalThatNamesAMessage(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"id", "messageId", "message_id", "msgid", "sid"} {
		for _, code := range []string{"200101", "40002"} {
			service := roundTripper(func(r *http.Request) (*http.Response, error) {
				return respond(r, http.StatusOK, fmt.Sprintf(`{%q:"m-1","status":"accepted","code":%q}`, name, code)), nil
			})
			client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), service.option())
			require.NoError(t, err)
			next := 0
			_, err = messaging.FirstAccepted(t.Context(), func(ctx context.Context) (messaging.Receipt, error) {
				return client.SMS.Send(ctx, sms.Message{From: "ACME", To: "+639171234567", Text: "Hi"})
			}, func(context.Context) (messaging.Receipt, error) {
				next++
				return messaging.Receipt{}, nil
			})
			sendErr, isSend := errors.AsType[*messaging.Error](err)
			require.True(t, isSend, "%s %s: %v", name, code, err)
			assert.True(t, sendErr.Ambiguous(), "%s %s", name, code)
			assert.Zero(t, next, "%s %s", name, code)
			_, isRetryable := messaging.Retryable(err)
			assert.False(t, isRetryable, "%s %s", name, code)
			assert.False(t, messaging.IsAccountProblem(err), "%s %s", name, code)
		}
	}
}
