package faulttest_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// mostTaken sends messages for a time, and returns the largest number of those that were taken from the sequence and had no outcome yet.
func (o *origin) mostTaken(ctx context.Context, client *messaging.Client, concurrency int, length time.Duration) (most int) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	taken := 0
	yielded := 0
	messages := func(yield func(sms.Message) bool) {
		for time.Since(o.began) < length {
			taken++
			most = max(most, taken-yielded)
			if !yield(to(taken, fmt.Sprint("r-", taken))) {
				return
			}
		}
		cancel()
	}
	for range client.SMS.SendAll(ctx, messages, concurrency) {
		yielded++
	}
	return most
}

func TestSendAllTakesNoMoreThanCanWait(t *testing.T) {
	const (
		concurrency = 16
		waiting     = 4096
	)
	synctest.Test(t, func(t *testing.T) {
		o := newOrigin(func(_ time.Duration, m sms.Message) reply {
			var n int
			_, _ = fmt.Sscanf(m.ReferenceID, "r-%d", &n)
			if n%15 == 0 { // single recipients, and not the campaign
				return reply{status: 429, body: `{}`, retryAfter: "60", latency: time.Millisecond}
			}
			return reply{status: 200, body: good().body, latency: time.Millisecond}
		})
		most := o.mostTaken(t.Context(), o.client(t), concurrency, 6*time.Second)
		assert.GreaterOrEqual(t, most, waiting)
		assert.LessOrEqual(t, most, waiting+2*concurrency)
	})
}

func TestSendAllTakesFewMessagesInTrouble(t *testing.T) {
	const concurrency = 16
	synctest.Test(t, func(t *testing.T) {
		o := newOrigin(during(8*time.Second, reply{status: 503, body: `{}`, latency: time.Millisecond}))
		most := o.mostTaken(t.Context(), o.client(t), concurrency, 12*time.Second)
		assert.LessOrEqual(t, most, 3*concurrency)
	})
}
