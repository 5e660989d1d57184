package messagingriver_test

import (
	"context"
	"errors"
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

// guarded returns an outbox whose client has a guard.
func guarded(t test, guard func(n int64) error) (rig, *messagingtest.Server) {
	t.Helper()
	service := messagingtest.NewServer(t)
	var asked atomic.Int64
	client := newClient(t, service, messaging.WithGuard(func(context.Context, messaging.Outgoing) error { return guard(asked.Add(1)) }))
	return t.newRig(t, client, quick()), service
}

func TestDeniedMessageIsCancelledWithTheReason(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		r, service := guarded(t, func(int64) error { return messaging.ErrOptedOut })
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		r.insert(t, messagingriver.InsertOptions{Unguarded: true}, text("code"))
		r.start(t)
		record := await(t, r, "a", cancelled)
		require.Equal(t, messaging.NotSent, record.Verdict)
		require.Contains(t, record.Reason, "opted out")
		await(t, r, "code", completed)
		require.Equal(t, map[string]int{"code": 1}, sentOf(service))
	})
}

func TestGuardThatPostponesSnoozes(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		r, _ := guarded(t, func(int64) error { return messaging.Postpone(time.Hour) })
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		r.start(t)
		record := await(t, r, "a", scheduled)
		require.InDelta(t, time.Hour, time.Until(record.Scheduled), float64(time.Minute))
		require.Zero(t, record.Failures)
		require.Contains(t, record.Reason, "postponed")
	})
}

func TestGuardThatCannotDecideSnoozes(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		r, service := guarded(t, func(n int64) error {
			if n == 1 {
				return errors.New("the database of opt-outs is away")
			}
			return nil
		})
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		r.start(t)
		record := await(t, r, "a", scheduled)
		require.Zero(t, record.Failures)
		require.Empty(t, service.Sent())
		await(t, r, "a", completed)
	})
}

func TestExpiredMessageIsNotSent(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		r, service := guarded(t, func(int64) error { return nil })
		r.insert(t, messagingriver.InsertOptions{Expire: time.Millisecond}, text("late"))
		r.insert(t, messagingriver.InsertOptions{Expire: time.Hour}, text("in time"))
		r.start(t)
		record := await(t, r, "late", cancelled)
		require.Contains(t, record.Reason, "expired")
		await(t, r, "in time", completed)
		require.NotContains(t, sentOf(service), "late")

		// A person cannot have it sent after its time.
		n, err := r.Resolve(t.Context(), messagingriver.Resend, messagingriver.Key{Channel: "sms", Reference: "late"})
		require.NoError(t, err)
		require.Zero(t, n)
		require.Equal(t, cancelled, show(t, r, "late").State)
		require.NotContains(t, sentOf(service), "late")
	})
}

// It expires between the beginning of its attempt and the request.
func TestMessageExpiresWhileItWaits(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		r, service := guarded(t, func(int64) error {
			time.Sleep(700 * time.Millisecond)
			return nil
		})
		r.insert(t, messagingriver.InsertOptions{Expire: 600 * time.Millisecond}, text("a"))
		r.start(t)
		require.Contains(t, await(t, r, "a", cancelled).Reason, "expired")
		require.Empty(t, service.Sent())
	})
}

func TestScheduledMessageWaits(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		r, service := guarded(t, func(int64) error { return nil })
		at := time.Now().Add(3 * time.Second)
		r.insert(t, messagingriver.InsertOptions{At: at}, text("later"))
		r.insert(t, messagingriver.InsertOptions{At: time.Now().Add(-time.Hour)}, text("past"))
		r.start(t)
		await(t, r, "past", completed)
		isSent := sentOf(service)["later"] > 0
		if time.Now().Before(at) { // unless the machine is slow
			require.False(t, isSent)
		}
		await(t, r, "later", completed)
		require.False(t, time.Now().Before(at))
	})
}

// A failure that is the message's own costs an attempt, and at last the message is discarded.
func TestMessageToBlameIsDiscarded(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		var calls atomic.Int64
		client := newClient(t, service, messaging.WithTokenSource(func(context.Context) (messaging.Token, error) {
			if calls.Add(1) <= 2 {
				panic("secret +639171234567")
			}
			return messaging.Token{Value: service.Token}, nil
		}))
		r := t.newRig(t, client, quick())
		r.insert(t, messagingriver.InsertOptions{MaxAttempts: 2}, text("a"))
		r.start(t)
		record := await(t, r, "a", discarded)
		require.Equal(t, 2, record.Failures)
		require.Equal(t, messaging.NotSent, record.Verdict)
		require.Contains(t, record.Reason, "panic (string)")
		require.NotContains(t, record.Reason, "secret")
		require.NotNil(t, record.Message)
		n, err := r.Resolve(t.Context(), messagingriver.Resend, record.Key)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		await(t, r, "a", completed)
	})
}

// A panic behind the request leaves the outcome unknown.
func TestPanicAfterTheRequestIsUnknown(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		client := newClient(t, service, messaging.WithTransport(func(base http.RoundTripper) http.RoundTripper {
			return roundTripper(func(request *http.Request) (*http.Response, error) {
				response, err := base.RoundTrip(request)
				if err == nil {
					_ = response.Body.Close()
				}
				panic("after the request")
			})
		}))
		r := t.newRig(t, client, quick())
		r.insert(t, messagingriver.InsertOptions{}, chat("a"))
		r.start(t)
		require.Equal(t, messaging.Unknown, await(t, r, "a", discarded).Verdict)
		require.Len(t, service.Sent(), 1)
	})
}

func TestRefusedDuplicateIsLookedUp(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		service.RefuseDuplicates(true)
		client := newClient(t, service)
		_, err := client.SMS.Send(t.Context(), text("known"))
		require.NoError(t, err)
		r := t.newRig(t, client, quick())
		r.insert(t, messagingriver.InsertOptions{}, text("known"))
		r.start(t)
		record := await(t, r, "known", completed)
		require.NotEmpty(t, record.Receipt.ID)
		require.Len(t, service.Sent(), 1)
	})
}

// A refusal that names a message is final, although the account is in trouble: the service may have processed the message.
func TestRefusalThatNamesAMessageIsFinal(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{})
		service.Inject(messagingtest.FaultStatusAfter(http.StatusOK, `{"id":"m-1","code":"200101"}`), 1)
		r.insert(t, messagingriver.InsertOptions{}, text("named"))
		r.start(t)
		record := await(t, r, "named", cancelled)
		require.Contains(t, record.Reason, "insufficient balance")
	})
}

// What PostgreSQL cannot store is left out, and one bad record holds no others.
func TestZeroBytesHoldNothingUp(t *testing.T) {
	t.Parallel()
	messages := 500
	if *whole {
		messages = 5000
	}
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		var responses atomic.Int64
		client := newClient(t, service, messaging.WithTransport(func(base http.RoundTripper) http.RoundTripper {
			return roundTripper(func(request *http.Request) (*http.Response, error) {
				response, err := base.RoundTrip(request)
				if err == nil && request.Method == http.MethodPost && responses.Add(1)%50 == 0 {
					return withBody(response, `{"id":"m-\u0000-1","operator":"a\u0000b"}`), nil
				}
				return response, err
			})
		}))
		r := t.newRig(t, client, messagingriver.Options{Workers: 100})
		r.insert(t, messagingriver.InsertOptions{}, texts("m", messages)...)
		r.start(t)
		began := time.Now()
		require.Eventually(t, func() bool { return countOf(t, r, completed) == messages }, patience, 50*time.Millisecond)
		t.Logf("%d messages in %v", messages, time.Since(began).Round(time.Millisecond))
		_, err := r.tryInsert(t.Context(), messagingriver.InsertOptions{}, text("a\x00b"))
		require.ErrorContains(t, err, "zero byte")
	})
}

// withBody returns a response with another body.
func withBody(response *http.Response, body string) *http.Response {
	_ = response.Body.Close()
	response.Body = readCloser{strings.NewReader(body)}
	response.ContentLength = int64(len(body))
	return response
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

// A message of a newer version waits for a process that can read it. A message that no version can read is discarded, alone.
func TestMessageThatCannotBeRead(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{})
		r.insert(t, messagingriver.InsertOptions{}, text("newer key"), text("newer channel"), text("damaged"), text("good"))
		changeArgs(t, r, "newer key", newerKey)
		changeArgs(t, r, "newer channel", `{"channel": "pigeon"}`)
		changeArgs(t, r, "damaged", damaged)
		r.start(t)
		await(t, r, "good", completed)
		for _, reference := range []string{"newer key", "newer channel"} {
			record := await(t, r, reference, scheduled)
			require.Contains(t, record.Reason, "another version")
			require.Equal(t, messaging.NotSent, record.Verdict, reference)
		}
		record := await(t, r, "damaged", discarded)
		require.Contains(t, record.Reason, "no message that this version can read")
		require.NotContains(t, record.Reason, "639171234567")
		require.Equal(t, messaging.NotSent, record.Verdict)
		require.False(t, record.MayHaveBeenSent(), "a fallback can be sent")
		require.Len(t, service.Sent(), 1)
	})
}

// Arguments of jobs whose messages this version cannot read.
const (
	newerKey = `{"message": {"from": "ACME", "to": "+639171234567", "text": "x", "colour": "red"}}`
	damaged  = `{"message": "+639171234567"}`
)

// changeArgs merges an object into the arguments of a message's job.
func changeArgs(t test, r rig, reference, object string) {
	t.Helper()
	if t.isPostgres {
		r.exec(t, "UPDATE JOBS SET args = args || CAST($2 AS JSONB) WHERE args->>'reference' = $1", reference, object)
		return
	}
	r.exec(t, "UPDATE JOBS SET args = jsonb_patch(args, ?2) WHERE args->>'reference' = ?1", reference, object)
}

// An attempt that cannot read a message does not show that an earlier attempt did not send it.
func TestUnreadableMessageInDoubtIsUnknown(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), quick())
		r.insert(t, messagingriver.InsertOptions{}, text("text"), chat("chat"))
		for _, reference := range []string{"text", "chat"} {
			changeArgs(t, r, reference, damaged)
			abandon(t, r, t.isPostgres, reference, `{"begun": "A"}`)
		}
		r.start(t)
		for _, reference := range []string{"text", "chat"} {
			record := await(t, r, reference, discarded)
			require.Equal(t, messaging.Unknown, record.Verdict, reference)
			require.True(t, record.MayHaveBeenSent(), reference)
		}
		require.Empty(t, service.Sent())
	})
}

// The service may have a message that it refused in a response that names a message.
func TestUnreadableMessageKeepsAnEarlierVerdict(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		r := t.newRig(t, newClient(t, messagingtest.NewServer(t)), quick())
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		changeArgs(t, r, "a", damaged)
		mergeMetadata(t, r, `{"verdict": "refused", "classes": ["ambiguous"]}`)
		r.start(t)
		record := await(t, r, "a", discarded)
		require.Equal(t, messaging.Refused, record.Verdict)
		require.True(t, record.MayHaveBeenSent())
	})
}

// An old process leaves an SMS in doubt to a process that can read it.
func TestLookupLeavesANewerMessage(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), quick())
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		changeArgs(t, r, "a", newerKey)
		abandon(t, r, t.isPostgres, "a", `{"begun": "A"}`)
		r.start(t)
		require.Eventually(t, func() bool {
			state := show(t, r, "a").State
			return state == scheduled || state == discarded
		}, patience, 20*time.Millisecond)
		record := show(t, r, "a")
		require.Equal(t, scheduled, record.State)
		require.Equal(t, messaging.Unknown, record.Verdict)
		require.Contains(t, record.Reason, "a worker of another version can read the message")
		require.NotContains(t, record.Reason, "639171234567")
		require.Empty(t, service.Sent())

		longAgo := time.Now().Add(-25 * time.Hour).UTC().Format(time.RFC3339Nano)
		merge := "jsonb_patch(metadata, '{\"unknown_since\": \"" + longAgo + "\"}')"
		if t.isPostgres {
			merge = "metadata || '{\"unknown_since\": \"" + longAgo + "\"}'"
		}
		r.exec(t, "UPDATE JOBS SET state = 'available', scheduled_at = created_at, metadata = "+merge)
		await(t, r, "a", discarded)
	})
}

// A load that is interrupted and repeated after its time does not give its messages more time.
func TestExpiryCountsFromATimeInThePast(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{})
		at := time.Now().Add(-time.Hour)
		r.insert(t, messagingriver.InsertOptions{At: at, Expire: 2 * time.Hour}, text("valid"))
		r.insert(t, messagingriver.InsertOptions{At: at, Expire: 30 * time.Minute}, text("expired"))
		require.WithinDuration(t, at.Add(2*time.Hour), show(t, r, "valid").Expires, time.Second)
		r.start(t)
		await(t, r, "valid", completed)
		require.ErrorIs(t, awaitEnd(t, r, "expired").Err, messagingriver.ErrExpired)
		require.Equal(t, map[string]int{"valid": 1}, sentOf(service))
	})
}

// What has not begun goes back when the process stops, and nothing is in doubt.
func TestStopLeavesNothingInDoubt(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		service.InjectRandomly(1, 1, messagingtest.FaultSlow(300*time.Millisecond))
		r := t.newRig(t, newClient(t, service), messagingriver.Options{Rate: 10, Workers: 10})
		r.insert(t, messagingriver.InsertOptions{}, texts("m", 30)...)
		stop := r.start(t)
		require.Eventually(t, func() bool { return len(service.Sent()) > 3 }, patience, time.Millisecond)
		began := time.Now()
		stop()
		require.Less(t, time.Since(began), 5*time.Second)
		require.Zero(t, countOf(t, r, running))
		require.Zero(t, r.number(t, "SELECT COUNT(*) FROM JOBS WHERE queue = 'messaging_lookups'"))
		require.Equal(t, len(service.Sent()), countOf(t, r, completed))
		service.ClearFaults()
		r.start(t)
		require.Eventually(t, func() bool { return countOf(t, r, completed) == 30 }, patience, 50*time.Millisecond)
		require.Len(t, service.Sent(), 30)
	})
}

// A chat app that does not respond holds no SMS back.
func TestChannelsAreApart(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		blocked := make(chan struct{})
		client := newClient(t, service, messaging.WithTransport(func(base http.RoundTripper) http.RoundTripper {
			return roundTripper(func(request *http.Request) (*http.Response, error) {
				if strings.Contains(request.URL.Path, "chat") {
					<-blocked
				}
				return base.RoundTrip(request)
			})
		}))
		r := t.newRig(t, client, messagingriver.Options{Workers: 3})
		for _, reference := range []string{"1", "2", "3", "4", "5"} {
			r.insert(t, messagingriver.InsertOptions{}, chat("chat-"+reference))
		}
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		r.start(t)
		await(t, r, "a", completed)
		require.Zero(t, sentOf(service)["chat-1"])
		close(blocked)
	})
}

// A message that expired by the clock of the database is not sent, even if the clock of the process is behind.
func TestMessageExpiresByTheClockOfTheDatabase(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{})
		r.insert(t, messagingriver.InsertOptions{Expire: time.Hour}, text("a"))
		r.exec(t, "UPDATE JOBS SET queue = 'messaging_expired'") // as the maintenance does by the clock of the database
		r.start(t)
		require.Eventually(t, func() bool {
			state := show(t, r, "a").State
			return state == cancelled || state == completed
		}, patience, 20*time.Millisecond)
		require.Equal(t, "the message has expired", show(t, r, "a").Reason)
		require.Empty(t, service.Sent())
	})
}

// A stored reason names no wait, because it is read hours later. The record has the time.
func TestStoredReasonNamesNoWait(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		client := newClient(t, service, messaging.WithGuard(func(context.Context, messaging.Outgoing) error {
			return messaging.Postpone(8 * time.Hour)
		}))
		r := t.newRig(t, client, messagingriver.Options{})
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		r.start(t)
		record := await(t, r, "a", scheduled)
		require.Contains(t, record.Reason, "a guard postponed the message")
		require.NotContains(t, record.Reason, "try again")
		require.Greater(t, time.Until(record.Scheduled), 7*time.Hour)
	})
}

// A service may list a request that it throttled. A row that is refused proves nothing about the request after it, whose response was lost.
func TestRefusedRowIsFinalAfterASingleRequestOnly(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		options := quick()
		options.SettleFor = 3 * time.Second
		r := t.newRig(t, newClient(t, service), options)
		seed := func(reference string) {
			service.Seed(messagingtest.Sent{ReferenceID: reference, To: text(reference).To, SendStatus: "failed"})
		}
		seed("single")
		service.Inject(messagingtest.FaultDropUnread(), 1)
		r.insert(t, messagingriver.InsertOptions{}, text("single"))
		r.start(t)
		record := await(t, r, "single", cancelled)
		require.Equal(t, messaging.Refused, record.Verdict)

		seed("throttled")
		service.Inject(messagingtest.FaultStatus(http.StatusTooManyRequests, 0), 1)
		service.Inject(messagingtest.FaultDropUnread(), 1)
		r.insert(t, messagingriver.InsertOptions{}, text("throttled"))
		record = await(t, r, "throttled", discarded)
		require.Equal(t, messaging.Unknown, record.Verdict)
		require.True(t, record.MayHaveBeenSent())
		require.Contains(t, record.Reason, "a request is listed as refused, which may be an earlier one")
	})
}

// An attempt that ended before its request, such as because of a guard, leaves the request after it the only one.
func TestRefusedRowIsFinalAfterAWaitWithoutARequest(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		var asked atomic.Bool
		client := newClient(t, service, messaging.WithGuard(func(context.Context, messaging.Outgoing) error {
			if asked.CompareAndSwap(false, true) {
				return messaging.Postpone(time.Second)
			}
			return nil
		}))
		r := t.newRig(t, client, quick())
		service.Seed(messagingtest.Sent{ReferenceID: "a", To: text("a").To, SendStatus: "failed"})
		service.Inject(messagingtest.FaultDropUnread(), 1)
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		r.start(t)
		require.Equal(t, messaging.Refused, await(t, r, "a", cancelled).Verdict)
	})
}

// A process that was killed recorded no request. The row may be of a request before the one that it made.
func TestRefusedRowProvesNothingAboutAKilledProcess(t *testing.T) {
	t.Parallel()
	const reason = "a request is listed as refused, which may be an earlier one"
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), quick())
		for _, reference := range []string{"killed", "killed after an earlier doubt", "resent"} {
			service.Seed(messagingtest.Sent{ReferenceID: reference, To: text(reference).To, SendStatus: "failed"})
			r.insert(t, messagingriver.InsertOptions{}, text(reference))
		}
		abandon(t, r, t.isPostgres, "killed", `{"begun": "A"}`)
		abandon(t, r, t.isPostgres, "killed after an earlier doubt", `{"begun": "B", "ended": "A", "only_request": true, "unknown_reason": "of before"}`)
		abandon(t, r, t.isPostgres, "resent", `{"begun": "A", "river:rescue_count": 1}`)
		r.exec(t, "UPDATE JOBS SET state = 'discarded', finalized_at = created_at WHERE args->>'reference' = 'resent'")
		resolved, err := r.Resolve(t.Context(), messagingriver.Resend, smsKey("resent")) // before a lookup
		require.NoError(t, err)
		require.Equal(t, 1, resolved)
		service.SetFault("sms", text("resent").To, messagingtest.FaultDropUnread()) // lookups are not affected
		r.start(t)
		for _, reference := range []string{"killed", "killed after an earlier doubt"} {
			record := await(t, r, reference, discarded)
			require.Equal(t, messaging.Unknown, record.Verdict)
			require.Equal(t, "the outcome is unknown; "+reason, record.Reason)
		}
		record := await(t, r, "resent", discarded)
		require.Equal(t, messaging.Unknown, record.Verdict)
		require.Contains(t, record.Reason, "; then "+reason)
	})
}
