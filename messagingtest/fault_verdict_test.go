package messagingtest_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/internal/channeltest"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// TestVerdictOfEachFault checks the table in the package's documentation: the ledger, and the client's verdict.
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
		{messagingtest.FaultStatus(400, 0), 0, messaging.Refused},
		{messagingtest.FaultStatus(503, 0), 0, messaging.Unknown},
		{messagingtest.FaultStatus(200, 0), 0, messaging.Refused},
		{messagingtest.FaultStatus(204, 0), 0, messaging.Unknown},
		{messagingtest.FaultStatus(206, 0), 0, messaging.Unknown},
		{messagingtest.FaultStatus(302, 0), 0, messaging.Unknown},
		{messagingtest.FaultStatus(404, 0), 0, messaging.Refused},
		{messagingtest.FaultStatus(408, 0), 0, messaging.Unknown},
		{messagingtest.FaultStatus(499, 0), 0, messaging.Unknown},
		{messagingtest.FaultStatusAfter(200, ""), 1, messaging.Refused},
		{messagingtest.FaultStatusAfter(206, ""), 1, messaging.Unknown},
		{messagingtest.FaultStatusAfter(302, ""), 1, messaging.Unknown},
		{messagingtest.FaultStatusAfter(400, ""), 1, messaging.Refused},
		{messagingtest.FaultStatusAfter(408, ""), 1, messaging.Unknown},
		{messagingtest.FaultStatusAfter(413, page), 1, messaging.Refused},
		{messagingtest.FaultStatusAfter(500, ""), 1, messaging.Unknown},
		{messagingtest.FaultStatusAfter(502, page), 1, messaging.Unknown},
		{messagingtest.FaultStatusAfter(403, page), 1, messaging.Unknown},
		{messagingtest.FaultStatusAfter(400, page), 1, messaging.Unknown},
		{messagingtest.FaultStatusAfter(429, page), 1, messaging.Unknown},
		{messagingtest.FaultStatusAfter(200, page), 1, messaging.Unknown},
		{messagingtest.FaultStatusAfter(400, `{"code":"40003","message":"no"}`), 1, messaging.Refused},
		{messagingtest.FaultCode("131026"), 0, messaging.Refused},
		{messagingtest.FaultCode("131026").WithStatus(403), 0, messaging.Refused},
		{messagingtest.FaultCode("131026").WithStatus(408), 0, messaging.Unknown},
		{messagingtest.FaultCode("131016").WithStatus(500), 0, messaging.Unknown},
		{messagingtest.FaultPage(401), 0, messaging.Unknown},
		{messagingtest.FaultPage(404), 0, messaging.Unknown},
		{messagingtest.FaultPage(413), 0, messaging.Refused},
		{messagingtest.FaultPage(502), 0, messaging.Unknown},
		{messagingtest.FaultTruncated(), 1, messaging.Unknown},
		{messagingtest.FaultNotJSON(), 1, messaging.Unknown},
	} {
		for _, channel := range channeltest.Channels() {
			t.Run(fmt.Sprintf("%v, %s", tt.fault, channel.Name), func(t *testing.T) {
				t.Parallel()
				srv := messagingtest.NewServer(t)
				srv.Inject(tt.fault, 1)
				client := clientOf(t, srv, messaging.WithTimeout(3*time.Second))
				_, err := channel.Send(t.Context(), client, "+639171234567", "Hi", "order-17")
				assert.Equal(t, tt.verdict, messaging.VerdictOf(err), "%v", err)
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

func TestRefuseConnections(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	sms := channeltest.Channels()[0]
	for range 3 {
		// A new client: a request on a connection that was open before would end unknown.
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
	srv.Close() // even while connections are refused
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

// SetFault applies to the messages of one recipient, on each channel, until it is ended.
func TestSetFault(t *testing.T) {
	t.Parallel()
	const refused, other = "+639170000000", "+639171234567"
	for _, channel := range channeltest.Channels() {
		t.Run(channel.Name, func(t *testing.T) {
			t.Parallel()
			srv := messagingtest.NewServer(t)
			client, err := messaging.NewClient(srv.URL, messaging.WithToken(srv.Token))
			require.NoError(t, err)
			verdict := func(to string) messaging.Verdict {
				_, sendErr := channel.Send(t.Context(), client, to, "Hi", "")
				return messaging.VerdictOf(sendErr)
			}
			srv.SetFault(channel.Name, strings.TrimPrefix(refused, "+"), messagingtest.FaultCode("131026"))
			for range 3 {
				assert.Equal(t, messaging.Refused, verdict(refused))
				assert.Equal(t, messaging.Accepted, verdict(other))
			}
			assert.Len(t, srv.Sent(), 3)

			srv.Inject(messagingtest.Fault{}, 1) // a fault of Inject decides
			assert.Equal(t, messaging.Accepted, verdict(refused))
			srv.SetFault(channel.Name, refused, messagingtest.FaultDropUnread())
			assert.Equal(t, messaging.Unknown, verdict(refused))
			assert.Equal(t, messaging.Accepted, verdict(other))
			assert.Len(t, srv.Sent(), 5)

			srv.SetFault(channel.Name, refused, messagingtest.Fault{})
			assert.Equal(t, messaging.Accepted, verdict(refused))
			srv.SetFault(channel.Name, refused, messagingtest.FaultCode("131026"))
			srv.Reset()
			assert.Equal(t, messaging.Accepted, verdict(refused))
			assert.Panics(t, func() { srv.SetFault(channel.Name, "", messagingtest.FaultCode("1")) })
			assert.Panics(t, func() { srv.SetFault(refused, channel.Name, messagingtest.FaultCode("1")) })
		})
	}
}

// A recipient who cannot be reached on one channel can be reached on the others.
func TestSetFaultLeavesOtherChannels(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	client, err := messaging.NewClient(srv.URL, messaging.WithToken(srv.Token))
	require.NoError(t, err)
	srv.SetFault("chatapp2", "+639171234567", messagingtest.FaultCode("131026"))
	for _, channel := range channeltest.Channels() {
		_, err = channel.Send(t.Context(), client, "+639171234567", "Hi", "")
		assert.Equal(t, channel.Name == "chatapp2", errors.Is(err, messaging.ErrUnreachable), channel.Name)
	}
	assert.Len(t, srv.Sent(), 2)
}

// A request that is not a valid message gets the response of the service, whatever the recipient.
func TestSetFaultLeavesOtherRequests(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	srv.SetFault("sms", "+639171234567", messagingtest.FaultStatus(http.StatusServiceUnavailable, 0))
	message := sms.Message{From: "ACME", To: "+639171234567", Text: "Hi"}

	stranger, err := messaging.NewClient(srv.URL, messaging.WithToken("wrong"))
	require.NoError(t, err)
	_, err = stranger.SMS.Send(t.Context(), message)
	require.ErrorIs(t, err, messaging.ErrUnauthorized)

	client, err := messaging.NewClient(srv.URL, messaging.WithToken(srv.Token))
	require.NoError(t, err)
	for _, err := range client.SMS.List(t.Context(), sms.ListOptions{To: "+639171234567"}) {
		require.NoError(t, err)
	}
}
