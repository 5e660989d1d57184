package faulttest_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

func TestSendAllNeverRepeatsWhatMayHaveGoneOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrigin(func(time.Duration, sms.Message) reply {
			return reply{status: 503, body: `{}`, latency: time.Millisecond}
		})
		for out := range o.client(t).SMS.SendAll(t.Context(), slices.Values([]sms.Message{to(1, "r-1")}), 1) {
			require.ErrorIs(t, out.Err, messaging.ErrOutcomeUnknown)
		}
		assert.Equal(t, 1, o.count())
	})
}

// calls counts the steps of calls.
type calls struct{ began, ended atomic.Int64 }

func (c *calls) StartStep(ctx context.Context, step messaging.Step) context.Context {
	if step.Kind == messaging.StepCall {
		c.began.Add(1)
	}
	return ctx
}

func (c *calls) EndStep(_ context.Context, step messaging.Step, _ messaging.StepResult) {
	if step.Kind == messaging.StepCall {
		c.ended.Add(1)
	}
}

func TestMessageOfSendAllIsOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var observed calls
		o := newOrigin(func(since time.Duration, _ sms.Message) reply {
			if since < time.Second {
				return reply{status: 429, body: `{}`, retryAfter: "1", latency: time.Millisecond}
			}
			return good()
		})
		client := o.client(t, messaging.WithObserver(&observed))
		for out := range client.SMS.SendAll(t.Context(), slices.Values([]sms.Message{to(1, "r-1")}), 1) {
			require.NoError(t, out.Err)
			assert.Equal(t, 2, out.Receipt.Attempts)
		}
		assert.EqualValues(t, 1, observed.began.Load())
		assert.EqualValues(t, 1, observed.ended.Load())
	})
}

func TestSendAllGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrigin(func(time.Duration, sms.Message) reply {
			return reply{status: 503, body: `{}`, latency: time.Millisecond}
		})
		client := o.client(t, messaging.WithBreaker(messaging.BreakerPolicy{GiveUp: time.Minute}))
		var c accounts
		messages := make([]sms.Message, 100)
		for i := range messages {
			messages[i] = to(i, fmt.Sprint("r-", i))
		}
		for out := range client.SMS.SendAll(t.Context(), slices.Values(messages), 4) {
			c.add(t, out.Message.ReferenceID, out.Err)
		}
		assert.Greater(t, time.Since(o.began), 50*time.Second)
		assert.Less(t, time.Since(o.began), 2*time.Minute)
		assert.Greater(t, c.notSent.Load(), int64(50))
	})
}
