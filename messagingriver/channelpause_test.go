package messagingriver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// isPaused reports whether the queue of SMS is paused.
func isPaused(t testing.TB, r rig) bool {
	t.Helper()
	return r.number(t, "SELECT COUNT(*) FROM QUEUES WHERE name = 'messaging_sms' AND paused_at IS NOT NULL") == 1
}

// sendsOf counts the requests to send.
func sendsOf(service *messagingtest.Server) *atomic.Int64 {
	sends := new(atomic.Int64)
	service.Watch(func(r *http.Request, _ messagingtest.Fault, _ string) {
		if r.Method == http.MethodPost {
			sends.Add(1)
		}
	})
	return sends
}

// While the service is in trouble the queue is paused in both processes, and one message after another probes.
func TestTroubleCostsFewMessages(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		const messages, workers = 1000, 10
		service := messagingtest.NewServer(t)
		options := messagingriver.Options{Workers: workers}
		r := t.newRig(t, newClient(t, service), options)
		outboxes := []rig{r}
		if t.isPostgres {
			outboxes = append(outboxes, r.another(t, newClient(t, service), options))
		}
		r.insert(t, messagingriver.InsertOptions{}, texts("m", messages)...)
		sends := sendsOf(service)
		service.InjectFor(time.Hour, messagingtest.FaultStatus(http.StatusServiceUnavailable, 0))
		for _, one := range outboxes {
			one.start(t)
		}
		require.Eventually(t, func() bool { return isPaused(t, r) }, patience, 10*time.Millisecond)
		time.Sleep(time.Second)
		const running = "SELECT COUNT(*) FROM JOBS WHERE queue = 'messaging_sms' AND state = 'running'"
		require.Eventually(t, func() bool { return r.number(t, running) == 0 }, patience, 10*time.Millisecond)
		snoozes := func() int {
			return r.number(t, `SELECT COALESCE(SUM(COALESCE(CAST(metadata->>'snoozes' AS INTEGER), 0)), 0) FROM JOBS
				WHERE kind = 'messaging' AND queue = 'messaging_sms'`)
		}
		sendsBefore, snoozesBefore := sends.Load(), snoozes()
		time.Sleep(8 * time.Second)
		require.LessOrEqual(t, sends.Load()-sendsBefore, int64(3), "sends in the pause")
		require.Equal(t, snoozesBefore, snoozes(), "snoozes in the pause")
		service.ClearFaults()
		var failed int64
		require.Eventually(t, func() bool {
			failed = sends.Load() - int64(len(service.Sent()))
			return !isPaused(t, r)
		}, patience, 20*time.Millisecond)
		require.LessOrEqual(t, failed, int64(53), "sends in all")
		lookedUp := r.number(t, "SELECT COUNT(*) FROM JOBS WHERE queue = 'messaging_lookups' AND kind = 'messaging'")
		require.Eventually(t, func() bool { return len(service.Sent()) == messages-lookedUp }, patience, 50*time.Millisecond)
		t.Logf("%d sends failed, %d of them before the pause; %d messages are looked up", failed, sendsBefore, lookedUp)
	})
}

// 429 pauses the queue for as long as the service asks, and costs no attempt.
func TestThrottledChannelIsPaused(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{Workers: 2})
		sends := sendsOf(service)
		const wait = 3 * time.Second
		service.Inject(messagingtest.FaultStatus(http.StatusTooManyRequests, wait), 2)
		r.insert(t, messagingriver.InsertOptions{}, texts("m", 20)...)
		began := time.Now()
		r.start(t)
		require.Eventually(t, func() bool { return isPaused(t, r) }, patience, 10*time.Millisecond)
		require.WithinRange(t, statusOfSMS(t, r).NextRequest, began.Add(wait), time.Now().Add(wait))
		time.Sleep(wait / 2)
		require.LessOrEqual(t, sends.Load(), int64(2), "only the requests that the pause found under way")
		require.Eventually(t, func() bool { return countOf(t, r, completed) == 20 }, patience, 50*time.Millisecond)
		require.GreaterOrEqual(t, time.Since(began), wait)
		require.Zero(t, statusOfSMS(t, r).NextRequest)
		require.Zero(t, r.number(t, "SELECT COUNT(*) FROM JOBS WHERE CAST(metadata->>'failures' AS INTEGER) > 0"))
		require.False(t, isPaused(t, r))
	})
}

// A service that asks for a wait of years does not stop the queue for as long.
func TestPauseIsBounded(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{Workers: 1})
		service.Inject(messagingtest.FaultStatus(http.StatusTooManyRequests, 5*365*24*time.Hour), 1)
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		r.start(t)
		record := await(t, r, "a", scheduled)
		require.LessOrEqual(t, time.Until(record.Scheduled), time.Hour)
	})
}

// A service that says no time is probed at longer and longer intervals, even by the same message.
func TestProbesBackOff(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{Workers: 1})
		sends := sendsOf(service)
		service.InjectFor(20*time.Second, messagingtest.FaultStatus(http.StatusTooManyRequests, 0))
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		r.start(t)
		time.Sleep(19 * time.Second)
		require.LessOrEqual(t, sends.Load(), int64(6))
	})
}

// A guard that postpones the message that probes does not hold the others up.
func TestPostponedProbeMakesRoom(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		client := newClient(t, service, messaging.WithGuard(func(_ context.Context, message messaging.Outgoing) error {
			if message.ReferenceID == "m1" {
				return messaging.Postpone(time.Hour)
			}
			return nil
		}))
		r := t.newRig(t, client, messagingriver.Options{Workers: 1})
		service.Inject(messagingtest.FaultStatus(http.StatusTooManyRequests, 0), 1)
		r.insert(t, messagingriver.InsertOptions{}, texts("m", 3)...)
		r.start(t)
		require.Eventually(t, func() bool { return len(service.Sent()) == 2 }, patience, 20*time.Millisecond)
		require.Eventually(t, func() bool { return !isPaused(t, r) }, patience, 20*time.Millisecond)
		await(t, r, "m1", scheduled)
	})
}

// Messages that a guard denies learn nothing about the service: the message behind them probes without another wait.
func TestDeniedProbesMakeRoomAtOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		var isThrottled atomic.Bool
		client := newClient(t, service, messaging.WithGuard(func(_ context.Context, message messaging.Outgoing) error {
			switch {
			case message.ReferenceID == "last", message.ReferenceID == "first" && !isThrottled.Swap(true):
				return nil
			case message.ReferenceID == "first":
				return messaging.Postpone(time.Hour)
			default:
				return messaging.Deny(errors.New("no consent"))
			}
		}))
		r := t.newRig(t, client, messagingriver.Options{Workers: 1})
		service.Inject(messagingtest.FaultStatus(http.StatusTooManyRequests, 0), 1)
		r.insert(t, messagingriver.InsertOptions{Priority: messagingriver.Urgent}, text("first"))
		r.start(t)
		require.Eventually(t, func() bool { return isPaused(t, r) }, patience, 10*time.Millisecond)
		r.insert(t, messagingriver.InsertOptions{}, texts("denied", 30)...)
		r.insert(t, messagingriver.InsertOptions{Priority: messagingriver.Bulk}, text("last"))
		isSent := func() bool { return show(t, r, "last").State == completed }
		require.Eventually(t, isSent, time.Minute, 50*time.Millisecond, "with a back-off, 30 messages take half an hour")
		require.False(t, isPaused(t, r))
	})
}

// A message expires although the queue of its channel is paused, and its outcome is reported.
func TestMessageExpiresDuringAPause(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{Workers: 1})
		service.InjectFor(time.Minute, messagingtest.FaultStatus(http.StatusTooManyRequests, 0))
		r.insert(t, messagingriver.InsertOptions{}, text("probe"))
		r.start(t)
		require.Eventually(t, func() bool { return isPaused(t, r) }, patience, 10*time.Millisecond)
		r.insert(t, messagingriver.InsertOptions{Expire: time.Second}, texts("late", 20)...)
		began := time.Now()
		require.Eventually(t, func() bool { return countOf(t, r, cancelled) == 20 }, patience, 50*time.Millisecond)
		require.Less(t, time.Since(began), 30*time.Second)
		require.Equal(t, "the message has expired", show(t, r, "late3").Reason)
		require.True(t, isPaused(t, r))
	})
}

// A message that expires while it waits to probe makes room at once: another message probes.
func TestProbeExpires(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{Workers: 1})
		service.Inject(messagingtest.FaultStatus(http.StatusTooManyRequests, time.Hour), 1)
		r.insert(t, messagingriver.InsertOptions{Priority: messagingriver.Urgent}, text("first"))
		r.insert(t, messagingriver.InsertOptions{Expire: time.Hour}, text("late"))
		r.start(t)
		const probes = "SELECT COUNT(*) FROM JOBS WHERE queue = 'messaging_sms_probe' AND args->>'reference' = $1"
		require.Eventually(t, func() bool { return r.number(t, probes, "late") == 1 }, patience, 10*time.Millisecond)
		r.insert(t, messagingriver.InsertOptions{}, text("other"))
		expire(t, r, "late")
		require.Eventually(t, func() bool { return show(t, r, "late").State == cancelled }, patience, 50*time.Millisecond)
		require.Equal(t, "the message has expired", show(t, r, "late").Reason)
		require.Eventually(t, func() bool { return r.number(t, probes, "other") == 1 }, patience, 50*time.Millisecond)
		require.True(t, isPaused(t, r))
	})
}

// A recipient who gets too many messages holds back no other.
func TestThrottledRecipientPausesNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		client := newClient(t, service, messaging.WithTransport(func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					return nil, err
				}
				if bytes.Contains(body, []byte(`"busy"`)) {
					const tooMany = `{"error":{"message":"too many messages to this recipient","code":131056}}`
					return &http.Response{StatusCode: http.StatusBadRequest, Body: io.NopCloser(strings.NewReader(tooMany)), Request: r}, nil
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
				return next.RoundTrip(r)
			})
		}))
		r := t.newRig(t, client, messagingriver.Options{Workers: 1})
		r.insert(t, messagingriver.InsertOptions{Priority: messagingriver.Urgent}, chat("busy"))
		r.insert(t, messagingriver.InsertOptions{}, chat("other"))
		r.start(t)
		await(t, r, "other", completed)
		require.Zero(t, r.number(t, "SELECT COUNT(*) FROM QUEUES WHERE paused_at IS NOT NULL"))
		require.GreaterOrEqual(t, time.Until(show(t, r, "busy").Scheduled), 2*time.Second, "of the 6 that the platform wants")
	})
}

// The platform refuses the probe for its recipient alone, for a day. The channel works, so the other messages do not wait.
func TestProbeRefusedForItsRecipientEndsThePause(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{Workers: 1})
		first := chat("first")
		first.To = "+639170000001"
		service.Inject(messagingtest.FaultStatus(http.StatusTooManyRequests, 0), 1)
		r.insert(t, messagingriver.InsertOptions{Priority: messagingriver.Urgent}, first)
		r.start(t)
		isPaused := func() bool { return r.number(t, "SELECT COUNT(*) FROM QUEUES WHERE paused_at IS NOT NULL") == 1 }
		require.Eventually(t, isPaused, patience, 10*time.Millisecond)
		service.SetFault("chatapp2", first.To, messagingtest.FaultCode("131049"))
		isLate := func() bool { return time.Until(show(t, r, "first").Scheduled) > 23*time.Hour }
		require.Eventually(t, isLate, patience, 20*time.Millisecond, "it was the probe")
		r.insert(t, messagingriver.InsertOptions{}, chat("other"))
		require.Eventually(t, func() bool { return show(t, r, "other").State == completed }, patience, 20*time.Millisecond)
		require.False(t, isPaused())
	})
}

// A message that only a newer version can read does not keep the others from probing.
func TestUnreadableProbeMakesRoom(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{Workers: 1})
		service.Inject(messagingtest.FaultStatus(http.StatusTooManyRequests, 0), 1)
		r.insert(t, messagingriver.InsertOptions{}, text("newer"), text("other"))
		newer := `{"message": {"from": "ACME", "to": "+639171234567", "text": "x", "colour": "red"}}`
		if t.isPostgres {
			r.exec(t, "UPDATE JOBS SET queue = 'messaging_sms_probe', args = args || CAST($1 AS JSONB) WHERE args->>'reference' = 'newer'", newer)
		} else {
			r.exec(t, "UPDATE JOBS SET queue = 'messaging_sms_probe', args = jsonb_patch(args, ?1) WHERE args->>'reference' = 'newer'", newer)
		}
		r.start(t)
		await(t, r, "other", completed)
		require.Zero(t, r.number(t, "SELECT COUNT(*) FROM JOBS WHERE queue = 'messaging_sms_probe' AND state <> 'completed'"))
	})
}

// Wrong credentials pause the channel, and no message is cancelled.
func TestAccountInTroublePausesTheChannel(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{Workers: 2, SendTimeout: 10 * time.Second})
		sends := sendsOf(service)
		service.InjectFor(4*time.Second, messagingtest.FaultStatus(http.StatusUnauthorized, 0))
		r.insert(t, messagingriver.InsertOptions{}, texts("m", 50)...)
		r.start(t)
		require.Eventually(t, func() bool { return isPaused(t, r) }, patience, 10*time.Millisecond)
		status, err := r.Status(t.Context())
		require.NoError(t, err)
		require.True(t, status[2].Paused)
		require.Contains(t, status[2].Cause, "401")
		time.Sleep(2 * time.Second)
		require.LessOrEqual(t, sends.Load(), int64(8))
		require.Zero(t, countOf(t, r, cancelled))
		require.Eventually(t, func() bool { return countOf(t, r, completed) == 50 }, patience, 50*time.Millisecond)
	})
}

// The trouble that began the pause may be over while another lasts.
func TestCauseOfAPauseIsThatOfTheLastProbe(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{Workers: 1})
		service.Inject(messagingtest.FaultStatus(http.StatusTooManyRequests, 0), 1)
		service.Inject(messagingtest.FaultDropUnread(), 100)
		r.insert(t, messagingriver.InsertOptions{}, texts("m", 10)...)
		cause := func() string {
			status, err := r.Status(t.Context())
			require.NoError(t, err)
			return status[2].Cause
		}
		r.start(t)
		require.Eventually(t, func() bool { return strings.Contains(cause(), "HTTP 429") }, patience, 5*time.Millisecond)
		require.Eventually(t, func() bool { return strings.Contains(cause(), "unknown outcome") }, patience, 20*time.Millisecond)
		require.NotContains(t, cause(), "429")
		require.True(t, isPaused(t, r))
	})
}

// A 403 may be about one message. When it opens the breaker it is about the account, and no further message is cancelled.
func TestForbiddenAccountPausesTheChannel(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		const workers, failuresThatOpen = 2, 16
		r := t.newRig(t, newClient(t, service), messagingriver.Options{Workers: workers, SendTimeout: 10 * time.Second})
		service.InjectFor(8*time.Second, messagingtest.FaultStatus(http.StatusForbidden, 0))
		r.insert(t, messagingriver.InsertOptions{}, texts("m", 50)...)
		r.start(t)
		require.Eventually(t, func() bool { return countOf(t, r, cancelled)+countOf(t, r, completed) == 50 }, patience, 50*time.Millisecond)
		require.Less(t, countOf(t, r, cancelled), failuresThatOpen+workers)
	})
}

// A person's pause is not undone: one before the trouble, and one in place of the outbox's own.
func TestPersonsPauseStays(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		pause := "UPDATE QUEUES SET paused_at = now() WHERE name = 'messaging_sms'"
		if !t.isPostgres {
			pause = "UPDATE QUEUES SET paused_at = strftime('%Y-%m-%d %H:%M:%f', 'now') WHERE name = 'messaging_sms'"
		}
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{Workers: 2})
		service.Inject(messagingtest.FaultStatus(http.StatusTooManyRequests, 2*time.Second), 2)
		r.insert(t, messagingriver.InsertOptions{}, texts("m", 10)...)
		r.start(t)
		require.Eventually(t, func() bool { return isPaused(t, r) }, patience, 5*time.Millisecond)
		probes := "SELECT COUNT(*) FROM JOBS WHERE queue = 'messaging_sms_probe'"
		require.Eventually(t, func() bool { return r.number(t, probes) == 1 }, patience, 5*time.Millisecond)
		r.exec(t, pause) // as River UI does after its Resume
		require.Eventually(t, func() bool { return len(service.Sent()) == 1 }, patience, 20*time.Millisecond, "the probe")
		time.Sleep(3 * time.Second)
		require.True(t, isPaused(t, r), "the probe was accepted, and the pause is a person's")
		require.Len(t, service.Sent(), 1)
		status, err := r.Status(t.Context())
		require.NoError(t, err)
		require.Empty(t, status[2].Cause)
		r.resume(t, "messaging_sms")
		require.Eventually(t, func() bool { return len(service.Sent()) == 10 }, patience, 50*time.Millisecond)
	})
}

// Urgent messages go first.
func TestUrgentMessagesGoFirst(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{Workers: 1})
		r.insert(t, messagingriver.InsertOptions{Priority: messagingriver.Bulk}, texts("bulk", 20)...)
		r.insert(t, messagingriver.InsertOptions{}, text("normal"))
		r.insert(t, messagingriver.InsertOptions{Priority: messagingriver.Urgent}, text("urgent"))
		r.insert(t, messagingriver.InsertOptions{Priority: 2}, text("high"))
		r.start(t)
		require.Eventually(t, func() bool { return countOf(t, r, completed) == 23 }, patience, 50*time.Millisecond)
		var order []string
		for _, m := range service.Sent() {
			order = append(order, m.ReferenceID)
		}
		require.Equal(t, []string{"urgent", "high", "normal", "bulk0", "bulk1"}, order[:5])
	})
}

// Options.Rate is a rate of the process, and its workers are as many as it needs at most.
func TestRate(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{Rate: 5, Workers: 100})
		r.insert(t, messagingriver.InsertOptions{}, texts("m", 100)...)
		r.start(t)
		time.Sleep(4 * time.Second)
		sent := len(service.Sent())
		require.Greater(t, sent, 5)
		require.LessOrEqual(t, sent, 5*5)
		require.Less(t, countOf(t, r, running), 20, "an urgent message waits behind few of the 100")
	})
}

// pauseAsEarlierVersion starts and stops an outbox and pauses its SMS as an earlier version did, without a count of probes and a time.
func pauseAsEarlierVersion(t test, r rig) {
	t.Helper()
	stop := r.start(t)
	row := "SELECT COUNT(*) FROM QUEUES WHERE name = 'messaging_sms'"
	require.Eventually(t, func() bool { return r.number(t, row) == 1 }, patience, 10*time.Millisecond)
	stop()
	if t.isPostgres {
		r.exec(t, `UPDATE QUEUES SET paused_at = now(), metadata = jsonb_build_object('pause', jsonb_build_object(
			'at', CAST(EXTRACT(EPOCH FROM now()) AS TEXT), 'cause', 'earlier')) WHERE name = 'messaging_sms'`)
		return
	}
	r.exec(t, `UPDATE QUEUES SET paused_at = '2026-01-01 00:00:00.000',
		metadata = jsonb('{"pause": {"at": "2026-01-01 00:00:00.000", "cause": "earlier"}}') WHERE name = 'messaging_sms'`)
}

// River makes a message available up to 5 seconds before it is due, but it does not probe before.
func TestProbeIsNotSentBeforeItIsDue(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{Workers: 1})
		pauseAsEarlierVersion(t, r)
		due := time.Now().Add(8 * time.Second)
		r.insert(t, messagingriver.InsertOptions{At: due}, text("a"))
		r.start(t)
		require.Eventually(t, func() bool { return len(service.Sent()) == 1 }, patience, 20*time.Millisecond)
		require.False(t, time.Now().Before(due))
	})
}

// A pause that an earlier version recorded, without a count of probes and a time, is probed.
func TestPauseOfAnEarlierVersionIsProbed(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{Workers: 1})
		pauseAsEarlierVersion(t, r)
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		r.start(t)
		probes := "SELECT COUNT(*) FROM JOBS WHERE queue LIKE 'messaging_sms%' AND state = 'completed'"
		require.Eventually(t, func() bool { return r.number(t, probes) == 1 && !isPaused(t, r) }, patience, 50*time.Millisecond)
	})
}

// A message that waits for hours in the queue of probes, because it could not be moved when a guard postponed it, makes room.
func TestPostponedMessageLeavesTheProbes(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{Workers: 1})
		service.Inject(messagingtest.FaultStatus(http.StatusTooManyRequests, 0), 1)
		r.insert(t, messagingriver.InsertOptions{At: time.Now().Add(8 * time.Hour)}, text("postponed"))
		r.exec(t, "UPDATE JOBS SET queue = 'messaging_sms_probe'")
		r.insert(t, messagingriver.InsertOptions{}, text("other"))
		r.start(t)
		isSent := func() bool { return show(t, r, "other").State == completed }
		require.Eventually(t, isSent, patience, 50*time.Millisecond)
		require.Equal(t, scheduled, show(t, r, "postponed").State)
	})
}

// A message of a paused campaign does not probe. Another message does.
func TestPausedCampaignDoesNotProbe(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		const probes = "SELECT COUNT(*) FROM JOBS WHERE queue = 'messaging_sms_probe' AND state <> 'completed'"
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{Workers: 1})
		service.InjectFor(time.Hour, messagingtest.FaultStatus(http.StatusTooManyRequests, 0))
		r.insert(t, messagingriver.InsertOptions{Campaign: "spring"}, texts("spring", 3)...)
		stop := r.start(t)
		require.Eventually(t, func() bool { return r.number(t, probes) == 1 }, patience, 10*time.Millisecond)
		stop()
		_, err := r.PauseCampaign(t.Context(), "spring")
		require.NoError(t, err)
		require.Zero(t, r.number(t, probes))

		r.insert(t, messagingriver.InsertOptions{}, text("other"))
		r.start(t)
		require.Eventually(t, func() bool { return r.number(t, probes) == 1 }, patience, 10*time.Millisecond)
		_, err = r.ResumeCampaign(t.Context(), "spring")
		require.NoError(t, err)
		require.Equal(t, 1, r.number(t, probes))
	})
}

// A message whose campaign is paused while it probes stops to probe.
func TestProbeOfACampaignThatIsPausedLater(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{Workers: 1})
		service.InjectFor(time.Hour, messagingtest.FaultStatus(http.StatusTooManyRequests, 0))
		r.insert(t, messagingriver.InsertOptions{Campaign: "spring"}, texts("spring", 3)...)
		stop := r.start(t)
		const waitingProbe = "SELECT COUNT(*) FROM JOBS WHERE queue = 'messaging_sms_probe' AND state IN ('available', 'scheduled')"
		require.Eventually(t, func() bool { return r.number(t, waitingProbe) == 1 }, patience, 10*time.Millisecond)
		stop()
		// As PauseCampaign leaves it if the attempt of the probe is under way.
		r.exec(t, "UPDATE JOBS SET state = 'pending' WHERE queue = 'messaging_sms'")
		r.start(t)
		require.Eventually(t, func() bool { return countOf(t, r, pending) == 3 }, patience, 10*time.Millisecond)
		require.Zero(t, r.number(t, "SELECT COUNT(*) FROM JOBS WHERE queue = 'messaging_sms_probe'"))
	})
}

// The log says at one level that the outbox paused a queue and that it resumed the queue.
func TestPauseAndItsEndAreLogged(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
		r := t.newRig(t, newClient(t, service), messagingriver.Options{Workers: 1, Logger: logger})
		service.Inject(messagingtest.FaultStatus(http.StatusTooManyRequests, 0), 1)
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		stop := r.start(t)
		await(t, r, "a", completed)
		stop()
		require.Contains(t, log.String(), "the queue is paused")
		require.Contains(t, log.String(), "the queue is resumed")
	})
}

// A message that was halted, because a process had not yet learned of a pause, waits 3 seconds. It can be chosen to probe, but not before its time.
func TestHaltedMessageProbes(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		probed := make(chan time.Time, 100)
		client := newClient(t, service, messaging.WithGuard(func(_ context.Context, message messaging.Outgoing) error {
			if message.ReferenceID == "halted" {
				probed <- time.Now()
			}
			return nil
		}))
		r := t.newRig(t, client, messagingriver.Options{})
		service.InjectFor(time.Hour, messagingtest.FaultStatus(http.StatusTooManyRequests, 0))
		r.insert(t, messagingriver.InsertOptions{}, text("refused"))
		stop := r.start(t)
		require.Eventually(t, func() bool { return isPaused(t, r) }, patience, 10*time.Millisecond)
		stop()
		service.ClearFaults()
		r.exec(t, "DELETE FROM JOBS WHERE kind = 'messaging'") // else the refused message could probe, and end the pause
		r.insert(t, messagingriver.InsertOptions{At: time.Now().Add(time.Hour)}, text("halted"))
		layout := "2006-01-02 15:04:05.000"
		if t.isPostgres {
			layout += "Z07:00"
		}
		isProbe := func() bool { return r.number(t, "SELECT COUNT(*) FROM JOBS WHERE queue = 'messaging_sms_probe'") == 1 }
		var due time.Time // at least this late when the message was chosen
		halt := func() {
			next := time.Now().Add(2 * time.Second).UTC().Truncate(time.Millisecond)
			const update = `UPDATE JOBS SET state = 'available', scheduled_at = '%s' WHERE kind = 'messaging' AND queue = 'messaging_sms'`
			r.exec(t, fmt.Sprintf(update, next.Format(layout)))
			if !isProbe() {
				due = next
			}
		}
		halt()
		require.False(t, due.IsZero())
		r.start(t)
		isChosen := func() bool {
			if isProbe() {
				return true
			}
			halt()
			return false
		}
		require.Eventually(t, isChosen, patience, 100*time.Millisecond)
		require.False(t, (<-probed).Before(due))
		await(t, r, "halted", completed)
	})
}
