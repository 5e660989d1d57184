package messaging_test

import (
	"fmt"
	"net/http"
	"strings"
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

// sendGetting sends an SMS with the reference ID order-17 and returns its error and the number of requests.
func sendGetting(t *testing.T, overlay string, status int, header http.Header, body string, options ...messaging.Option) (*messaging.Error, int) {
	t.Helper()
	names, err := contract.Parse([]byte(overlay))
	require.NoError(t, err, overlay)
	client, mock := mocked(t, append(options, messaging.WithContract(names))...)
	return sendThrough(t, client, mock, status, header, body)
}

// sendThrough is sendGetting for many responses to one client.
func sendThrough(
	t *testing.T, client *messaging.Client, mock *httpmock.MockTransport, status int, header http.Header, body string,
) (*messaging.Error, int) {
	t.Helper()
	mock.Reset()
	mock.RegisterResponder(http.MethodPost, `=~/sms/send`, httpmock.NewStringResponder(status, body).HeaderSet(header))
	_, err := client.SMS.Send(t.Context(), message)
	if err == nil {
		return nil, mock.GetTotalCallCount()
	}
	var e *messaging.Error
	require.ErrorAs(t, err, &e)
	return e, mock.GetTotalCallCount()
}

func verdictOf(e *messaging.Error) messaging.Verdict {
	if e == nil {
		return messaging.Accepted
	}
	return e.Verdict
}

// A proxy may write a page after the service has processed the request.
func TestSendVerdictOfAPage(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}), messaging.WithBreaker(messaging.BreakerPolicy{Off: true}))
	before := map[int]bool{407: true, 411: true, 413: true, 414: true, 417: true, 421: true, 431: true}
	for status := 400; status < 500; status++ {
		for body, isPage := range map[string]bool{
			"<html>no</html>": true, "no": true, `{"error":`: true, "\x00": true, `"no"`: true, " \r\n": true, `{}`: false, `[{}]`: false, "": false,
		} {
			want := messaging.Refused
			switch {
			case before[status]:
			case isPage, status == 408, status == 499:
				want = messaging.Unknown
			}
			e, requests := sendThrough(t, client, mock, status, nil, body)
			assert.Equal(t, want, verdictOf(e), "%d %q", status, body)
			assert.Equal(t, 1, requests)
			if isPage && want == messaging.Unknown && status != 408 && status != 499 {
				assert.ErrorContains(t, e, "a page responded to POST /sms/send: the base URL or the path may be wrong", "%d", status)
			}
		}
	}
}

// A proxy that repeats a POST may return the second response, which says nothing of the first.
func TestSendRepeatsOnlyAfterProof(t *testing.T) {
	t.Parallel()
	const page = "<html>slow down"
	wait, bearer := http.Header{"Retry-After": {"0"}}, http.Header{"Www-Authenticate": {"Bearer"}}
	for _, tt := range []struct {
		overlay  string
		status   int
		header   http.Header
		body     string
		verdict  messaging.Verdict
		requests int
	}{
		{`{}`, 429, nil, page, messaging.Unknown, 1},
		{`{}`, 429, http.Header{"Retry-After": {" "}}, page, messaging.Unknown, 1},
		{`{}`, 429, wait, page, messaging.Refused, 3},
		{`{}`, 429, nil, `{"message":"slow down"}`, messaging.Refused, 3},
		{`{}`, 429, nil, ``, messaging.Refused, 3},
		{`{}`, 429, wait, `{"code":"40002","id":"m-1"}`, messaging.Unknown, 1},
		{`{}`, 429, wait, `{"id":"m-1"}`, messaging.Unknown, 1},
		{`{}`, 429, wait, `{"code":"40002","code":"40003"}`, messaging.Unknown, 1},
		{`{}`, 429, wait, `{"code":"40002","referenceId":"order-18"}`, messaging.Unknown, 1},
		{`{"errors":{"notProcessed":[503]}}`, 503, wait, page, messaging.Unknown, 1},
		{`{"errors":{"notProcessed":[503]}}`, 503, nil, ``, messaging.Unknown, 1},
		{`{"errors":{"notProcessed":[503]}}`, 503, nil, `{"message":"down"}`, messaging.Unknown, 1},
		{`{"errors":{"notProcessed":[503]}}`, 503, nil, `{"code":503}`, messaging.Unknown, 1},
		{`{"errors":{"notProcessed":[503]}}`, 503, nil, `{"code":"E-1"}`, messaging.Refused, 3},
		{`{"errors":{"notProcessed":[503]}}`, 503, nil, `{"requestId":"r-1"}`, messaging.Refused, 3},
		{`{"errors":{"notProcessed":[403]}}`, 403, nil, `{}`, messaging.Refused, 3},
		{`{"errors":{"notProcessed":[403]}}`, 403, nil, page, messaging.Unknown, 1},
		{`{"errors":{"notProcessed":[403]}}`, 403, wait, page, messaging.Refused, 3},
		// Of a 401 the token is refreshed once.
		{`{}`, 401, nil, page, messaging.Unknown, 1},
		{`{}`, 401, bearer, page, messaging.Refused, 2},
		{`{}`, 401, nil, ``, messaging.Refused, 2},
		{`{}`, 401, nil, `{}`, messaging.Refused, 2},
		{`{}`, 401, nil, `{"code":"40001"}`, messaging.Refused, 2},
		{`{}`, 401, bearer, `{"code":"40001","id":"m-1"}`, messaging.Unknown, 1},
		{`{}`, 401, wait, page, messaging.Unknown, 1},
	} {
		name := fmt.Sprintf("%s %d %v %s", tt.overlay, tt.status, tt.header, tt.body)
		e, requests := sendGetting(t, tt.overlay, tt.status, tt.header, tt.body, messaging.WithTokenSource(issue("t")),
			messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 3, MinWait: 1}))
		assert.Equal(t, tt.verdict, verdictOf(e), "%s: %v", name, e)
		assert.Equal(t, tt.requests, requests, name)
		if strings.Contains(tt.body, `"id"`) {
			assert.Equal(t, "m-1", e.MessageID, name)
		}
	}
}

func TestSendVerdictOfAFailureBesideTheID(t *testing.T) {
	t.Parallel()
	const withStates = `{"sms.send":{"response":{"id":["messages.0.id"],"status":["messages.0.status"]},"refused":["REJECTED*"]}}`
	for _, tt := range []struct {
		overlay, body string
		isAccepted    bool
	}{
		{`{}`, `{"data":{"id":"m-1","status":"rejected"}}`, false},
		{`{}`, `{"data":{"id":"m-1","status":"Expired"}}`, false},
		{`{}`, `{"data":{"id":"m-1","status":false}}`, false},
		{`{}`, `{"data":{"status":"failed","transactionId":"m-1"}}`, false},
		{`{}`, `{"status":"ok","data":{"id":"m-1","code":"200101"}}`, false},
		{`{}`, `{"messages":[{"id":"m-1","error":{"code":"40003"}}]}`, false},
		{`{}`, `{"messages":[{"id":"m-1","error":"no credit"}]}`, false},
		{`{}`, `{"messages":[{"id":"m-1","status":"failed","errors":[{"code":131026}]}]}`, false},
		{`{}`, `{"id":"m-1","errors":[{"title":"no"}]}`, false},
		{`{}`, `{"id":"m-1","fault":"no"}`, false},
		{`{}`, `{"id":"m-1","success":false}`, false},
		{`{}`, `{"id":"m-1","success":"false"}`, false},
		{`{}`, `{"id":"m-1","partial":true}`, false},
		{`{}`, `{"success":false,"data":{"id":"m-1"}}`, false},
		{`{}`, `{"errors":["no"],"messages":[{"id":"m-1"}]}`, false},
		{`{}`, `{"data":{"id":"m-1","status":{"id":1,"name":"failed"}}}`, false},
		{`{}`, `{"id":"m-1","data":{"status":"failed"}}`, false},
		{`{}`, `{"id":"m-1","state":"failed"}`, false},
		{`{}`, `{"id":"m-1","errorCode":"E17"}`, false},
		{`{}`, `{"id":"m-1","details":[{"reason":"no credit"}]}`, false},
		{withStates, `{"status":"REJECTED_ROUTE","messages":[{"id":"m-1","status":"queued"}]}`, false},
		// No sign of a failure, or one at a place with another meaning.
		{`{}`, `{"data":{"id":"m-1","status":"pending","code":"E-17"}}`, true},
		{`{}`, `{"data":{"id":"m-1","status":7,"code":"0","error":null}}`, true},
		{`{}`, `{"id":"m-1","errors":[],"fault":"","success":true,"partial":false}`, true},
		{`{}`, `{"id":"m-1","errors":0,"fault":null,"success":1}`, true},
		{`{}`, `{"id":"m-1","errors":{"count":"0","list":[]},"error":{"code":0,"message":"all is well"},"errorText":"Success"}`, true},
		{`{}`, `{"id":"m-1","default":1,"failover":true,"statusCallback":"https://x","state":"CA","operator":{"code":"17"}}`, true},
		{`{"sms.send":{"response":{"id":["status.id"],"status":[]}}}`, `{"status":{"id":"m-1"}}`, true},
		{`{"sms.send":{"response":{"operator":["data.status"]}}}`, `{"data":{"id":"m-1","status":"rejected"}}`, true},
		{`{"sms.send":{"response":{"status":["success"]}}}`, `{"id":"m-1","success":true}`, true},
		{`{"sms.send":{"response":{"operator":["errors.0.network"]}}}`, `{"id":"m-1","errors":[{"network":"OP_1"}]}`, true},
	} {
		e, requests := sendGetting(t, tt.overlay, http.StatusOK, nil, tt.body)
		assert.Equal(t, 1, requests)
		if assert.Equal(t, tt.isAccepted, e == nil, "%s %s: %v", tt.overlay, tt.body, e) && !tt.isAccepted {
			assert.Equal(t, messaging.Unknown, e.Verdict, tt.body)
			assert.Equal(t, "m-1", e.MessageID, tt.body)
		}
	}
}

func TestSendVerdictOfAMemberThatComesTwice(t *testing.T) {
	t.Parallel()
	for body, isAccepted := range map[string]bool{
		`{"id":"m-1","code":"40003","code":"0"}`: false, `{"id":"m-1","id":"m-2"}`: false, `{"data":{"id":"m-1"},"data":{"id":"m-2"}}`: false,
		`{"id":"m-1","\u0069d":"m-1"}`: false, `{"id":"m-1","requestId":"r-1","requestId":"r-2"}`: false,
		`{"id":"m-1","note":1,"note":2}`: true, `{"id":"m-1","note":{"id":1,"id":2}}`: true, `{"messages":[{"id":"m-1"},{"id":"m-2"}]}`: true,
	} {
		e, _ := sendGetting(t, `{}`, http.StatusOK, nil, body)
		assert.Equal(t, isAccepted, e == nil, "%s: %v", body, e)
	}
	e, _ := sendGetting(t, `{}`, http.StatusBadRequest, nil, `{"code":"40003","code":"0"}`)
	assert.Equal(t, messaging.Unknown, verdictOf(e))
	require.EqualError(t, e, "messaging: sms.send has an unknown outcome: HTTP 400, the response has a member of the contract twice, code 40003, invalid")
}

// A service may cut a reference, but not below 16 characters: order-1 is another message than order-17.
func TestSendVerdictOfACutReference(t *testing.T) {
	t.Parallel()
	const reference = "0f6c2f7e-9b1d-4d0a-8a35-f4b0a3b05f1e"
	for length, verdict := range map[int]messaging.Verdict{15: messaging.Unknown, 16: messaging.Accepted, 20: messaging.Accepted, 36: messaging.Accepted} {
		client, mock := mocked(t)
		mock.RegisterNoResponder(httpmock.NewStringResponder(http.StatusOK, `{"id":"m-1","referenceId":"`+reference[:length]+`"}`))
		_, err := client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: "+639171234567", Text: "Hi", ReferenceID: reference})
		assert.Equal(t, verdict, messaging.VerdictOf(err), "%d: %v", length, err)
	}
}

// A service may echo a reference as it came, or without the spaces around it.
func TestSendVerdictOfAReferenceInSpaces(t *testing.T) {
	t.Parallel()
	for echoed, verdict := range map[string]messaging.Verdict{
		" order-17 \u00a0": messaging.Accepted, "order-17": messaging.Accepted, " order-18 \u00a0": messaging.Unknown,
	} {
		client, mock := mocked(t)
		mock.RegisterNoResponder(httpmock.NewStringResponder(http.StatusOK, `{"id":"m-1","referenceId":"`+echoed+`"}`))
		_, err := client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: "+639171234567", Text: "Hi", ReferenceID: " order-17 \u00a0"})
		assert.Equal(t, verdict, messaging.VerdictOf(err), "%q: %v", echoed, err)
	}
}

// A cache that keys POSTs by path, or a server that responds twice, returns the response of another message.
func TestSendVerdictOfAnotherReference(t *testing.T) {
	t.Parallel()
	for reference, isOfMessage := range map[string]bool{
		`"order-17"`: true, `"ORDER-17"`: true, `" order-17 "`: true, `"order-1"`: false, `"order"`: false, `""`: true, `null`: true, `"None"`: true,
		`"order-18"`: false, `"order-171"`: false, `"x-order-17"`: false, `17`: false, `"rder-17"`: false,
	} {
		for status, verdict := range map[int]messaging.Verdict{200: messaging.Accepted, 400: messaging.Refused, 429: messaging.Refused} {
			body := `{"referenceId":` + reference + `}`
			if status == 200 {
				body = `{"id":"m-1","referenceId":` + reference + `}`
			}
			if !isOfMessage {
				verdict = messaging.Unknown
			}
			e, _ := sendGetting(t, `{}`, status, nil, body, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
			assert.Equal(t, verdict, verdictOf(e), "%d %s: %v", status, body, e)
			if !isOfMessage {
				assert.ErrorContains(t, e, "reference ID of another message")
				assert.ErrorContains(t, e, "set response.reference to []")
			}
			e, _ = sendGetting(t, `{"sms.send":{"response":{"reference":[]}}}`, status, nil, body, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
			assert.Equal(t, status == 200, e == nil, "the references are the service's own")
		}
	}
	for body, isOfMessage := range map[string]bool{
		`{"messages":[{"id":"m-1","referenceId":"order-17"}]}`:                              true,
		`{"messages":[{"id":"m-1","referenceId":"order-18"}]}`:                              false,
		`{"messages":[{"id":"m-1","referenceId":17}]}`:                                      false,
		`{"messages":[{"id":"m-1","referenceId":" "}]}`:                                     true,
		`{"messages":[{"id":"m-1","referenceId":null}]}`:                                    true,
		`{"messages":[{"id":"m-1","referenceId":{"own":"order-18"}}]}`:                      true,
		`{"messages":[{"id":"m-1","referenceId":["order-18"]}]}`:                            true,
		`{"messages":[{"id":"m-1"},{"id":"m-2","referenceId":"order-18"}]}`:                 false,
		`{"message":{"transactionId":"m-1","referenceId":"ORDER-17"}}`:                      true,
		`{"message":{"transactionId":"m-1","referenceId":"order-18"}}`:                      false,
		`{"message":{"referenceId":"order-18"},"id":"m-1"}`:                                 true,
		`{"data":{"message":{"referenceId":"order-18"},"id":"m-1"}}`:                        true,
		`{"id":"m-1","referenceId":"order-17","data":{"referenceId":"order-17"}}`:           true,
		`{"id":"m-1","referenceId":"order-18","data":{"referenceId":"order-17"}}`:           false,
		`{"id":"m-1","referenceId":"order-17","data":{"referenceId":"order-18"}}`:           false,
		`{"message":{"transactionId":"m-1","referenceId":"order-18"},"referenceId":"None"}`: false,
	} {
		e, _ := sendGetting(t, `{}`, http.StatusOK, nil, body)
		assert.Equal(t, isOfMessage, e == nil, "%s: %v", body, e)
		assert.True(t, e == nil || e.Verdict == messaging.Unknown && strings.Contains(e.Error(), "reference ID of another message"), "%s: %v", body, e)
		e, _ = sendGetting(t, `{"sms.send":{"response":{"reference":[]}}}`, http.StatusOK, nil, body)
		assert.Nil(t, e, "%s: the references are the service's own", body)
	}
	const renamed = `{"sms.send":{"response":{"id":["result.messages.0.messageId"],"reference":["result.messages.0.client.ref"]}}}`
	e, _ := sendGetting(t, renamed, http.StatusOK, nil, `{"result":{"messages":[{"messageId":"m-1","client":{"ref":"order-17"}}]}}`)
	assert.Nil(t, e)
	const theID = `{"sms.send":{"response":{"id":["messages.0.id","id"],"reference":["messages.0.id","id"]}}}`
	e, _ = sendGetting(t, theID, http.StatusOK, nil, `{"messages":[{"id":"order-17"}]}`)
	assert.Nil(t, e, "the reference is the ID")
	client, mock := mocked(t)
	responding(mock, http.StatusOK, `{"id":"m-1","referenceId":"its-own"}`)
	m := message
	m.ReferenceID = ""
	_, err := client.SMS.Send(t.Context(), m)
	require.NoError(t, err, "the message has none")
}

func TestSendVerdictOfWhatIsNoID(t *testing.T) {
	t.Parallel()
	const states = `{"sms.send":{"refused":["NO_ROUTE","DENIED*"]},"errors":{"classes":{"invalid":["BAD_*","17"]}}}`
	const acceptedByID = `{"sms.send":{"response":{"id":["id"],"status":["id"]},"accepted":["DONE","https://*"]}}`
	for _, tt := range []struct {
		overlay, id string
		isID        bool
	}{
		{`{}`, `"Error: no credit"`, false},
		{`{}`, `"m 1"`, false},
		{`{}`, `"m\n1"`, false},
		{`{}`, `"m\u00001"`, false},
		{`{}`, `"\ud800"`, false},
		{`{}`, "\"m\xff\"", false},
		{`{}`, `"` + strings.Repeat("é", 256) + `"`, true},
		{`{}`, `"` + strings.Repeat("m", 257) + `"`, false},
		{`{}`, `"failed"`, false},
		{`{}`, `"Expired"`, false},
		{`{}`, `" REJECTED "`, false},
		{states, `"no_route"`, false},
		{states, `"denied-17"`, false},
		{states, `"BAD_SENDER"`, false},
		{states, `17`, true},
		{acceptedByID, `"done"`, false},
		{acceptedByID, `"https://api.example.com/m-1"`, true},
		{`{}`, `200150`, true},
		{`{}`, `"200101"`, true},
		{`{}`, `" m-1 "`, true},
		{`{}`, `"rejected-1"`, true},
	} {
		e, _ := sendGetting(t, tt.overlay, http.StatusOK, nil, `{"id":`+tt.id+`}`)
		assert.Equal(t, tt.isID, e == nil, "%s: %v", tt.id, e)
		assert.True(t, e == nil || e.Verdict == messaging.Unknown && e.MessageID == "", tt.id)
	}
	client, mock := mocked(t)
	responding(mock, http.StatusOK, `{"id":" m-1\n"}`)
	receipt, err := client.SMS.Send(t.Context(), message)
	require.NoError(t, err)
	assert.Equal(t, "m-1", receipt.ID, "without the white space around it")
	e, _ := sendGetting(t, `{}`, http.StatusOK, nil, `{"status":"ok","requestId":"r-1"}`)
	require.EqualError(t, e, "messaging: sms.send has an unknown outcome: HTTP 200, "+
		"the response names no message at any path of the contract (response.id), \"{\\\"status\\\":\\\"ok\\\",\\\"requestId\\\":\\\"r-1\\\"}\", request r-1")
}

// One request sends one message: a response that names several, or another, proves nothing.
func TestSendVerdictOfSeveralMessages(t *testing.T) {
	t.Parallel()
	const byName = `{"sms.send":{"accepted":["PENDING_*"]},"errors":{"code":["messages.0.status.name","messages.0.status.code"],"success":["PENDING_*"]}}`
	for _, tt := range []struct {
		overlay, body string
		accepted      bool
	}{
		{`{}`, `{"messages":[{"id":"m-1"},{"id":"m-2"}]}`, true},
		{`{}`, `{"messages":[{"id":"m-1","to":"639171234567","referenceId":"order-17"},{"id":"m-2","to":"+63 917 123 4567"}]}`, true},
		{`{}`, `{"messages":[{"id":"m-1"},{"id":"m-2","to":"63917***4567"}]}`, true},
		{`{}`, `{"messages":[{"id":"m-1"},{"id":"m-2","to":"639180000000"}]}`, false},
		{`{}`, `{"messages":[{"id":"m-1"},{"id":"m-2","code":"200101"}]}`, false},
		{`{}`, `{"messages":[{"id":"m-1"},{"id":"m-2","error":{"text":"no route"}}]}`, false},
		{`{}`, `{"messages":[{"id":"m-1"},{"id":"m-2","status":"failed"}]}`, false},
		{`{}`, `{"messages":[{"id":"m-1"},{}]}`, false},
		{`{}`, `{"messages":[{"id":"m-1"},null]}`, false},
		{`{}`, `{"messages":[{"id":"m-1"},{"id":"m-2"},{"id":"m-3","referenceId":"order-18"}]}`, false},
		{`{}`, `{"messages":[{"code":"200101"},{"id":"m-2"}]}`, false},
		{`{}`, `{"messages":[` + strings.Repeat(`{"id":"m"},`, 255) + `{"id":"m"}]}`, false},
		{`{}`, `{"id":"m-1","messages":["a warning","another"]}`, true},
		{`{}`, `{"id":"m-1","to":"639171234567"}`, true},
		{`{}`, `{"id":"m-1","to":639171234567}`, true},
		{`{}`, `{"id":"m-1","to":"XXXXXXXX4567"}`, true},
		{`{}`, `{"id":"m-1","to":{"number":"639180000000"}}`, true},
		{`{}`, `{"id":"m-1","to":"639180000000"}`, false},
		{`{}`, `{"data":{"id":"m-1","to":"639180000000"}}`, false},
		{`{}`, `{"id":"m-1","to":"tel:+639180000000"}`, false},
		{`{}`, `{"data":{"id":"m-1","transactionId":"m-1"}}`, true},
		{`{}`, `{"data":{"id":"m-1","transactionId":"m-2"}}`, false},
		{`{"sms.send":{"response":{"id":["data.id"]}}}`, `{"data":{"id":"m-1","transactionId":"m-2"}}`, true},
		{byName, `{"messages":[{"id":"m-1","status":{"groupId":1,"name":"PENDING_ENROUTE"}}]}`, true},
		{byName, `{"messages":[{"id":"m-1","status":{"groupId":1}}]}`, false},
	} {
		e, calls := sendGetting(t, tt.overlay, http.StatusOK, nil, tt.body)
		assert.Equal(t, tt.accepted, e == nil, "%s: %v", tt.body, e)
		assert.True(t, e == nil || e.Verdict == messaging.Unknown, "%s: %v", tt.body, e)
		assert.Equal(t, 1, calls, tt.body)
		e, calls = sendGetting(t, tt.overlay, http.StatusPartialContent, nil, tt.body)
		assert.Equal(t, messaging.Unknown, verdictOf(e), tt.body)
		assert.ErrorContains(t, e, "HTTP 206, the response is partial", tt.body)
		assert.Equal(t, 1, calls, tt.body)
	}
	e, _ := sendGetting(t, `{}`, http.StatusOK, nil, `{"data":{"id":"m-1","transactionId":"m-2"}}`)
	require.ErrorContains(t, e, `the response has different IDs at data.id and data.transactionId; say which names the message, such as `+
		`"sms.send": {"response": {"id": ["data.id"]}}`)
	e, calls := sendGetting(t, `{}`, http.StatusTooManyRequests, nil, `{"code":"40002","messages":[{"id":"m-1"},{"code":"40002"}]}`)
	assert.Equal(t, messaging.Unknown, verdictOf(e))
	assert.Equal(t, 1, calls)
	e, _ = sendGetting(t, `{}`, http.StatusBadRequest, nil, `{"code":"200150","messages":["To is invalid","From is missing"]}`)
	assert.Equal(t, messaging.Refused, verdictOf(e), "they are texts")
}

// A cache that responds to a send has not sent it.
func TestSendVerdictOfACachedResponse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		header, value string
		unknown       bool
	}{
		{"Age", "0", false},
		{"Age", "2", false},
		{"Age", "3", true},
		{"Age", "2147483648", true}, // what a cache sends for all greater ages
		{"Age", "99999999999999999999", true},
		{"Age", "x", false},
		{"X-Cache", "Hit from edge", false},              // of another kind of cache, or of another hop
		{"Date", "Mon, 02 Jan 2006 15:04:05 GMT", false}, // clocks differ
	} {
		for status, body := range map[int]string{
			http.StatusOK: `{"id":"m-1"}`, http.StatusBadRequest: `{"code":"200150"}`, http.StatusTooManyRequests: `{"code":"40002"}`,
			http.StatusUnauthorized: `{"code":"40001"}`,
		} {
			e, calls := sendGetting(t, `{}`, status, http.Header{tt.header: {tt.value}}, body, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 2, MinWait: time.Nanosecond}))
			assert.Equal(t, tt.unknown, verdictOf(e) == messaging.Unknown, "%s: %s, HTTP %d: %v", tt.header, tt.value, status, e)
			if tt.unknown {
				assert.Equal(t, 1, calls, "it is not repeated")
				assert.ErrorContains(t, e, "so it came from a cache (Age)")
			}
		}
	}
}

func TestSendVerdictOfAText(t *testing.T) {
	t.Parallel()
	const textService = `{"sms.send":{"response":{"id":[],"status":[""]},"accepted":["0: Accepted*","3: Queued*"],"refused":["Sender missing*"]},
		"errors":{"code":["","code"],"message":[""],"classes":{"unauthorized":["Authorization failed*"]},"success":["OK"]}}`
	for _, tt := range []struct {
		status  int
		body    string
		verdict messaging.Verdict
		class   error
	}{
		{202, "0: Accepted for delivery", messaging.Accepted, nil},
		{202, "3: Queued for later delivery\r\n", messaging.Accepted, nil},
		{200, "Sender missing and no global set, rejected", messaging.Refused, nil},
		{403, "Authorization failed for sendsms", messaging.Refused, messaging.ErrUnauthorized},
		{400, "Sender missing and no global set, rejected", messaging.Refused, messaging.ErrInvalid},
		{503, "Authorization failed for sendsms", messaging.Unknown, messaging.ErrUnauthorized},
		{400, "0: Accepted for delivery", messaging.Unknown, messaging.ErrInvalid},
		{429, "0: Accepted for delivery", messaging.Unknown, messaging.ErrRateLimited},
		{200, "OK", messaging.Unknown, nil},
		{200, "<html>0: Accepted</html>", messaging.Unknown, nil},
		{400, "<html>Authorization failed</html>", messaging.Unknown, messaging.ErrInvalid},
		{202, "0: Accepted" + strings.Repeat(" ", 5000) + ".", messaging.Unknown, nil},
		{202, "0: Accepted \xff", messaging.Unknown, nil},
		{202, "", messaging.Unknown, nil},
		{400, `{"code":"Authorization failed"}`, messaging.Refused, messaging.ErrUnauthorized},
		{200, `{"id":"m-1"}`, messaging.Unknown, nil},
		{200, `"0: Accepted for delivery"`, messaging.Accepted, nil},
	} {
		e, requests := sendGetting(t, textService, tt.status, nil, tt.body)
		assert.Equal(t, tt.verdict, verdictOf(e), "%d %.60s: %v", tt.status, tt.body, e)
		assert.Equal(t, 1, requests, tt.body)
		for _, class := range classes {
			assert.Equal(t, class == tt.class, e != nil && e.Is(class), "%.60s: %v", tt.body, class)
		}
	}
	e, _ := sendGetting(t, textService, http.StatusForbidden, nil, "Authorization failed for sendsms")
	assert.Equal(t, "Authorization failed for sendsms", e.Code)
	assert.Equal(t, "Authorization failed for sendsms", e.Message)
}

func TestSendVerdictWithoutIDs(t *testing.T) {
	t.Parallel()
	const overlay = `{"sms.send":{"response":{"id":[],"status":["result.state"]},"refused":["DENIED"]}}`
	for body, verdict := range map[string]messaging.Verdict{
		`{"result":{"state":"queued"}}`: messaging.Accepted, `{"result":{"state":"DENIED"}}`: messaging.Refused,
		`{"result":{"state":"odd"}}`: messaging.Unknown, `{"result":{}}`: messaging.Unknown, `{"id":"m-1"}`: messaging.Unknown, `{}`: messaging.Unknown,
		`{"result":{"state":"queued","errors":["no"]}}`: messaging.Unknown, `{"success":false,"result":{"state":"queued"}}`: messaging.Unknown,
		`{"code":"40003","result":{"state":"queued"}}`: messaging.Refused,
	} {
		e, _ := sendGetting(t, overlay, http.StatusOK, nil, body)
		assert.Equal(t, verdict, verdictOf(e), "%s: %v", body, e)
	}
	e, requests := sendGetting(t, overlay, http.StatusTooManyRequests, nil, `{"result":{"state":"queued"}}`)
	assert.Equal(t, messaging.Unknown, verdictOf(e), "it fails, and says that the message was accepted")
	assert.Equal(t, 1, requests)
	names, err := contract.Parse([]byte(overlay))
	require.NoError(t, err)
	client, mock := mocked(t, messaging.WithContract(names))
	responding(mock, http.StatusOK, `{"result":{"state":"queued"},"requestId":"r-1"}`)
	receipt, err := client.SMS.Send(t.Context(), message)
	require.NoError(t, err)
	assert.Empty(t, receipt.ID)
	assert.Equal(t, "order-17", receipt.ReferenceID)
	assert.Equal(t, "r-1", receipt.RequestID)
}

// Without IDs, a word that accepts names a message as an ID does: a refusal with one is neither repeated nor retryable.
func TestRefusalThatAcceptsIsNotRepeated(t *testing.T) {
	t.Parallel()
	const overlay = `{"sms.send":{"response":{"id":[],"status":["result.state","state"]},"refused":["DENIED"]}}`
	for _, tt := range []struct {
		status    int
		body      string
		verdict   messaging.Verdict
		retryable bool
	}{
		{200, `{"code":"40002"}`, messaging.Refused, true},
		{200, `{"code":"40002","result":{"state":"queued"}}`, messaging.Refused, false},
		{200, `{"code":"40002","result":{"state":"odd"}}`, messaging.Refused, true},
		{200, `{"code":"40002","result":{"state":"odd"},"state":"queued"}`, messaging.Refused, false},
		{200, `{"code":"40002","result":{"state":"DENIED"},"state":"queued"}`, messaging.Refused, false},
		{429, `{"code":"40002","result":{"state":"queued"}}`, messaging.Unknown, false},
		{429, `{"state":"queued"}`, messaging.Unknown, false},
		{429, `{"result":{"state":"odd"},"state":"queued"}`, messaging.Unknown, false},
		{429, `{"result":{"state":"DENIED"}}`, messaging.Refused, true},
	} {
		e, requests := sendGetting(t, overlay, tt.status, nil, tt.body)
		assert.Equal(t, tt.verdict, verdictOf(e), "%d %s: %v", tt.status, tt.body, e)
		_, retryable := messaging.Retryable(e)
		assert.Equal(t, tt.retryable, retryable, "%d %s", tt.status, tt.body)
		isRepeated := tt.status == http.StatusTooManyRequests && tt.retryable
		assert.Equal(t, isRepeated, requests > 1, "%d %s: %d requests", tt.status, tt.body, requests)
	}
}

// A service that takes the reference for the ID has to repeat it: another ID is that of another message.
func TestReferenceAsID(t *testing.T) {
	t.Parallel()
	names, err := contract.Parse([]byte(`{
		"sms.send": {"response": {"id": ["messageId"], "reference": ["messageId"]}},
		"sms.list": {"params": {"id": ""}, "record": {"id": ["messageId"], "reference": ["messageId"]}},
		"webhook.delivery": {"params": {"id": ["messageId"], "reference": ["messageId"]}}
	}`))
	require.NoError(t, err)
	for body, verdict := range map[string]messaging.Verdict{
		`{"messageId":"order-17"}`: messaging.Accepted, `{"messageId":"m-1"}`: messaging.Unknown, `{"messageId":null}`: messaging.Unknown, `{}`: messaging.Unknown,
		`{"messageId":"order-17","code":"40003"}`: messaging.Refused,
	} {
		client, mock := mocked(t, messaging.WithContract(names))
		responding(mock, http.StatusOK, body)
		receipt, err := client.SMS.Send(t.Context(), message)
		assert.Equal(t, verdict, messaging.VerdictOf(err), "%s: %v", body, err)
		if err == nil {
			assert.Equal(t, []string{"order-17", "order-17"}, []string{receipt.ID, receipt.ReferenceID})
		}
	}

	srv := messagingtest.NewServer(t, messagingtest.WithContract(names))
	client, err := messaging.NewClient(srv.URL, messaging.WithToken(srv.Token), messaging.WithContract(names),
		messaging.WithSettle(messaging.SettlePolicy{Window: 10 * time.Second, Interval: time.Millisecond}))
	require.NoError(t, err)
	srv.Inject(messagingtest.FaultAcceptThenDrop(), 1)
	receipt, err := client.SMS.SendOnce(t.Context(), message)
	require.NoError(t, err, "it is settled by its reference")
	assert.Equal(t, []string{"order-17", "order-17"}, []string{receipt.ID, receipt.ReferenceID})
	_, err = client.SMS.Send(t.Context(), message)
	require.ErrorIs(t, err, messaging.ErrDuplicate)
	without := message
	without.ReferenceID = ""
	receipt, err = client.SMS.Send(t.Context(), without)
	require.NoError(t, err)
	assert.Equal(t, srv.Sent()[1].ID, receipt.ID)
	assert.NotEmpty(t, receipt.ID)
}

func TestServiceThatSpeaksText(t *testing.T) {
	t.Parallel()
	names, err := contract.Parse([]byte(`{"sms.send":{"response":{"id":[],"status":[""]},"accepted":["0: Accepted*"]},
		"errors":{"code":[""],"classes":{"insufficientBalance":["Low credit*"]}}}`))
	require.NoError(t, err)
	service := messagingtest.NewServer(t, messagingtest.WithContract(names))
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token), messaging.WithContract(names))
	require.NoError(t, err)
	receipt, err := client.SMS.Send(t.Context(), message)
	require.NoError(t, err)
	assert.JSONEq(t, `"0: Accepted"`, string(receipt.Raw))
	assert.Len(t, service.Sent(), 1)
	service.SetBalance("0")
	again := message
	again.ReferenceID = "order-18"
	_, err = client.SMS.Send(t.Context(), again)
	require.ErrorIs(t, err, messaging.ErrInsufficientBalance)
	assert.Equal(t, messaging.Refused, messaging.VerdictOf(err))
}

// A contract may name the codes of a recipient who cannot be reached or has opted out, on every channel.
func TestErrorOfARecipientByCode(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t, overlay(t, `{"errors": {"classes": {"unreachable": ["E17"], "optedOut": ["E18"]}}}`))
	for code, want := range map[string]error{"E17": messaging.ErrUnreachable, "E18": messaging.ErrOptedOut} {
		mock.RegisterNoResponder(httpmock.NewStringResponder(http.StatusBadRequest, `{"code": "`+code+`"}`))
		_, err := client.SMS.Send(t.Context(), hello)
		require.ErrorIs(t, err, want)
		assert.Equal(t, messaging.Refused, messaging.VerdictOf(err))
		assert.NotErrorIs(t, err, messaging.ErrInvalid)
	}
}
