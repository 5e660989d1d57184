package inbox_test

import (
	"context"
	"encoding/json"
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

func TestReadSelectsKinds(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	publish(t, c, 1)
	require.NoError(t, newPublisher(t, c).Delivery(t.Context(), webhook.DeliveryReport{ID: "out-1", Status: webhook.StatusRead, RawStatus: "seen"}))
	events := read(t, c, 1, inbox.ReadOptions{Name: "test", Kinds: []inbox.Kind{inbox.Delivery, inbox.ChatApp1}})
	require.Len(t, events, 1)
	assert.Equal(t, webhook.StatusRead, events[0].Message.(webhook.DeliveryReport).Status)
}

func TestReadParksEventAfterMaxTries(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	bad, err := c.JetStream.Publish(t.Context(), c.InboxSubject("delivery", "x"), []byte("639171234567")) // or an event of a newer version
	require.NoError(t, err)
	publish(t, c, 1)
	options := inbox.ReadOptions{Name: "test", MaxTries: 2}
	failing := errors.New("not now")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() {
		assert.NoError(t, inbox.Read(ctx, c, options, func(context.Context, inbox.Event) error { return failing }))
	})
	parked, err := c.Bucket(t.Context(), engine.Parked)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		keys, err := parked.Keys(t.Context())
		return err == nil && len(keys) == 2
	}, 30*time.Second, 20*time.Millisecond)
	cancel()
	wg.Wait()
	consumer, err := c.JetStream.Consumer(t.Context(), c.Name(engine.Inbox), c.Name("test"))
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		info, err := consumer.Info(t.Context())
		return err == nil && info.NumAckPending == 0 && info.NumPending == 0
	}, 10*time.Second, 20*time.Millisecond, "a parked event must not come again")
	entry, err := parked.Get(t.Context(), fmt.Sprint("test.", bad.Sequence))
	require.NoError(t, err)
	assert.Equal(t, "639171234567", string(entry.Value()), "the content must be kept")

	left, err := inbox.ReadParked(t.Context(), c, "test", func(context.Context, inbox.Event) error { return failing })
	require.NoError(t, err)
	assert.Equal(t, 2, left)
	var keys []string
	left, err = inbox.ReadParked(t.Context(), c, "test", func(_ context.Context, e inbox.Event) error {
		keys = append(keys, e.Key)
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, 1, left, "bad data stays")
	assert.Equal(t, []string{keyOf(message(0))}, keys)
}

func TestReadPassesHealthyEventsWhileManyFail(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	const failing, healthy = 1200, 50
	for n := range failing + healthy {
		data, err := json.Marshal(inbox.Event{Kind: inbox.SMS, Key: fmt.Sprint(n), Message: message(n)})
		require.NoError(t, err)
		_, err = c.JetStream.PublishAsync(c.InboxSubject("sms", fmt.Sprint(n)), data)
		require.NoError(t, err)
		if n%500 == 0 {
			<-c.JetStream.PublishAsyncComplete()
		}
	}
	<-c.JetStream.PublishAsyncComplete()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	handled := map[string]bool{}
	require.NoError(t, inbox.Read(ctx, c, inbox.ReadOptions{Name: "test"}, func(_ context.Context, e inbox.Event) error {
		if e.Sequence <= failing {
			return errors.New("not now")
		}
		if handled[e.Key] = true; len(handled) == healthy {
			cancel()
		}
		return nil
	}))
	assert.Len(t, handled, healthy, "failing events kept the reader from others")
}

func TestReadRejectsBadName(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	assert.ErrorContains(t, inbox.Read(t.Context(), c, inbox.ReadOptions{Name: "a.b"}, nil), "reader a.b")
}
