package faulttest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// Two accounts at two services that fail at random: no message is at both, and what was accepted is at one.
func TestFirstAcceptedSendsNothingTwice(t *testing.T) {
	const messages, senders = 10_000, 64
	seed := rand.Uint64()
	services, clients := make([]*messagingtest.Server, 2), make([]*messaging.Client, 2)
	for i := range services {
		services[i] = messagingtest.NewServer(t)
		services[i].InjectRandomly(seed+uint64(i), faulty, soakFaults()...)
		client, err := messaging.NewClient(services[i].URL, messaging.WithToken(services[i].Token), messaging.WithTimeout(hasty),
			messaging.WithBreaker(messaging.BreakerPolicy{Off: true}),
			messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 2, MinWait: time.Millisecond, MaxWait: 2 * time.Millisecond}))
		require.NoError(t, err)
		clients[i] = client
	}
	var mu sync.Mutex
	verdicts := map[string]messaging.Verdict{}
	numbers := make(chan int)
	var running sync.WaitGroup
	for range senders {
		running.Go(func() {
			for n := range numbers {
				reference := fmt.Sprint("order-", n)
				through := func(client *messaging.Client) func(context.Context) (messaging.Receipt, error) {
					return func(ctx context.Context) (messaging.Receipt, error) {
						return client.SMS.Send(ctx, sms.Message{From: "ACME", To: "+639171234567", Text: "Hi", ReferenceID: reference})
					}
				}
				_, err := messaging.FirstAccepted(t.Context(), through(clients[0]), through(clients[1]))
				mu.Lock()
				verdicts[reference] = messaging.VerdictOf(err)
				mu.Unlock()
			}
		})
	}
	for n := range messages {
		switch n {
		case messages / 3:
			services[0].RefuseConnections(true)
		case messages / 2:
			services[0].RefuseConnections(false)
		}
		numbers <- n
	}
	close(numbers)
	running.Wait()

	arrived := map[string]int{}
	for _, service := range services {
		assert.Greater(t, len(service.Sent()), messages/10, "a service that got little shows little")
		for _, sent := range service.Sent() {
			arrived[sent.ReferenceID]++
		}
	}
	counts := map[messaging.Verdict]int{}
	for reference, verdict := range verdicts {
		counts[verdict]++
		assert.LessOrEqual(t, arrived[reference], 1, "%s, seed %d", reference, seed)
		switch verdict {
		case messaging.Accepted:
			assert.Equal(t, 1, arrived[reference], "%s is accepted, seed %d", reference, seed)
		case messaging.Refused, messaging.NotSent:
			assert.Zero(t, arrived[reference], "%s is %v, seed %d", reference, verdict, seed)
		case messaging.Unknown: // it may be there
		}
	}
	assert.Len(t, verdicts, messages)
	for _, verdict := range []messaging.Verdict{messaging.Accepted, messaging.Refused, messaging.Unknown} {
		assert.Positive(t, counts[verdict], "no message was %v: too little is shown", verdict)
	}
	t.Logf("seed %d: %v", seed, counts)
}
