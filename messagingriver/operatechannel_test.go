package messagingriver_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// haltLength is how long a process begins no request on a channel whose pause it has met.
const haltLength = 3 * time.Second

// statusOfSMS returns the status of the channel "sms".
func statusOfSMS(t testing.TB, r rig) messagingriver.ChannelStatus {
	t.Helper()
	channels, err := r.Status(t.Context())
	require.NoError(t, err)
	for _, channel := range channels {
		if channel.Channel == "sms" {
			return channel
		}
	}
	t.Fatal("no status of sms")
	return messagingriver.ChannelStatus{}
}

// A channel can be paused before any process has started, and other channels send meanwhile.
func TestPauseChannel(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{})
		require.NoError(t, r.ResumeChannel(t.Context(), "sms"), "it is not paused")
		require.False(t, statusOfSMS(t, r).Paused)
		for range 2 {
			require.NoError(t, r.PauseChannel(t.Context(), "sms"))
			require.True(t, statusOfSMS(t, r).Paused)
			require.Empty(t, statusOfSMS(t, r).Cause)
		}
		r.insert(t, messagingriver.InsertOptions{}, text("a"), chat("b"))
		r.start(t)
		await(t, r, "b", completed)
		time.Sleep(time.Second)
		require.Equal(t, available, show(t, r, "a").State)

		require.NoError(t, r.ResumeChannel(t.Context(), "sms"))
		await(t, r, "a", completed)
		require.False(t, statusOfSMS(t, r).Paused)

		require.NoError(t, r.PauseChannel(t.Context(), "sms"))
		r.resume(t, "messaging_sms")
		require.False(t, statusOfSMS(t, r).Paused, "River UI ends it, too")
	})
}

// On PostgreSQL a pause holds at once, even if River misses its notification because its connection broke: River would ask a minute later.
func TestPauseHoldsWithoutItsNotification(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		if !t.isPostgres {
			t.Skip("SQLite has no notifications")
		}
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{Rate: 20})
		r.start(t)
		r.insert(t, messagingriver.InsertOptions{}, texts("earlier", 100)...)
		require.Eventually(t, func() bool { return len(service.Sent()) > 0 }, patience, time.Millisecond)
		r.exec(t, "UPDATE QUEUES SET paused_at = now() WHERE name = 'messaging_sms'")
		time.Sleep(time.Second) // requests that have begun end
		sent := len(service.Sent())
		require.Less(t, sent, 100)
		r.insert(t, messagingriver.InsertOptions{}, text("later"), chat("of another channel"))
		await(t, r, "of another channel", completed)
		time.Sleep(2 * haltLength)
		require.Equal(t, sent+1, len(service.Sent())) //nolint:testifylint // Len would print every message
		require.Zero(t, countOf(t, r, discarded))
		require.Equal(t, "the channel was just paused", show(t, r, "later").Reason)

		require.NoError(t, r.ResumeChannel(t.Context(), "sms"))
		require.Eventually(t, func() bool { return countOf(t, r, completed) == 102 }, patience, 20*time.Millisecond)
		require.Equal(t, 102, len(service.Sent())) //nolint:testifylint // likewise
	})
}

func TestPausedChannels(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		r := t.newRig(t, newClient(t, messagingtest.NewServer(t)), messagingriver.Options{})
		paused, err := r.PausedChannels(t.Context())
		require.NoError(t, err)
		require.Empty(t, paused)

		r.insert(t, messagingriver.InsertOptions{}, text("waits"))
		require.NoError(t, r.PauseChannel(t.Context(), "sms"))
		require.NoError(t, r.PauseChannel(t.Context(), "chatapp1"))
		paused, err = r.PausedChannels(t.Context())
		require.NoError(t, err)
		require.Equal(t, []messagingriver.ChannelStatus{{Channel: "chatapp1", Paused: true}, {Channel: "sms", Paused: true}}, paused)

		require.NoError(t, r.ResumeChannel(t.Context(), "chatapp1"))
		paused, err = r.PausedChannels(t.Context())
		require.NoError(t, err)
		require.Equal(t, []messagingriver.ChannelStatus{{Channel: "sms", Paused: true}}, paused)
	})
}

// The outbox does not end the pause of a person, even if it had paused the channel itself, and no message probes.
func TestPauseChannelDuringAPauseOfTheOutbox(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{Workers: 1})
		const untilProbe = 10 * time.Second // a slow machine pauses the channel before
		service.Inject(messagingtest.FaultStatus(http.StatusTooManyRequests, untilProbe), 1)
		r.insert(t, messagingriver.InsertOptions{}, texts("m", 3)...)
		r.start(t)
		const waitingProbe = "SELECT COUNT(*) FROM JOBS WHERE queue = 'messaging_sms_probe' AND state IN ('available', 'scheduled')"
		require.Eventually(t, func() bool { return r.number(t, waitingProbe) == 1 }, patience, 10*time.Millisecond)
		require.NotEmpty(t, statusOfSMS(t, r).Cause)
		time.Sleep(2500 * time.Millisecond) // River on SQLite hears of a pause within 2 seconds
		sent := len(service.Sent())
		require.NoError(t, r.PauseChannel(t.Context(), "sms"))
		require.True(t, statusOfSMS(t, r).Paused)
		require.Empty(t, statusOfSMS(t, r).Cause)
		time.Sleep(untilProbe)
		require.Len(t, service.Sent(), sent)
		require.True(t, isPaused(t, r))

		r.exec(t, "UPDATE JOBS SET state = 'available', scheduled_at = created_at WHERE state = 'scheduled'")

		require.NoError(t, r.ResumeChannel(t.Context(), "sms"))
		require.Eventually(t, func() bool { return countOf(t, r, completed) == 3 }, patience, 20*time.Millisecond)
	})
}

// A message that probes while a person pauses the channel does not probe again.
func TestPauseChannelDuringAProbe(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		var requests atomic.Int64
		probing, goOn := make(chan struct{}), make(chan struct{})
		release := sync.OnceFunc(func() { close(goOn) })
		t.Cleanup(release)
		throttle := func(http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				if requests.Add(1) == 2 {
					close(probing)
					<-goOn
				}
				return &http.Response{StatusCode: http.StatusTooManyRequests, Body: http.NoBody, Request: r}, nil
			})
		}
		client := newClient(t, messagingtest.NewServer(t), messaging.WithTransport(throttle))
		r := t.newRig(t, client, messagingriver.Options{Workers: 1})
		r.insert(t, messagingriver.InsertOptions{}, texts("m", 3)...)
		r.start(t)
		<-probing
		require.NoError(t, r.PauseChannel(t.Context(), "sms"))
		release()
		time.Sleep(6 * time.Second) // another probe would begin after a second
		require.EqualValues(t, 2, requests.Load())
		require.Zero(t, r.number(t, "SELECT COUNT(*) FROM JOBS WHERE queue = 'messaging_sms_probe'"))
		require.Empty(t, statusOfSMS(t, r).Cause)
	})
}

// ResumeChannel ends a pause of the outbox.
func TestResumeChannelEndsAPauseOfTheOutbox(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{Workers: 1})
		service.Inject(messagingtest.FaultStatus(http.StatusTooManyRequests, time.Hour), 1)
		r.insert(t, messagingriver.InsertOptions{}, texts("m", 3)...)
		r.start(t)
		require.Eventually(t, func() bool { return isPaused(t, r) }, patience, 10*time.Millisecond)
		require.NoError(t, r.ResumeChannel(t.Context(), "sms"))
		r.insert(t, messagingriver.InsertOptions{}, text("later"))
		await(t, r, "later", completed)
		for _, reference := range []string{"m1", "m2"} { // m0 waits for as long as the service asked it to
			await(t, r, reference, completed) // one was the next probe, and due in an hour
		}
		require.False(t, isPaused(t, r))
	})
}

func TestPauseChannelRejectsAnUnknownChannel(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{})
		for _, channel := range []string{"", "*", "messaging_sms", "SMS"} {
			const want = "; want one of chatapp1, chatapp2, sms"
			require.ErrorContains(t, r.PauseChannel(t.Context(), channel), want)
			require.ErrorContains(t, r.ResumeChannel(t.Context(), channel), want)
		}
	})
}
