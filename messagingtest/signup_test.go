package messagingtest_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// docs/testing.md shows this test in Go, Python and Node.

// signUp is the program under test.
func signUp(ctx context.Context, client *messaging.Client, number string) error {
	_, err := client.SMS.Send(ctx, sms.Message{From: "ACME", To: number, Text: "Your code is 482913"})
	return err
}

func TestSignUp(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()

	// The code arrives.
	require.NoError(t, signUp(ctx, client, "+639171234567"))
	sent, err := service.WaitFor(ctx, "+639171234567")
	require.NoError(t, err)
	assert.Equal(t, "482913", sent.Code())

	// A response is lost, although the message went out.
	service.Inject(messagingtest.FaultAcceptThenDrop(), 1)
	err = signUp(ctx, client, "+639180001111")
	assert.Equal(t, messaging.Unknown, messaging.VerdictOf(err))
	_, err = service.WaitFor(ctx, "+639180001111")
	assert.NoError(t, err)
}
