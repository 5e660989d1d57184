package messaging_test

import (
	"encoding/json"
	"os"
	"testing"

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

// sendTo sends a message that gets a response, with an overlay.
func sendTo(t *testing.T, to, wire string, status int, body string) error {
	t.Helper()
	client, mock := mocked(t, overlay(t, wire), messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
	responding(mock, status, body)
	_, err := client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: to, Text: "Hi", ReferenceID: "r-1"})
	return err
}
