package messaging_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

func TestSendOnTheWire(t *testing.T) {
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
	assert.Nil(t, got.GetBody, "net/http retries a request with a GetBody")
	assert.Equal(t, messaging.Receipt{
		ID: "0f6c2f7e-9b1d-4d0a-8a35-f4b0a3b0c111", RequestID: "r-77", ReferenceID: "order-17", Parts: 1, UnitCost: "0.50",
		Cost: "0.50", Balance: "199.50", Operator: "OP_1", Status: "ok", Attempts: 1, StatusCode: http.StatusOK, Raw: []byte(accepted),
	}, receipt)
}

func TestRawHasNoByteOrderMark(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t)
	mock.RegisterResponder(http.MethodPost, baseURL+"/sms/send", httpmock.NewStringResponder(http.StatusOK, "\ufeff"+`{"id":"m-1"}`))
	receipt, err := client.SMS.Send(t.Context(), message)
	require.NoError(t, err)
	assert.Equal(t, `{"id":"m-1"}`, string(receipt.Raw))
	_, err = json.Marshal(receipt)
	require.NoError(t, err)
}

func TestSendReportsEveryProblem(t *testing.T) {
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

func TestSendRejectsANilContext(t *testing.T) {
	t.Parallel()
	client, _ := mocked(t)
	var none context.Context
	_, err := client.SMS.Send(none, message)
	var v *messaging.ValidationError
	require.ErrorAs(t, err, &v)
	assert.Equal(t, "ctx", v.Field)
}

func TestErrorKeepsTheResponse(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t)
	const page = `{"code":200202,"message":"+639171234567 is not a number","requestId":"q-1"}`
	responding(mock, http.StatusBadRequest, page)
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
	assert.Equal(t, `messaging: sms.send refused: HTTP 400, code 200202, invalid, "+*** is not a number", request q-1`, e.Error())
}

func TestErrorKeeps64KiBOfAPage(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t)
	responding(mock, http.StatusNotFound, "<html>nope"+strings.Repeat(" ", 200_000))
	_, err := client.SMS.Send(t.Context(), message)
	var e *messaging.Error
	require.ErrorAs(t, err, &e)
	assert.Len(t, e.Body, 64<<10)
	assert.Equal(t, "<html>nope", e.Message)
	require.ErrorIs(t, err, messaging.ErrNotFound)
}

func TestErrorTakesTheRequestIDOfAHeader(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t)
	mock.RegisterResponder(http.MethodPost, `=~/sms/send`, httpmock.NewStringResponder(http.StatusBadGateway, "<html>").
		HeaderSet(http.Header{"X-Request-Id": {"edge-9"}}))
	_, err := client.SMS.Send(t.Context(), message)
	var e *messaging.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "edge-9", e.RequestID)
}

// classes are the sentinels of a failure's class.
var classes = []error{
	messaging.ErrInvalid, messaging.ErrUnauthorized, messaging.ErrForbidden, messaging.ErrNotFound, messaging.ErrNotListed,
	messaging.ErrFilterIgnored, messaging.ErrRateLimited, messaging.ErrInsufficientBalance, messaging.ErrDuplicate, messaging.ErrUnavailable,
}

func TestSendVerdicts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status   int
		body     string
		verdict  messaging.Verdict
		requests int
		class    error
	}{
		{200, `{"id":"m"}`, messaging.Accepted, 1, nil},
		{202, `{"status":"Queued","id":7}`, messaging.Accepted, 1, nil},
		{200, `{"status":true,"id":"m"}`, messaging.Accepted, 1, nil},
		{200, `{"id":"m","referenceId":"another"}`, messaging.Unknown, 1, nil},
		{200, `{"status":"ok"}`, messaging.Unknown, 1, nil},
		{200, `{"status":"rejected","id":"m"}`, messaging.Unknown, 1, nil},
		{200, `{"status":false,"id":"m"}`, messaging.Unknown, 1, nil},
		{200, `{"id":"m"`, messaging.Unknown, 1, nil},
		{200, ``, messaging.Unknown, 1, nil},
		{204, ``, messaging.Unknown, 1, nil},
		// Success codes prove nothing against an acceptance.
		{200, `{"code":0,"id":"m"}`, messaging.Accepted, 1, nil},
		{200, `{"code":"OK","id":"m"}`, messaging.Accepted, 1, nil},
		{200, `{"code":"200","message":"Successfully Sent","balance":"10","id":149039}`, messaging.Accepted, 1, nil},
		{200, `{"code":"200","message":"Successfully Sent","balance":"10","message_id":149039}`, messaging.Accepted, 1, nil},
		{200, `{"code":"ok"}`, messaging.Unknown, 1, nil},
		// A code of no class never proves a refusal.
		{200, `{"code":"never heard of"}`, messaging.Unknown, 1, nil},
		{200, `{"code":"never heard of","id":"m"}`, messaging.Unknown, 1, nil},
		{200, `{"code":"200101"}`, messaging.Refused, 1, messaging.ErrInsufficientBalance},
		{200, `{"code":"200101","id":"m"}`, messaging.Refused, 1, messaging.ErrInsufficientBalance},
		{200, `{"error":{"code":"40002"}}`, messaging.Refused, 1, messaging.ErrRateLimited},
		// A placeholder is no ID.
		{200, `{"id":"None"}`, messaging.Unknown, 1, nil},
		{200, `{"id":"%i"}`, messaging.Unknown, 1, nil},
		{200, `{"id":" - "}`, messaging.Unknown, 1, nil},
		{200, `{"id":0}`, messaging.Unknown, 1, nil},
		{200, `{"id":-1}`, messaging.Unknown, 1, nil},
		{200, `{"id":"(null)"}`, messaging.Unknown, 1, nil},
		{200, `{"id":"{{id}}"}`, messaging.Unknown, 1, nil},
		// An error without a code is something against an acceptance.
		{200, `{"id":"m","error":"insufficient balance"}`, messaging.Unknown, 1, nil},
		{200, `{"status":"ok","data":{"id":"m"},"error":{"message":"insufficient balance"}}`, messaging.Unknown, 1, nil},
		{200, `{"id":"m","error":null}`, messaging.Accepted, 1, nil},
		{200, `{"id":"m","error":{"code":0}}`, messaging.Accepted, 1, nil},
		{301, ``, messaging.Unknown, 1, nil},
		{304, ``, messaging.Unknown, 1, nil},
		{400, `{}`, messaging.Refused, 1, messaging.ErrInvalid},
		{401, `{}`, messaging.Refused, 1, messaging.ErrUnauthorized},
		{402, `{}`, messaging.Refused, 1, messaging.ErrInsufficientBalance},
		// JSON and a response without a body refuse; a page may be that of a proxy, behind which the service has processed the request.
		{403, `{}`, messaging.Refused, 1, messaging.ErrForbidden},
		{403, `<html>`, messaging.Unknown, 1, messaging.ErrForbidden},
		{403, ``, messaging.Refused, 1, messaging.ErrForbidden},
		{403, `{"code":"","requestId":null}`, messaging.Refused, 1, messaging.ErrForbidden},
		{404, `{"message":"no such route"}`, messaging.Refused, 1, messaging.ErrNotFound},
		{404, `{"code":404,"message":"no such route"}`, messaging.Refused, 1, messaging.ErrNotFound},
		{403, `{"error":{"code":"403","message":"denied"}}`, messaging.Refused, 1, messaging.ErrForbidden},
		{405, ``, messaging.Refused, 1, nil},
		{410, `"gone"`, messaging.Unknown, 1, messaging.ErrNotFound},
		{403, `{"code":"Forbidden"}`, messaging.Refused, 1, messaging.ErrForbidden},
		{404, `{"error":{"code":403}}`, messaging.Refused, 1, messaging.ErrNotFound},
		{403, `{"code":"undefined","requestId":"null"}`, messaging.Refused, 1, messaging.ErrForbidden},
		{403, `{"requestId":0}`, messaging.Refused, 1, messaging.ErrForbidden},
		{403, `{"code":"ok"}`, messaging.Refused, 1, messaging.ErrForbidden},
		// A refusal that names a message contradicts itself.
		{403, `{"code":"ok","id":"m"}`, messaging.Unknown, 1, messaging.ErrForbidden},
		{404, `{"status":"ok","data":{"id":"m","requestId":"q-1"}}`, messaging.Unknown, 1, messaging.ErrNotFound},
		{400, `{"status":"ok","data":{"id":"m"}}`, messaging.Unknown, 1, messaging.ErrInvalid},
		{409, `{"id":"m"}`, messaging.Unknown, 1, nil},
		{422, `{"code":"E-17","id":"m"}`, messaging.Unknown, 1, messaging.ErrInvalid},
		{429, `{"id":"m"}`, messaging.Unknown, 1, messaging.ErrRateLimited},
		{409, `{"code":"200206","id":"m"}`, messaging.Unknown, 1, messaging.ErrDuplicate},
		{400, `{"code":"200101","id":"m"}`, messaging.Unknown, 1, messaging.ErrInsufficientBalance},
		{422, `{"sid":"SM1","status":"queued"}`, messaging.Unknown, 1, messaging.ErrInvalid},
		{400, `{"messageId":"m1","message":"timeout while storing"}`, messaging.Unknown, 1, messaging.ErrInvalid},
		{409, `{"message_id":"m1","error":"duplicate"}`, messaging.Unknown, 1, nil},
		{400, `{"error":{"messageId":"SVC0002"}}`, messaging.Refused, 1, messaging.ErrInvalid},
		{400, `{"sid":"SM1","status":400}`, messaging.Refused, 1, messaging.ErrInvalid},
		// A conflict with an ID may be a duplicate of what an earlier request sent.
		{409, `{"error":"duplicate request","original_message_id":"m1"}`, messaging.Unknown, 1, nil},
		{409, `{"errors":[{"existingId":"m1"}]}`, messaging.Unknown, 1, nil},
		{409, `{"error":"conflict","requestId":"q-1"}`, messaging.Refused, 1, nil},
		{400, `{"id":"none"}`, messaging.Refused, 1, messaging.ErrInvalid},
		{403, `{"code":"200299"}`, messaging.Refused, 1, messaging.ErrInvalid},
		{403, `{"code":"E-17"}`, messaging.Refused, 1, messaging.ErrForbidden},
		{404, `{"code":"40005","message":"no such sender"}`, messaging.Refused, 1, messaging.ErrNotFound},
		{405, `{"requestId":"q-1"}`, messaging.Refused, 1, nil},
		{410, `{"data":{"requestId":"q-1"}}`, messaging.Refused, 1, messaging.ErrNotFound},
		{408, `{}`, messaging.Unknown, 1, nil},
		{409, `{"code":"200206"}`, messaging.Unknown, 1, messaging.ErrDuplicate},
		{400, `{"code":"200206"}`, messaging.Refused, 1, messaging.ErrDuplicate},
		{499, `{}`, messaging.Unknown, 1, nil},
		{422, `{}`, messaging.Refused, 1, messaging.ErrInvalid},
		{425, ``, messaging.Refused, 1, nil},
		{429, `{}`, messaging.Refused, 3, messaging.ErrRateLimited},
		{451, `{}`, messaging.Refused, 1, nil},
		// The class of a code wins over that of a status.
		{400, `{"code":"200101","message":"no credit"}`, messaging.Refused, 1, messaging.ErrInsufficientBalance},
		{400, `{"code":"E-17"}`, messaging.Refused, 1, messaging.ErrInvalid},
		{500, `{"code":"200202"}`, messaging.Unknown, 1, messaging.ErrInvalid},
		{503, `{"code":"200206"}`, messaging.Unknown, 1, messaging.ErrDuplicate},
		{500, `{}`, messaging.Unknown, 1, messaging.ErrUnavailable},
		{501, ``, messaging.Unknown, 1, nil},
		{502, `<html>`, messaging.Unknown, 1, messaging.ErrUnavailable},
		{504, ``, messaging.Unknown, 1, messaging.ErrUnavailable},
		{599, ``, messaging.Unknown, 1, nil},
		{600, ``, messaging.Unknown, 1, nil},
	} {
		for _, channel := range channels {
			name := fmt.Sprintf("%s: %d %s", channel.name, tt.status, tt.body)
			client, mock := mocked(t)
			responding(mock, tt.status, tt.body)
			_, err := channel.send(t.Context(), client, message.To, message.Text, message.ReferenceID)
			assert.Equal(t, tt.verdict, messaging.VerdictOf(err), "%s: %v", name, err)
			assert.Equal(t, tt.requests, mock.GetTotalCallCount(), name)
			assert.Equal(t, tt.verdict == messaging.Unknown, errors.Is(err, messaging.ErrOutcomeUnknown), name)
			assert.NotErrorIs(t, err, messaging.ErrNotSent)
			for _, class := range classes {
				assert.Equal(t, class == tt.class, errors.Is(err, class), "%s: %v", name, class)
			}
		}
	}
}

func TestSendErrorNamesThePathOfAResponseThatIsNotTheServices(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t)
	responding(mock, http.StatusForbidden, `<html>denied by proxy`)
	_, err := client.SMS.Send(t.Context(), message)
	require.EqualError(t, err, `messaging: sms.send has an unknown outcome: HTTP 403, a page responded to POST /sms/send: the base URL or the path may be wrong, forbidden, "<html>denied by proxy"`)
	responding(mock, http.StatusBadRequest, `{"id":"m"}`)
	_, err = client.SMS.Send(t.Context(), message)
	require.EqualError(t, err, "messaging: sms.send has an unknown outcome: HTTP 400, the response contradicts itself: it fails, and names a message, invalid, \"{\\\"id\\\":\\\"m\\\"}\"")
	responding(mock, http.StatusNoContent, ``)
	_, err = client.SMS.Send(t.Context(), message)
	require.EqualError(t, err, "messaging: sms.send has an unknown outcome: HTTP 204, the response is empty")
	responding(mock, http.StatusNotFound, `{"code":"40005"}`)
	_, err = client.SMS.Send(t.Context(), message)
	require.EqualError(t, err, "messaging: sms.send refused: HTTP 404, POST /sms/send, code 40005, not found")
}

func TestErrorsInTheOrderOfTheREADME(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t)
	responding(mock, http.StatusBadRequest, `{"code":"200101","message":"no credit"}`)
	_, err := client.SMS.Send(t.Context(), message)
	switch {
	case errors.Is(err, messaging.ErrInvalid):
		assert.Fail(t, "an empty account is blamed on the message")
	case errors.Is(err, messaging.ErrInsufficientBalance):
	default:
		assert.Fail(t, "no class", "%v", err)
	}
}

func TestSendRetriesStatusesOfTheContract(t *testing.T) {
	t.Parallel()
	overlay, err := contract.Parse([]byte(`{"errors":{"notProcessed":[503]}}`))
	require.NoError(t, err)
	client, mock := mocked(t, messaging.WithContract(overlay))
	responding(mock, http.StatusServiceUnavailable, `{"requestId":"r-1"}`)
	_, err = client.SMS.Send(t.Context(), message)
	assert.Equal(t, messaging.Refused, messaging.VerdictOf(err))
	assert.Equal(t, 3, mock.GetTotalCallCount())

	client, mock = mocked(t, messaging.WithContract(overlay))
	responding(mock, http.StatusTooManyRequests, `{}`)
	_, err = client.SMS.Send(t.Context(), message)
	assert.Equal(t, messaging.Refused, messaging.VerdictOf(err), "429 is a 4xx in any case")
	assert.Equal(t, 1, mock.GetTotalCallCount(), "the list replaces the default")
}

func TestSendWithAFieldThatTheContractDrops(t *testing.T) {
	t.Parallel()
	overlay, err := contract.Parse([]byte(`{"sms.send":{"fields":{"from":"","callback":""}}}`))
	require.NoError(t, err)
	client, mock := mocked(t, messaging.WithContract(overlay))
	responding(mock, http.StatusOK, `{"id":"m"}`)
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

func TestSendDoesNotChangeTheMessage(t *testing.T) {
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

func TestSendVerdictsOfFaults(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault   messagingtest.Fault
		verdict messaging.Verdict
		sent    int
	}{
		"accept then drop": {messagingtest.FaultAcceptThenDrop(), messaging.Unknown, 1},
		"drop unread":      {messagingtest.FaultDropUnread(), messaging.Unknown, 0},
		"slow":             {messagingtest.FaultSlow(10 * time.Millisecond), messaging.Accepted, 1},
		"too slow":         {messagingtest.FaultSlow(time.Minute), messaging.Unknown, 1},
		"403":              {messagingtest.FaultStatus(http.StatusForbidden, 0), messaging.Refused, 0},
		"500":              {messagingtest.FaultStatus(http.StatusInternalServerError, 0), messaging.Unknown, 0},
		"truncated":        {messagingtest.FaultTruncated(), messaging.Unknown, 1},
		"not JSON":         {messagingtest.FaultNotJSON(), messaging.Unknown, 1},
		"429 and then ok":  {messagingtest.FaultStatus(http.StatusTooManyRequests, -1), messaging.Accepted, 1},
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

// TestSendOfACutResponse: what is missing of the response may say that the message failed, although what came is JSON that accepts it.
func TestSendOfACutResponse(t *testing.T) {
	t.Parallel()
	for _, channel := range channels {
		t.Run(channel.name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int32
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				requests.Add(1)
				w.Header().Set("Content-Length", "1000")
				_, _ = io.WriteString(w, `{"id":"m-1"}`) // net/http closes the connection, because the rest never comes
			}))
			t.Cleanup(srv.Close)
			client, err := messaging.NewClient(srv.URL, messaging.WithToken("tok-SECRET"))
			require.NoError(t, err)
			_, err = channel.send(t.Context(), client, message.To, message.Text, message.ReferenceID)
			assert.Equal(t, messaging.Unknown, messaging.VerdictOf(err))
			require.ErrorContains(t, err, "the response could not be read to its end")
			assert.EqualValues(t, 1, requests.Load())
		})
	}
}

func TestSendDoesNotFollowRedirects(t *testing.T) {
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

func TestSendIsNotRepeatedAfterAResponseThatNamesAMessage(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusUnauthorized, http.StatusTooManyRequests} {
		for body, requests := range map[string]int{`{}`: 2, `{"code":"40002","id":"m"}`: 1, `{"status":"ok","data":{"id":"m"}}`: 1} {
			client, mock := mocked(t, messaging.WithTokenSource(issue("t")), messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 2, MinWait: 1}))
			responding(mock, status, body)
			_, err := client.SMS.Send(t.Context(), message)
			require.Error(t, err)
			assert.Equal(t, requests, mock.GetTotalCallCount(), "%d %s", status, body)
		}
	}
}
