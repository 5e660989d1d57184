package inbox_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/inbox"
	"github.com/messaging-service/messaging-go/webhook"
)

// keyOf returns the duplicate key of an event.
func keyOf(event interface{ DuplicateKey() (string, bool) }) string {
	key, _ := event.DuplicateKey()
	return key
}

func newPublisher(tb testing.TB, c *engine.Connection) *inbox.Publisher {
	tb.Helper()
	p, err := inbox.NewPublisher(tb.Context(), c)
	require.NoError(tb, err)
	return p
}

func TestPublishersStoreEventOnce(t *testing.T) {
	t.Parallel()
	s, c := startEngine(t)
	publishers := []*inbox.Publisher{newPublisher(t, c), newPublisher(t, connect(t, s.URL()))}
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			assert.NoError(t, publishers[i%2].SMS(t.Context(), webhook.SMSMessage{ID: "in-1", From: "1"}))
		})
	}
	wg.Wait()
	assert.Equal(t, 1, stored(t, c))
}

func TestPublisherStoresOnceUnderOneSubject(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	m := webhook.SMSMessage{ID: "in-1", From: "1"}
	_, err := c.JetStream.Publish(t.Context(), c.InboxSubject("sms", keyOf(m)), nil)
	require.NoError(t, err)
	require.NoError(t, newPublisher(t, c).SMS(t.Context(), m))
	assert.Equal(t, 1, stored(t, c))
}

func TestPublisherStoresOnceAfterLostResponse(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]webhook.SMSMessage{
		"with an ID":               {ID: "in-1", From: "1"},
		"with a time":              {From: "1", ReceivedAt: time.Now()},
		"with neither ID nor time": {From: "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, c := startEngine(t)
			lossy := new(lossyEngine)
			p := newPublisher(t, lossy.over(c))
			lossy.responses.Store(1)
			require.NoError(t, p.SMS(t.Context(), m))
			assert.Equal(t, 1, stored(t, c))
			require.NoError(t, p.SMS(t.Context(), m))
			if _, lasting := m.DuplicateKey(); lasting {
				assert.Equal(t, 1, stored(t, c))
			} else {
				assert.Equal(t, 2, stored(t, c), "without a lasting key it can be a new event")
			}
		})
	}
}

// A cluster also reports a conflict while another write is in progress, which may still fail.
func TestPublisherConfirmsConflict(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	attempts := 0
	p := newPublisher(t, (&lossyEngine{before: func() error {
		if attempts++; attempts == 1 {
			return &jetstream.APIError{Code: 400, ErrorCode: jetstream.JSErrCodeStreamWrongLastSequenceConstant}
		}
		return nil
	}}).over(c))
	require.NoError(t, p.SMS(t.Context(), webhook.SMSMessage{ID: "in-1", From: "1"}))
	assert.Equal(t, 2, attempts)
	assert.Equal(t, 1, stored(t, c))
}

func TestPublisherCompletesAfterCallerIsGone(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	ctx, cancel := context.WithCancel(t.Context())
	p, s := newPublisher(t, c), newStore(t, c, long)
	cancel()
	require.NoError(t, s.Once(ctx, "sms.1", func(ctx context.Context) error {
		return p.SMS(ctx, webhook.SMSMessage{ID: "in-1", From: "1"})
	}))
	assert.Equal(t, 1, stored(t, c))
	assertHandled(t, s, "sms.1")
}

func TestPublisherRejectsTooLargeEvent(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	attempts := 0
	p := newPublisher(t, (&lossyEngine{before: func() error { attempts++; return nil }}).over(c))
	err := p.SMS(t.Context(), webhook.SMSMessage{ID: "in-1", From: "1", Text: strings.Repeat("x", 1<<20)})
	require.ErrorIs(t, err, nats.ErrMaxPayload)
	assert.Equal(t, 1, attempts)
}

func TestPublisherStoresLongestQuery(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	text := strings.Repeat("\x00", 1<<16/len("%00")) // the character that grows most in JSON
	m := webhook.SMSMessage{
		ID: "in-1", From: "1", Text: text, Params: webhook.Params{{Name: "message", Value: text}}, RawQuery: strings.Repeat("%00", len(text)),
	}
	require.NoError(t, newPublisher(t, c).SMS(t.Context(), m))
}
