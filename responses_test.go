package messaging_test

import (
	"encoding/json"
	"os"
	"testing"

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
		if assert.Contains(t, []string{response.ID, "1"}, receipt.ID, response.Body) {
			recognized++
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
