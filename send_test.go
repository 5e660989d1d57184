package messaging_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

func TestASendOnTheWire(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t)
	var got *http.Request
	var body []byte
	mock.RegisterResponder(http.MethodPost, baseURL+"/sms/send", func(r *http.Request) (*http.Response, error) {
		got = r
		body, _ = io.ReadAll(r.Body)
		return httpmock.NewStringResponse(http.StatusOK, accepted), nil
	})
	receipt, err := client.SMS.Send(t.Context(), message)
	require.NoError(t, err)
	assert.Equal(t, `{"from":"ACME","to":"+639171234567","text":"Tom & <Jerry> é 😀",`+
		`"dlrCallback":"https://shop.example.com/dlr?status=%s&id=%i&type=%tr","dlrReport":1,"referenceId":"order-17"}`, string(body))
	assert.Equal(t, http.Header{
		"Accept": {"application/json"}, "Authorization": {"Bearer tok-SECRET"}, "Content-Type": {"application/json"},
		"User-Agent": {"messaging-go/" + messaging.Version},
	}, got.Header)
	assert.Equal(t, int64(len(body)), got.ContentLength)
	assert.Nil(t, got.GetBody, "net/http repeats what has a GetBody")
	assert.Equal(t, sms.Receipt{
		ID: "0f6c2f7e-9b1d-4d0a-8a35-f4b0a3b0c111", RequestID: "r-77", ReferenceID: "order-17", Parts: 1, UnitCost: "0.50",
		Cost: "0.50", Balance: "199.50", Operator: "OP_1", StatusCode: http.StatusOK, Raw: []byte(accepted),
	}, receipt)
}

func TestEveryProblemOfAMessageComesInOneErrorAndNothingLeaves(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t)
	_, err := client.SMS.Send(t.Context(), sms.Message{
		To: "+63 917 1234567", CallbackURL: "shop.example.com", ReferenceID: "\xff", Extra: map[string]any{"to": "1", "f": func() {}},
	})
	var v *messaging.ValidationError
	require.ErrorAs(t, err, &v)
	fields := make([]string, len(v.Problems))
	for i, p := range v.Problems {
		fields[i] = p.Field
		assert.NotEmpty(t, p.Reason)
	}
	assert.Equal(t, []string{"From", "To", "Text", "CallbackURL", "ReferenceID", `Extra["f"]`, `Extra["to"]`}, fields)
	assert.Equal(t, v.Problems[0].Field, v.Field)
	assert.Equal(t, v.Problems[0].Reason, v.Reason)
	assert.Equal(t, messaging.NotSent, messaging.VerdictOf(err))
	require.ErrorIs(t, err, messaging.ErrInvalid)
	require.ErrorIs(t, err, messaging.ErrNotSent)
	require.NotErrorIs(t, err, messaging.ErrOutcomeUnknown)
	assert.NotContains(t, err.Error(), "917")
	assert.Zero(t, mock.GetTotalCallCount())
}

func TestANilContextIsRefused(t *testing.T) {
	t.Parallel()
	client, _ := mocked(t)
	var none context.Context
	_, err := client.SMS.Send(none, message)
	var v *messaging.ValidationError
	require.ErrorAs(t, err, &v)
	assert.Equal(t, "ctx", v.Field)
}

func TestWhatTheServiceSaysOfAFailureIsKept(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t)
	const page = `{"code":200202,"message":"+639171234567 is not a number","requestId":"q-1"}`
	answering(mock, http.StatusBadRequest, page)
	_, err := client.SMS.Send(t.Context(), message)
	var e *messaging.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "sms.send", e.Operation)
	assert.Equal(t, messaging.Refused, e.Verdict)
	assert.Equal(t, http.StatusBadRequest, e.StatusCode)
	assert.Equal(t, "200202", e.Code)
	assert.Equal(t, "+639171234567 is not a number", e.Message)
	assert.Equal(t, "q-1", e.RequestID)
	assert.Equal(t, "order-17", e.ReferenceID)
	assert.Equal(t, 1, e.Attempts)
	assert.Equal(t, page, string(e.Body))
	assert.Equal(t, "messaging: sms.send refused: HTTP 400, code 200202, invalid, request q-1", e.Error())
}

func TestAnErrorPageIsKeptUpTo64KiBAndItsBeginningIsTheMessage(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t)
	answering(mock, http.StatusNotFound, "<html>nope"+strings.Repeat(" ", 200_000))
	_, err := client.SMS.Send(t.Context(), message)
	var e *messaging.Error
	require.ErrorAs(t, err, &e)
	assert.Len(t, e.Body, 64<<10)
	assert.Equal(t, "<html>nope", e.Message)
	require.ErrorIs(t, err, messaging.ErrNotFound)
}

func TestTheRequestIDOfAHeaderServesWhereTheBodyNamesNone(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t)
	mock.RegisterResponder(http.MethodPost, `=~/sms/send`, httpmock.NewStringResponder(http.StatusBadGateway, "<html>").
		HeaderSet(http.Header{"X-Request-Id": {"edge-9"}}))
	_, err := client.SMS.Send(t.Context(), message)
	var e *messaging.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "edge-9", e.RequestID)
}

func TestStatusDecidesTheVerdictAndACodeAddsItsClass(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status   int
		body     string
		verdict  messaging.Verdict
		requests int
		is       []error
	}{
		{200, `{"id":"m"}`, messaging.Accepted, 1, nil},
		{202, `{"status":"Queued","id":7}`, messaging.Accepted, 1, nil},
		{200, `{"status":true,"id":"m"}`, messaging.Accepted, 1, nil},
		{200, `{"status":"ok"}`, messaging.Unknown, 1, nil},
		{200, `{"status":"rejected","id":"m"}`, messaging.Unknown, 1, nil},
		{200, `{"status":false,"id":"m"}`, messaging.Unknown, 1, nil},
		{200, `{"code":0,"id":"m"}`, messaging.Unknown, 1, nil},
		{200, `{"code":"200101"}`, messaging.Refused, 1, []error{messaging.ErrInsufficientBalance}},
		{200, `{"error":{"code":"40002"}}`, messaging.Refused, 1, []error{messaging.ErrRateLimited}},
		{200, `{"code":"never heard of"}`, messaging.Refused, 1, nil},
		{200, `{"code":"never heard of","id":"m"}`, messaging.Unknown, 1, nil}, // evidence of both
		{200, `{"code":"200101","id":"m"}`, messaging.Refused, 1, []error{messaging.ErrInsufficientBalance}},
		{200, `{"id":"m","referenceId":"another"}`, messaging.Accepted, 1, nil},
		{200, `{"id":"m"`, messaging.Unknown, 1, nil},
		{200, ``, messaging.Unknown, 1, nil},
		{204, ``, messaging.Unknown, 1, nil},
		{301, ``, messaging.Unknown, 1, nil},
		{304, ``, messaging.Unknown, 1, nil},
		{400, `{}`, messaging.Refused, 1, []error{messaging.ErrInvalid}},
		{401, `{}`, messaging.Refused, 1, []error{messaging.ErrUnauthorized}},
		{402, `{}`, messaging.Refused, 1, []error{messaging.ErrInsufficientBalance}},
		{403, `{}`, messaging.Refused, 1, []error{messaging.ErrForbidden}},
		{404, `{}`, messaging.Refused, 1, []error{messaging.ErrNotFound}},
		{408, `{}`, messaging.Unknown, 1, nil},
		{409, `{"code":"200206"}`, messaging.Refused, 1, []error{messaging.ErrDuplicate}},
		{422, `{}`, messaging.Refused, 1, []error{messaging.ErrInvalid}},
		{425, ``, messaging.Refused, 1, nil},
		{429, `{}`, messaging.Refused, 3, []error{messaging.ErrRateLimited}},
		{451, `{}`, messaging.Refused, 1, nil},
		{500, `{"code":"200202"}`, messaging.Unknown, 1, []error{messaging.ErrInvalid, messaging.ErrUnavailable}},
		{501, ``, messaging.Unknown, 1, nil},
		{502, `<html>`, messaging.Unknown, 1, []error{messaging.ErrUnavailable}},
		{503, `{"code":"200206"}`, messaging.Unknown, 1, []error{messaging.ErrDuplicate, messaging.ErrUnavailable}},
		{504, ``, messaging.Unknown, 1, []error{messaging.ErrUnavailable}},
		{599, ``, messaging.Unknown, 1, nil},
		{600, ``, messaging.Unknown, 1, nil},
	} {
		for _, channel := range channels {
			client, mock := mocked(t)
			answering(mock, tt.status, tt.body)
			_, err := channel.send(t.Context(), client, message.To, message.Text, message.ReferenceID)
			assert.Equal(t, tt.verdict, messaging.VerdictOf(err), "%s: %d %s: %v", channel.name, tt.status, tt.body, err)
			assert.Equal(t, tt.requests, mock.GetTotalCallCount(), "%s: %d %s", channel.name, tt.status, tt.body)
			assert.Equal(t, tt.verdict == messaging.Unknown, errors.Is(err, messaging.ErrOutcomeUnknown), "%s: %d %s", channel.name, tt.status, tt.body)
			assert.NotErrorIs(t, err, messaging.ErrNotSent)
			for _, sentinel := range tt.is {
				assert.ErrorIs(t, err, sentinel, "%s: %d %s", channel.name, tt.status, tt.body)
			}
		}
	}
}

func TestAStatusThatTheContractCallsNotProcessedIsRetried(t *testing.T) {
	t.Parallel()
	overlay, err := contract.Parse([]byte(`{"errors":{"notProcessed":[503]}}`))
	require.NoError(t, err)
	client, mock := mocked(t, messaging.WithContract(overlay))
	answering(mock, http.StatusServiceUnavailable, `{}`)
	_, err = client.SMS.Send(t.Context(), message)
	assert.Equal(t, messaging.Refused, messaging.VerdictOf(err))
	assert.Equal(t, 3, mock.GetTotalCallCount())

	client, mock = mocked(t, messaging.WithContract(overlay))
	answering(mock, http.StatusTooManyRequests, `{}`)
	_, err = client.SMS.Send(t.Context(), message)
	assert.Equal(t, messaging.Refused, messaging.VerdictOf(err), "429 is a 4xx whatever the list says")
	assert.Equal(t, 1, mock.GetTotalCallCount(), "the list replaces the default")
}

func TestAFieldThatTheContractDropsIsRefusedWhenUsedAndNotRequired(t *testing.T) {
	t.Parallel()
	overlay, err := contract.Parse([]byte(`{"sms.send":{"fields":{"from":"","callback":""}}}`))
	require.NoError(t, err)
	client, mock := mocked(t, messaging.WithContract(overlay))
	answering(mock, http.StatusOK, `{"id":"m"}`)
	_, err = client.SMS.Send(t.Context(), message)
	var v *messaging.ValidationError
	require.ErrorAs(t, err, &v)
	assert.Len(t, v.Problems, 2)
	assert.Equal(t, "From", v.Problems[0].Field)
	assert.Equal(t, "CallbackURL", v.Problems[1].Field)
	assert.Zero(t, mock.GetTotalCallCount())
	_, err = client.SMS.Send(t.Context(), sms.Message{To: "12345", Text: "x"})
	require.NoError(t, err, "the account has one sender, and the contract says so")
}

func TestTheContractIsCopied(t *testing.T) {
	t.Parallel()
	names := contract.Default()
	names.SMSSend.Constants = map[string]any{"app": "billing"}
	client, mock := mocked(t, messaging.WithContract(names))
	requests := answering(mock, http.StatusOK, `{"id":"m"}`)
	names.SMSSend.Constants["app"] = "other"
	derived, err := client.With(messaging.WithTimeout(time.Second))
	require.NoError(t, err)
	for i, c := range []*messaging.Client{client, derived} {
		_, err = c.SMS.Send(t.Context(), message)
		require.NoError(t, err)
		body, _ := io.ReadAll((*requests)[i].Body)
		assert.Contains(t, string(body), `"app":"billing"`)
	}
}

func TestTheMessageIsNeverChangedAndServesManyGoroutines(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	require.NoError(t, err)
	shared := message
	shared.Extra = map[string]any{"userdata": []any{"a", 1}, "tag": "x"}
	before, err := json.Marshal(shared.Extra)
	require.NoError(t, err)
	var wg sync.WaitGroup
	var failed atomic.Int32
	for range 100 {
		wg.Go(func() {
			if _, err := client.SMS.Send(t.Context(), shared); err != nil {
				failed.Add(1)
			}
		})
	}
	wg.Wait()
	assert.Zero(t, failed.Load())
	assert.Len(t, service.Sent(), 100)
	after, err := json.Marshal(shared.Extra)
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
	assert.JSONEq(t, `["a",1]`, string(service.Sent()[0].Extra["userdata"]))
}

func TestEachFaultOfTheStandInEndsInItsVerdict(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault   messagingtest.Fault
		verdict messaging.Verdict
		sent    int
	}{
		"accept then drop": {messagingtest.AcceptThenDrop(), messaging.Unknown, 1},
		"drop unread":      {messagingtest.DropUnread(), messaging.Unknown, 0},
		"slow":             {messagingtest.Slow(10 * time.Millisecond), messaging.Accepted, 1},
		"too slow":         {messagingtest.Slow(time.Minute), messaging.Unknown, 1},
		"403":              {messagingtest.Status(http.StatusForbidden, 0), messaging.Refused, 0},
		"500":              {messagingtest.Status(http.StatusInternalServerError, 0), messaging.Unknown, 0},
		"truncated":        {messagingtest.TruncatedAnswer(), messaging.Unknown, 1},
		"not JSON":         {messagingtest.NotJSON(), messaging.Unknown, 1},
		"429 and then ok":  {messagingtest.Status(http.StatusTooManyRequests, -1), messaging.Accepted, 1},
	} {
		for _, channel := range channels {
			t.Run(channel.name+", "+name, func(t *testing.T) {
				t.Parallel()
				service := messagingtest.NewServer(t)
				timeout := time.Minute
				if name == "too slow" {
					timeout = time.Second // on a busy machine too short for the others
				}
				client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token), messaging.WithTimeout(timeout),
					messaging.WithRetry(messaging.RetryPolicy{MinWait: time.Millisecond}))
				require.NoError(t, err)
				service.Inject(tt.fault, 1)
				_, err = channel.send(t.Context(), client, message.To, message.Text, message.ReferenceID)
				assert.Equal(t, tt.verdict, messaging.VerdictOf(err), "%v", err)
				assert.Len(t, service.Sent(), tt.sent)
			})
		}
	}
}

func TestCredentialsDoNotFollowARedirect(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer elsewhere.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		srv := httptest.NewServer(http.RedirectHandler(elsewhere.URL, status))
		client, err := messaging.NewClient(srv.URL, messaging.WithToken("tok-SECRET"),
			messaging.WithHTTPClient(&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return nil }}))
		require.NoError(t, err)
		_, err = client.SMS.Send(t.Context(), message)
		var e *messaging.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, messaging.Unknown, e.Verdict)
		assert.Equal(t, status, e.StatusCode)
		srv.Close()
	}
	assert.Zero(t, reached.Load())
}
