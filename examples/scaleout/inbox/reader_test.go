package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/inbox"
	"github.com/messaging-service/messaging-go/webhook"
)

// read reads at least n events, and those that still come before the reader has ended.
func read(tb testing.TB, c *engine.Connection, n int, options inbox.ReadOptions) []inbox.Event {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute)
	defer cancel()
	var events []inbox.Event
	require.NoError(tb, inbox.Read(ctx, c, options, func(_ context.Context, e inbox.Event) error {
		if events = append(events, e); len(events) >= n {
			cancel()
		}
		return nil
	}))
	return events
}

func message(n int) webhook.SMSMessage {
	return webhook.SMSMessage{ID: fmt.Sprint("in-", n), From: "1"}
}

func publish(t *testing.T, c *engine.Connection, n int) {
	t.Helper()
	p := newPublisher(t, c)
	for i := range n {
		require.NoError(t, p.SMS(t.Context(), message(i)))
	}
}

func TestReadPassesAllEventsInOrder(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	publish(t, c, 20)
	for _, name := range []string{"one", "two"} {
		for i, e := range read(t, c, 20, inbox.ReadOptions{Name: name}) {
			assert.Equal(t, keyOf(message(i)), e.Key)
			assert.Equal(t, uint64(i+1), e.Sequence)
		}
	}
}

func TestReadersOfOneNameShareEvents(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	publish(t, c, 100)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	times := make(map[string]int)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			assert.NoError(t, inbox.Read(ctx, c, inbox.ReadOptions{Name: "shared"}, func(_ context.Context, e inbox.Event) error {
				mu.Lock()
				defer mu.Unlock()
				if times[e.Key]++; len(times) == 100 {
					cancel()
				}
				return nil
			}))
		})
	}
	wg.Wait()
	for key, n := range times {
		assert.Equal(t, 1, n, key)
	}
}

func TestReadReturnsPendingEvents(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	publish(t, c, 10)
	options := inbox.ReadOptions{Name: "test", HandleTimeout: long}
	assert.Len(t, read(t, c, 1, options), 1)
	assert.Len(t, read(t, c, 9, options), 9)
}

func TestReadRepeatsFailedEvent(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	publish(t, c, 2)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var keys []string
	require.NoError(t, inbox.Read(ctx, c, inbox.ReadOptions{Name: "test"}, func(_ context.Context, e inbox.Event) error {
		if keys = append(keys, e.Key); len(keys) == 1 {
			return errors.New("not now")
		}
		if len(keys) == 3 {
			cancel()
		}
		return nil
	}))
	assert.Equal(t, []string{keyOf(message(0)), keyOf(message(1)), keyOf(message(0))}, keys)
}

func TestReadSkipsBadDataAndOtherKinds(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	_, err := c.JetStream.Publish(t.Context(), "inbox.delivery.x", []byte("639171234567"))
	require.NoError(t, err)
	publish(t, c, 1)
	require.NoError(t, newPublisher(t, c).Delivery(t.Context(), webhook.DeliveryReport{ID: "out-1", Status: webhook.StatusRead, RawStatus: "seen"}))
	events := read(t, c, 1, inbox.ReadOptions{Name: "test", Kinds: []inbox.Kind{inbox.Delivery, inbox.ChatApp1}})
	require.Len(t, events, 1)
	assert.Equal(t, webhook.StatusRead, events[0].Message.(webhook.DeliveryReport).Status)
	consumer, err := c.JetStream.Consumer(t.Context(), engine.Inbox, "test")
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		info, err := consumer.Info(t.Context())
		return err == nil && info.NumAckPending == 0 && info.NumPending == 0
	}, 10*time.Second, 20*time.Millisecond, "bad data must not come again")
}

func TestReadRejectsBadName(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	assert.ErrorContains(t, inbox.Read(t.Context(), c, inbox.ReadOptions{Name: "a.b"}, nil), "reader a.b")
}
