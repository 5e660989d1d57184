package messagingtest_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/internal/channeltest"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// TestVerdictOfEachFault holds the table in the package's documentation: what is in the ledger, and what the client concludes.
func TestVerdictOfEachFault(t *testing.T) {
	t.Parallel()
	const page = "<!DOCTYPE html>\n<h1>Oops</h1>\n"
	for _, tt := range []struct {
		fault   messagingtest.Fault
		sent    int
		verdict messaging.Verdict
	}{
		{messagingtest.Fault{}, 1, messaging.Accepted},
		{messagingtest.FaultAcceptThenDrop(), 1, messaging.Unknown},
		{messagingtest.FaultDropUnread(), 0, messaging.Unknown},
		{messagingtest.FaultSlow(time.Minute), 1, messaging.Unknown},
		{messagingtest.FaultSilence(), 0, messaging.Unknown},
		{messagingtest.FaultStatus(400, 0), 0, messaging.Refused},
		{messagingtest.FaultStatus(503, 0), 0, messaging.Unknown},
		{messagingtest.FaultStatusAfter(500, ""), 1, messaging.Unknown},
		{messagingtest.FaultStatusAfter(502, page), 1, messaging.Unknown},
		{messagingtest.FaultStatusAfter(403, page), 1, messaging.Unknown},
		{messagingtest.FaultStatusAfter(400, page), 1, messaging.Unknown},
		{messagingtest.FaultStatusAfter(429, page), 1, messaging.Unknown},
		{messagingtest.FaultStatusAfter(200, page), 1, messaging.Unknown},
		{messagingtest.FaultStatusAfter(400, `{"code":"40003","message":"no"}`), 1, messaging.Refused},
		{messagingtest.FaultPage(401), 0, messaging.Unknown},
		{messagingtest.FaultPage(404), 0, messaging.Unknown},
		{messagingtest.FaultPage(413), 0, messaging.Refused},
		{messagingtest.FaultPage(502), 0, messaging.Unknown},
		{messagingtest.FaultTruncated(), 1, messaging.Unknown},
		{messagingtest.FaultNotJSON(), 1, messaging.Unknown},
		{messagingtest.FaultAnotherResponse(), 1, messaging.Unknown},
		{messagingtest.FaultProcessTwice(), 2, messaging.Accepted},
	} {
		for _, channel := range channeltest.Channels() {
			t.Run(fmt.Sprintf("%v, %s", tt.fault, channel.Name), func(t *testing.T) {
				t.Parallel()
				srv := messagingtest.NewServer(t)
				srv.Inject(tt.fault, 1)
				client := clientOf(t, srv, messaging.WithTimeout(3*time.Second))
				_, err := channel.Send(t.Context(), client, "+639171234567", "Hi", "order-17")
				want := tt.verdict
				if tt.fault == messagingtest.FaultAnotherResponse() && channel.Name == "chatapp2" {
					want = messaging.Accepted // the platform's response has no reference ID
				}
				assert.Equal(t, want, messaging.VerdictOf(err), "%v", err)
				assert.Len(t, srv.Sent(), tt.sent)
				for _, m := range srv.Sent() {
					assert.Equal(t, "order-17", m.ReferenceID)
				}
				assert.Equal(t, 1, srv.Requests())
			})
		}
	}
}

func clientOf(t *testing.T, srv *messagingtest.Server, options ...messaging.Option) *messaging.Client {
	t.Helper()
	client, err := messaging.NewClient(srv.URL, append([]messaging.Option{messaging.WithToken(srv.Token)}, options...)...)
	require.NoError(t, err)
	return client
}

// The second of two requests is refused, if the server refuses duplicates, although the message is in the ledger.
func TestProcessTwiceOfADuplicate(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	srv.RefuseDuplicates(true)
	srv.Inject(messagingtest.FaultProcessTwice(), 1)
	_, err := channeltest.Channels()[0].Send(t.Context(), clientOf(t, srv), "+639171234567", "Hi", "order-17")
	require.ErrorIs(t, err, messaging.ErrDuplicate)
	assert.Len(t, srv.Sent(), 1)
}

func TestRefuseConnections(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	sms := channeltest.Channels()[0]
	for range 3 {
		// Without a connection that was open before: whether a request on that was read is not known.
		client := clientOf(t, srv, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
		srv.RefuseConnections(true)
		srv.RefuseConnections(true)
		_, err := sms.Send(t.Context(), client, "+639171234567", "Hi", "refused")
		require.ErrorIs(t, err, messaging.ErrNotSent)

		srv.RefuseConnections(false)
		srv.RefuseConnections(false)
		_, err = sms.Send(t.Context(), client, "+639171234567", "Hi", "accepted")
		require.NoError(t, err)
	}
	assert.Len(t, srv.Sent(), 3)
	srv.RefuseConnections(true)
	srv.Close() // ends although nobody can connect
	srv.RefuseConnections(false)
	_, err := sms.Send(t.Context(), clientOf(t, srv), "+639171234567", "Hi", "closed")
	require.ErrorIs(t, err, messaging.ErrNotSent)
}

func TestInjectFor(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	client, sms := clientOf(t, srv, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1})), channeltest.Channels()[0]
	send := func() messaging.Verdict {
		_, err := sms.Send(t.Context(), client, "+639171234567", "Hi", "order-17")
		return messaging.VerdictOf(err)
	}
	srv.InjectFor(time.Hour, messagingtest.FaultStatus(http.StatusServiceUnavailable, 0))
	srv.Inject(messagingtest.Fault{}, 1)
	assert.Equal(t, messaging.Accepted, send(), "a fault of Inject comes first")
	for range 3 {
		assert.Equal(t, messaging.Unknown, send())
	}
	srv.InjectFor(time.Nanosecond, messagingtest.FaultAcceptThenDrop())
	assert.Equal(t, messaging.Accepted, send(), "its time is over, and that of the one before")
	srv.InjectFor(time.Hour, messagingtest.FaultAcceptThenDrop())
	srv.ClearFaults()
	assert.Equal(t, messaging.Accepted, send())
	assert.Panics(t, func() { srv.InjectFor(0, messagingtest.FaultAcceptThenDrop()) })
}

func TestSetCapacity(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	srv.SetCapacity(5)
	client, sms := clientOf(t, srv, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1})), channeltest.Channels()[0]
	var mu sync.Mutex
	var pauses []time.Duration
	var sends sync.WaitGroup
	for range 20 {
		sends.Go(func() {
			_, err := sms.Send(t.Context(), client, "+639171234567", "Hi", "order-17")
			if e, ok := errors.AsType[*messaging.Error](err); ok && errors.Is(err, messaging.ErrRateLimited) {
				mu.Lock()
				defer mu.Unlock()
				pauses = append(pauses, e.RetryAfter)
			}
		})
	}
	sends.Wait()
	assert.GreaterOrEqual(t, len(srv.Sent()), 5)
	assert.Len(t, pauses, 20-len(srv.Sent()), "whatever is beyond is throttled, and not processed")
	for _, pause := range pauses {
		assert.Equal(t, time.Second, pause)
	}
	srv.SetCapacity(0)
	for range 20 {
		_, err := sms.Send(t.Context(), client, "+639171234567", "Hi", "order-17")
		require.NoError(t, err)
	}
	assert.Panics(t, func() { srv.SetCapacity(-1) })
}
