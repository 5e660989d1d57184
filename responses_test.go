package messaging_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// documented are responses after the documentation of public services of this kind, and responses that mislead.
type documented struct {
	Accepted []struct {
		Status int
		Body   string
		ID     string
		To     string
	}
	Refused []struct {
		Kind   string
		Status int
		Body   string
	}
	Misleading []struct {
		Never  string
		Label  string
		Status int
		Body   string
	}
}

func documentedResponses(t *testing.T) (all documented) {
	t.Helper()
	raw, err := os.ReadFile("testdata/responses.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &all))
	return all
}

// sendTo sends a message whose response is documented, by the default contract.
func sendTo(t *testing.T, to string, status int, body string, options ...messaging.Option) (messaging.Receipt, error) {
	t.Helper()
	client, mock := mocked(t, append(options, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))...)
	responding(mock, status, body)
	return client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: to, Text: "Hi", ReferenceID: "order-17"})
}

// Without a contract of its own, an ordinary service is understood.
func TestSendUnderstandsOrdinaryResponses(t *testing.T) {
	t.Parallel()
	all := documentedResponses(t)
	recognized := 0
	for _, response := range all.Accepted {
		receipt, err := sendTo(t, response.To, response.Status, response.Body)
		if err != nil {
			assert.Equal(t, messaging.Unknown, messaging.VerdictOf(err), response.Body)
			t.Logf("unknown: %s", response.Body)
			continue
		}
		if receipt.ID == response.ID {
			recognized++
		} else {
			assert.Equal(t, "1", receipt.ID, "the default path id, with another member: %s", response.Body)
		}
	}
	assert.GreaterOrEqual(t, recognized, 14, "of %d accepted sends", len(all.Accepted))

	refused, refusals := 0, 0
	for _, response := range all.Refused {
		_, err := sendTo(t, "+639171234567", response.Status, response.Body)
		require.Error(t, err, response.Body)
		if response.Status < 400 {
			continue
		}
		refusals++
		if messaging.VerdictOf(err) == messaging.Refused {
			refused++
		} else {
			t.Logf("unknown: %d %s", response.Status, response.Body)
		}
	}
	assert.GreaterOrEqual(t, refused, 50, "of %d refusals with 4xx", refusals)
	t.Logf("%d of %d accepted, %d of %d refused", recognized, len(all.Accepted), refused, refusals)
}

// A message ID that is found by its name is said once, with the line for the contract.
func TestSendLogsWhereItFoundAnID(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&out, nil))
	client, mock := mocked(t, messaging.WithLogger(logger))
	responding(mock, http.StatusOK, `{"messages":[{"messageId":"abc-1","to":"639171234567"}]}`)
	for range 3 {
		receipt, err := client.SMS.Send(t.Context(), message)
		require.NoError(t, err)
		assert.Equal(t, "abc-1", receipt.ID)
	}
	assert.Equal(t, 1, strings.Count(out.String(), "found by its name"), out.String())
	assert.Contains(t, out.String(), `{\"sms.send\": {\"response\": {\"id\": [\"messages.0.messageId\"]}}}`)
	assert.NotContains(t, out.String(), "639171234567")
}

// A service may name the member that holds the ID after the recipient.
func TestSendLogsNoPathWithANumber(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"+639171234567", "639171234567", "63 917 123 4567"} {
		var out bytes.Buffer
		logger := slog.New(slog.NewJSONHandler(&out, nil))
		client, mock := mocked(t, messaging.WithLogger(logger))
		responding(mock, http.StatusOK, `{"results":{"`+name+`":{"messageId":"abc-1"}}}`)
		receipt, err := client.SMS.Send(t.Context(), message)
		require.NoError(t, err)
		assert.Equal(t, "abc-1", receipt.ID)
		assert.Empty(t, out.String(), name)
	}
}

// Such a service has a path for each recipient. The many are accepted like the first.
func TestSendFindsTheIDUnderEachRecipient(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t)
	for n := range 40 {
		m := message
		m.To = fmt.Sprintf("+6391712345%02d", n)
		responding(mock, http.StatusOK, `{"status":"OK","sms":{"`+m.To+`":{"status":"OK","sms_id":"abc-1"}}}`)
		receipt, err := client.SMS.Send(t.Context(), m)
		require.NoError(t, err, m.To)
		assert.Equal(t, "abc-1", receipt.ID)
	}
}

// Services whose responses no contract describes are the first that most programs meet.
func TestSendAllWithOrdinaryResponses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status  int
		body    string
		verdict messaging.Verdict
	}{
		{http.StatusOK, `{"messageId":"abc-%d"}`, messaging.Accepted},
		{http.StatusCreated, `{"sid":"SM%d","status":"queued"}`, messaging.Accepted},
	} {
		client, mock := mocked(t)
		var sent atomic.Int64
		mock.RegisterResponder(http.MethodPost, `=~/sms/send`, func(*http.Request) (*http.Response, error) {
			return httpmock.NewStringResponse(tt.status, fmt.Sprintf(tt.body, sent.Add(1))), nil
		})
		messages := func(yield func(sms.Message) bool) {
			for i := range 200 {
				if !yield(sms.Message{From: "ACME", To: fmt.Sprintf("+63917%07d", i), Text: "Hi"}) {
					return
				}
			}
		}
		outcomes := 0
		for outcome := range client.SMS.SendAll(t.Context(), messages, 8) {
			outcomes++
			assert.Equal(t, tt.verdict, messaging.VerdictOf(outcome.Err), "%s: %v", tt.body, outcome.Err)
		}
		assert.Equal(t, 200, outcomes)
	}
	for _, body := range []string{`{"error":"forbidden"}`, `{"err":{"msg":"forbidden"}}`} {
		_, err := sendTo(t, "+639171234567", http.StatusForbidden, body)
		require.EqualError(t, err, `messaging: sms.send refused: HTTP 403, forbidden, "forbidden"`)
	}
}

func TestSendFindsAnIDByItsName(t *testing.T) {
	t.Parallel()
	for body, id := range map[string]string{
		`{"messageId":"m1"}`:                                         "m1",
		`{"Message-ID":"m1"}`:                                        "m1",
		`{"result":{"sms_uuid":"m1"}}`:                               "m1",
		`{"apiMessageId":17}`:                                        "17",
		`{"idMessage":"m1","text_token":"m1"}`:                       "m1",
		`{"messages":[{"message_id":"m1"},{"message_id":"m2"}]}`:     "m1",
		`{"SMSMessage":{"Sid":"m1","Status":"queued"}}`:              "m1",
		`{"uuid":"m1","to":"+63 917 123 4567"}`:                      "m1",
		`{"messageId":"m1","code":0,"errors":[],"status":"pending"}`: "m1",
		`{"messageId":"m1","requestId":"r1","account_sid":"AC1"}`:    "m1",
		`{"messageId":"m1","id":null}`:                               "m1",
		`{"messageId":"m1","smsId":"m2"}`:                            "",
		`{"messageId":"m1","id":{"x":1}}`:                            "",
		`{"messageId":"639171234567"}`:                               "",
		`{"messageId":"m1","error":"no credit"}`:                     "",
		`{"messageId":"m1","state":"failed"}`:                        "",
		`{"messageId":"m1","status":"new"}`:                          "",
		`{"messageId":"m1","code":17}`:                               "",
		`{"messages":[{"message_id":"m1"},{"message_id":null}]}`:     "",
		`{"uuid":"m1"}`:                                              "",
		`{"sid":"m1","status":"rejected"}`:                           "",
		`{"account":{"sid":"AC1","status":"ok"}}`:                    "",
		`{"batch":{"uuid":"b1","status":"accepted"}}`:                "",
		`{"error":{"messageId":"SVC1"}}`:                             "",
		`{"requestId":"r1","batchId":"b1","sessionId":"s1"}`:         "",
		`{"a.b":{"messageId":"m1"}}`:                                 "",
	} {
		receipt, err := sendTo(t, "+639171234567", http.StatusOK, body)
		assert.Equal(t, id, receipt.ID, "%s: %v", body, err)
	}
	const named = `{"sms.send":{"response":{"id":["data.id"]}}}`
	_, err := sendTo(t, "+639171234567", http.StatusOK, `{"messageId":"m1"}`, overlay(t, named))
	require.ErrorIs(t, err, messaging.ErrOutcomeUnknown, "the overlay says where the ID is")
}

func TestSendIsNotMisled(t *testing.T) {
	t.Parallel()
	for _, response := range documentedResponses(t).Misleading {
		_, err := sendTo(t, "+639171234567", response.Status, response.Body)
		verdict := messaging.VerdictOf(err)
		if response.Never == "accepted" || response.Never == "both" {
			assert.NotEqual(t, messaging.Accepted, verdict, "%s: %s", response.Label, response.Body)
		}
		if response.Never == "refused" || response.Never == "both" {
			assert.NotEqual(t, messaging.Refused, verdict, "%s: %d %s", response.Label, response.Status, response.Body)
		}
	}
}
