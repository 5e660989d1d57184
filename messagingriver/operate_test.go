package messagingriver_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

func smsKey(reference string) messagingriver.Key {
	return messagingriver.Key{Channel: "sms", Reference: reference}
}

// So what a program does in the transaction of a drop, such as to enqueue an SMS in place of the message, it does once.
func TestDroppedMessageIsNotDroppedAgain(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		r := t.newRig(t, newClient(t, messagingtest.NewServer(t)), messagingriver.Options{})
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		for _, want := range []int{1, 0} {
			n, err := r.Resolve(t.Context(), messagingriver.Drop, smsKey("a"))
			require.NoError(t, err)
			require.Equal(t, want, n)
		}
		require.Equal(t, "dropped", show(t, r, "a").Reason)
	})
}

// A message that is resent has as many attempts as a new one, although River counts those before. River would discard it before its last attempt,
// and OnOutcome would not be called.
func TestResendGrantsAttempts(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		got := new(outcomes)
		options := quick()
		options.OnOutcome = got.add
		client := newClient(t, messagingtest.NewServer(t), messaging.WithGuard(func(context.Context, messaging.Outgoing) error { panic("a mistake") }))
		r := t.newRig(t, client, options)
		r.insert(t, messagingriver.InsertOptions{MaxAttempts: 2}, text("a"), text("b"))
		r.exec(t, "UPDATE JOBS SET state = 'discarded', finalized_at = created_at, attempt = max_attempts - 1")
		r.exec(t, "UPDATE JOBS SET attempt = 32000, max_attempts = 32001 WHERE args->>'reference' = 'b'")
		for _, reference := range []string{"a", "b"} {
			resolved, err := r.Resolve(t.Context(), messagingriver.Resend, smsKey(reference))
			require.NoError(t, err)
			require.Equal(t, 1, resolved)
		}
		require.Equal(t, 32767, r.number(t, "SELECT max_attempts FROM JOBS WHERE args->>'reference' = 'b'"), "the most that a column holds")
		r.start(t)
		require.Equal(t, discarded, got.await(t, "a").State)
	})
}

// A message that has expired would only be cancelled again, and OnOutcome called again.
func TestResendLeavesAnExpiredMessage(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		r := t.newRig(t, newClient(t, messagingtest.NewServer(t)), messagingriver.Options{})
		r.insert(t, messagingriver.InsertOptions{Expire: time.Millisecond}, text("expired"))
		r.insert(t, messagingriver.InsertOptions{Expire: time.Hour}, text("valid"))
		r.exec(t, "UPDATE JOBS SET state = 'discarded', finalized_at = created_at")
		time.Sleep(100 * time.Millisecond) // far longer than a millisecond, by the clock of the database
		n, err := r.Resolve(t.Context(), messagingriver.Resend, smsKey("expired"), smsKey("valid"))
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, discarded, show(t, r, "expired").State)
		require.Equal(t, available, show(t, r, "valid").State)
	})
}

// A person says that a message with an unknown outcome did not go out. It has expired, so OnOutcome can send a fallback, once.
func TestResendOfAnExpiredMessageInDoubt(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, r, got := newOutcomeRig(t)
		service.Inject(messagingtest.FaultDropUnread(), 2)
		r.insert(t, messagingriver.InsertOptions{Expire: time.Hour}, chat("lost"), chat("killed"))
		abandon(t, r, t.isPostgres, "killed", `{"begun": "A"}`)
		r.start(t)
		for _, reference := range []string{"lost", "killed"} {
			require.Equal(t, messaging.Unknown, await(t, r, reference, discarded).Verdict)
			require.Equal(t, messaging.Unknown, got.await(t, reference).Verdict)
		}
		expire(t, r, "lost")
		expire(t, r, "killed")
		resend := func() int {
			n, err := r.Resolve(t.Context(), messagingriver.Resend, chatKey("lost"), chatKey("killed"))
			require.NoError(t, err)
			return n
		}
		require.Equal(t, 2, resend())
		for _, reference := range []string{"lost", "killed"} {
			record := await(t, r, reference, cancelled)
			require.Equal(t, messaging.NotSent, record.Verdict)
			require.Contains(t, record.Reason, "expired")
			require.Eventually(t, func() bool { return len(got.of(reference)) == 2 }, patience, 10*time.Millisecond)
			outcome := got.of(reference)[1]
			require.Equal(t, messaging.NotSent, outcome.Verdict)
			require.Equal(t, cancelled, outcome.State)
			require.Equal(t, chat(reference), outcome.Message, "it can be sent another way")
		}
		require.Zero(t, resend(), "nothing is in doubt any more")
		time.Sleep(time.Second)
		for _, reference := range []string{"lost", "killed"} {
			require.Len(t, got.of(reference), 2, reference)
		}
		require.Empty(t, service.Sent())
	})
}

// The person need not wait until the lookups of an expired SMS end.
func TestResendOfAnExpiredMessageThatIsLookedUp(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		var got outcomes
		options := quick()
		options.SettleFor = time.Hour
		options.OnOutcome = got.add
		r := t.newRig(t, newClient(t, service), options)
		service.Inject(messagingtest.FaultDropUnread(), 1)
		r.insert(t, messagingriver.InsertOptions{Expire: time.Hour}, text("a"))
		r.start(t)
		require.Eventually(t, func() bool { return !show(t, r, "a").DoubtEnds.IsZero() }, patience, 10*time.Millisecond)
		expire(t, r, "a")
		require.Eventually(t, func() bool { // once no lookup is under way
			n, err := r.Resolve(t.Context(), messagingriver.Resend, smsKey("a"))
			return err == nil && n == 1
		}, patience, 10*time.Millisecond)
		require.Equal(t, messaging.NotSent, await(t, r, "a", cancelled).Verdict)
		require.Equal(t, messaging.NotSent, got.await(t, "a").Verdict)
		time.Sleep(time.Second)
		require.Len(t, got.of("a"), 1)
		require.Empty(t, service.Sent())
	})
}

// On SQLite a lookup that left a message in doubt may be the only trace of the doubt.
func TestResendOfAnExpiredMessageThatALookupLeftInDoubt(t *testing.T) {
	t.Parallel()
	r := sqliteRig(t, newClient(t, messagingtest.NewServer(t)), messagingriver.Options{})
	r.insert(t, messagingriver.InsertOptions{Expire: time.Millisecond}, chat("a"))
	r.exec(t, `UPDATE JOBS SET state = 'discarded', finalized_at = created_at, metadata = jsonb_patch(metadata, '{"in_doubt": true}')`)
	time.Sleep(100 * time.Millisecond)
	n, err := r.Resolve(t.Context(), messagingriver.Resend, chatKey("a"))
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

// resolveChats carries out a decision about chat messages and returns how many it applied to.
func resolveChats(t testing.TB, r rig, decision messagingriver.Decision, references ...string) int {
	t.Helper()
	var keys []messagingriver.Key
	for _, reference := range references {
		keys = append(keys, chatKey(reference))
	}
	n, err := r.Resolve(t.Context(), decision, keys...)
	require.NoError(t, err)
	return n
}

// mergeMetadataOf changes members of the metadata of a message's job.
func mergeMetadataOf(t test, r rig, reference, members string) {
	t.Helper()
	if t.isPostgres {
		r.exec(t, "UPDATE JOBS SET metadata = metadata || CAST($2 AS JSONB) WHERE args->>'reference' = $1", reference, members)
		return
	}
	r.exec(t, "UPDATE JOBS SET metadata = jsonb_patch(metadata, ?2) WHERE args->>'reference' = ?1", reference, members)
}

// expire makes a message expire in the past.
func expire(t test, r rig, reference string) {
	t.Helper()
	mergeMetadataOf(t, r, reference, `{"expires": "2026-05-01T09:00:00Z"}`)
}

// A person says that messages with an unknown outcome did not go out. OnOutcome can send a fallback, even while the channel is paused. Then the
// messages can no longer be sent.
func TestResolveNotSent(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, r, got := newOutcomeRig(t)
		sends := sendsOf(service)
		service.Inject(messagingtest.FaultDropUnread(), 1)
		r.insert(t, messagingriver.InsertOptions{}, chat("lost"), chat("killed"))
		abandon(t, r, t.isPostgres, "killed", `{"begun": "A"}`)
		r.start(t)
		for _, reference := range []string{"lost", "killed"} {
			record := await(t, r, reference, discarded)
			require.Equal(t, messaging.Unknown, record.Verdict)
			require.False(t, record.ResolvedNotSent)
			outcome := got.await(t, reference)
			require.Equal(t, messaging.Unknown, outcome.Verdict)
			require.False(t, outcome.ResolvedNotSent)
		}
		require.NoError(t, r.PauseChannel(t.Context(), "chatapp2"))
		require.Equal(t, 2, resolveChats(t, r, messagingriver.NotSent, "lost", "killed"))
		for _, reference := range []string{"lost", "killed"} {
			record := await(t, r, reference, cancelled)
			require.Equal(t, messaging.NotSent, record.Verdict)
			require.True(t, record.ResolvedNotSent)
			require.False(t, record.MayHaveBeenSent())
			require.Regexp(t, "^resolved as not sent: .*outcome", record.Reason)
			require.Eventually(t, func() bool { return len(got.of(reference)) == 2 }, patience, 10*time.Millisecond)
			outcome := got.of(reference)[1]
			require.Equal(t, messaging.NotSent, outcome.Verdict)
			require.True(t, outcome.ResolvedNotSent)
			require.False(t, outcome.MayHaveBeenSent())
			require.Equal(t, chat(reference), outcome.Message, "it can be sent another way")
		}
		require.Zero(t, resolveChats(t, r, messagingriver.Resend, "lost", "killed"))
		require.Zero(t, resolveChats(t, r, messagingriver.NotSent, "lost", "killed"))

		require.NoError(t, r.ResumeChannel(t.Context(), "chatapp2"))
		r.retry(t, show(t, r, "lost").Job) // the button of River UI reports the outcome once more
		require.Eventually(t, func() bool { return len(got.of("lost")) == 3 }, patience, 10*time.Millisecond)
		mergeMetadataOf(t, r, "killed", `{"verdict": "unknown"}`) // a process that was frozen records it late
		time.Sleep(6 * time.Second)                               // longer than between two runs of the maintenance
		require.Equal(t, messaging.NotSent, await(t, r, "lost", cancelled).Verdict)
		require.Equal(t, cancelled, show(t, r, "killed").State)
		require.Len(t, got.of("lost"), 3)
		require.Len(t, got.of("killed"), 2)
		require.EqualValues(t, 1, sends.Load(), "only the request that was lost")

		require.Equal(t, 1, resolveChats(t, r, messagingriver.Drop, "lost"), "a fallback drops it once")
		require.Zero(t, resolveChats(t, r, messagingriver.Drop, "lost"))
	})
}

// A process dies while it ends a message that was resolved as NotSent. Another ends it, and calls OnOutcome until it returns nil.
func TestResolveNotSentSurvivesAKill(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		sends := sendsOf(service)
		got := outcomes{fail: 1}
		options := quick()
		options.OnOutcome = got.add
		r := t.newRig(t, newClient(t, service), options)
		r.insert(t, messagingriver.InsertOptions{}, chat("a"))
		abandon(t, r, t.isPostgres, "a", `{"begun": "A", "verdict": "unknown", "reason": "HTTP 503"}`)
		r.exec(t, "UPDATE JOBS SET state = 'discarded', finalized_at = attempted_at")
		require.Equal(t, 1, resolveChats(t, r, messagingriver.NotSent, "a"))
		require.Equal(t, "resolved as not sent: HTTP 503", show(t, r, "a").Reason)
		for _, queue := range []string{"messaging_expired", "messaging_lookups"} { // the second after a rescue on SQLite
			r.exec(t, "UPDATE JOBS SET queue = $1", queue)
			require.Zero(t, resolveChats(t, r, messagingriver.Resend, "a"))
			require.Zero(t, resolveChats(t, r, messagingriver.NotSent, "a"))
		}
		abandon(t, r, t.isPostgres, "a", `{}`)
		for _, decision := range []messagingriver.Decision{messagingriver.Resend, messagingriver.NotSent, messagingriver.Drop} {
			require.Zero(t, resolveChats(t, r, decision, "a"), "a worker has it")
		}
		r.start(t)
		record := await(t, r, "a", cancelled)
		require.Equal(t, messaging.NotSent, record.Verdict)
		require.Equal(t, "resolved as not sent: HTTP 503", record.Reason)
		require.Eventually(t, func() bool { return len(got.of("a")) == 2 }, patience, 10*time.Millisecond)
		for _, outcome := range got.of("a") {
			require.Equal(t, messaging.NotSent, outcome.Verdict)
		}
		require.Zero(t, sends.Load())
	})
}

// NotSent changes no message whose outcome is known, that is looked up, or that a worker has: its program may have sent a fallback already, or the
// outbox may send it.
func TestResolveNotSentLeavesOtherMessages(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		r := t.newRig(t, newClient(t, messagingtest.NewServer(t)), messagingriver.Options{})
		for name, tt := range map[string]struct{ state, queue, metadata string }{
			"waits":              {"available", "messaging_chatapp2", `{}`},
			"worked":             {"running", "messaging_chatapp2", `{"begun": "A"}`},
			"looked up":          {"scheduled", "messaging_lookups", `{"verdict": "unknown"}`},
			"attempts used up":   {"discarded", "messaging_chatapp2", `{"verdict": "not sent"}`},
			"refused":            {"cancelled", "messaging_chatapp2", `{"verdict": "refused"}`},
			"cancelled in doubt": {"cancelled", "messaging_chatapp2", `{"verdict": "unknown"}`},
			"resolved as sent":   {"discarded", "messaging_chatapp2", `{"verdict": "unknown", "resolved_sent": true}`},
			"accepted late":      {"discarded", "messaging_chatapp2", `{"verdict": "accepted"}`},
			"completed":          {"completed", "messaging_chatapp2", `{"verdict": "unknown"}`},
		} {
			r.insert(t, messagingriver.InsertOptions{}, chat(name))
			mergeMetadataOf(t, r, name, tt.metadata)
			state := "'" + tt.state + "'"
			r.exec(t, "UPDATE JOBS SET queue = $1, state = "+state+", finalized_at = CASE WHEN "+state+
				" IN ('completed', 'cancelled', 'discarded') THEN created_at END WHERE args->>'reference' = $2", tt.queue, name)
			require.Zero(t, resolveChats(t, r, messagingriver.NotSent, name), name)
			require.EqualValues(t, tt.state, show(t, r, name).State, name)
		}
	})
}

// A message that no worker ever had was not sent, even after it was dropped.
func TestMessageIsNotSentBeforeItsFirstAttempt(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		r := t.newRig(t, newClient(t, messagingtest.NewServer(t)), quick())
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		require.Equal(t, messaging.NotSent, show(t, r, "a").Verdict)
		require.NoError(t, show(t, r, "a").Err)
		n, err := r.Resolve(t.Context(), messagingriver.Drop, smsKey("a"))
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, messaging.NotSent, show(t, r, "a").Verdict)
	})
}

// A message that is sent again was not sent, as the person said.
func TestResentMessageWaits(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), quick())
		service.Inject(messagingtest.FaultDropUnread(), 1)
		r.insert(t, messagingriver.InsertOptions{}, chat("a"))
		stop := r.start(t)
		await(t, r, "a", discarded)
		stop()
		n, err := r.Resolve(t.Context(), messagingriver.Resend, chatKey("a"))
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, messaging.NotSent, show(t, r, "a").Verdict)
	})
}

// The record says when the doubt about a message ends.
func TestDoubtEnds(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		options := quick()
		options.SettleFor = time.Hour
		r := t.newRig(t, newClient(t, service), options)
		service.Inject(messagingtest.FaultDropUnread(), 1)
		r.insert(t, messagingriver.InsertOptions{}, text("looked up"), chat("killed"))
		abandon(t, r, t.isPostgres, "killed", `{"begun": "A"}`)
		require.Zero(t, show(t, r, "looked up").DoubtEnds)
		r.start(t)
		endOf := func(reference string) time.Time {
			require.Eventually(t, func() bool { return !show(t, r, reference).DoubtEnds.IsZero() }, patience, 10*time.Millisecond, reference)
			return show(t, r, reference).DoubtEnds
		}
		require.WithinDuration(t, time.Now().Add(time.Hour), endOf("looked up"), time.Minute)
		require.WithinDuration(t, time.Now(), endOf("killed"), time.Minute)
		await(t, r, "killed", discarded)
		require.Zero(t, show(t, r, "killed").DoubtEnds)
	})
}

// The outcome of an attempt may be recorded after its message was discarded.
func TestResendLeavesAnAcceptedMessage(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{})
		r.insert(t, messagingriver.InsertOptions{}, text("late"))
		r.exec(t, "UPDATE JOBS SET state = 'discarded', finalized_at = created_at")
		if t.isPostgres {
			r.exec(t, `UPDATE JOBS SET metadata = metadata || '{"verdict": "accepted"}'`)
		} else {
			r.exec(t, `UPDATE JOBS SET metadata = jsonb_patch(metadata, '{"verdict": "accepted"}')`)
		}
		n, err := r.Resolve(t.Context(), messagingriver.Resend, smsKey("late"))
		require.NoError(t, err)
		require.Zero(t, n)
		r.start(t)
		await(t, r, "late", completed)
		require.Empty(t, service.Sent())
	})
}

func TestShowRejectsAnUnknownReference(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{})
		_, err := r.Get(t.Context(), "nothing")
		require.ErrorContains(t, err, `"nothing"`)
		r.insert(t, messagingriver.InsertOptions{Campaign: "spring", Priority: messagingriver.Urgent}, text("a"), chat("a"))
		records, err := r.Get(t.Context(), "a")
		require.NoError(t, err)
		require.Len(t, records, 2, "one for each channel")
		require.Equal(t, "spring", records[0].Campaign)
		require.Equal(t, messagingriver.Urgent, records[0].Priority)
		require.Equal(t, available, records[0].State)
	})
}

// GetTx returns what the transaction has done so far, on its own connection.
func TestGetTx(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		r := t.newRig(t, newClient(t, messagingtest.NewServer(t)), messagingriver.Options{})
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		switch r := r.(type) {
		case rigOf[pgx.Tx]:
			getInTransaction(t, r)
		case rigOf[*sql.Tx]:
			getInTransaction(t, r)
		}
		require.Equal(t, available, show(t, r, "a").State, "the transaction was rolled back")
	})
}

// getInTransaction gets the messages of TestGetTx in a transaction that is rolled back.
func getInTransaction[TTx any](t test, r rigOf[TTx]) {
	t.Helper()
	tx, _, rollBack, err := r.begin(t.Context())
	require.NoError(t, err)
	defer rollBack() //nolint:errcheck // it was rolled back before
	_, err = r.InsertMany(t.Context(), tx, []messaging.Message{chat("a")}, messagingriver.InsertOptions{Campaign: "spring"})
	require.NoError(t, err)
	_, err = r.ResolveTx(t.Context(), tx, messagingriver.Drop, smsKey("a"))
	require.NoError(t, err)
	records, err := r.GetTx(t.Context(), tx, "a")
	require.NoError(t, err)
	found := map[string]messagingriver.Record{}
	for _, record := range records {
		found[record.Channel] = record
	}
	require.Len(t, found, 2)
	require.Equal(t, cancelled, found["sms"].State)
	require.Equal(t, "spring", found["chatapp2"].Campaign)
	for _, reference := range []string{"nothing", "a\x00", "a\xff", strings.Repeat("a", 256)} {
		resolved, err := r.ResolveTx(t.Context(), tx, messagingriver.Drop, smsKey(reference))
		require.NoError(t, err)
		require.Zero(t, resolved)
		_, err = r.GetTx(t.Context(), tx, reference)
		require.ErrorIs(t, err, messaging.ErrNotFound)
	}
	records, err = r.GetTx(t.Context(), tx, "a")
	require.NoError(t, err, "the transaction goes on")
	require.Len(t, records, 2)
	require.NoError(t, rollBack())
	for _, reference := range []string{"nothing", "a\x00", "a\xff"} {
		_, err = r.Get(t.Context(), reference)
		require.ErrorIs(t, err, messaging.ErrNotFound)
	}

	var none TTx
	_, err = r.GetTx(t.Context(), none, "a")
	require.ErrorContains(t, err, "the transaction is nil")
}

func TestResolveRejectsAnUnknownChannel(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		r := t.newRig(t, newClient(t, messagingtest.NewServer(t)), quick())
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		for _, channel := range []string{"", "SMS", "mail"} {
			n, err := r.Resolve(t.Context(), messagingriver.Drop, smsKey("a"), messagingriver.Key{Channel: channel, Reference: "a"})
			require.ErrorContains(t, err, "keys[1].Channel is \""+channel+"\"; want one of chatapp1, chatapp2, sms")
			require.Zero(t, n)
		}
		require.Equal(t, available, show(t, r, "a").State, "nothing is decided")
	})
}

func TestResolve(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), quick())
		service.Inject(messagingtest.FaultStatus(http.StatusUnprocessableEntity, 0), 3)
		r.insert(t, messagingriver.InsertOptions{}, text("sent"), text("resend"), text("drop"))
		stop := r.start(t)
		for _, reference := range []string{"sent", "resend", "drop"} {
			await(t, r, reference, cancelled)
		}
		stop()
		resolve := func(decision messagingriver.Decision, references ...string) int {
			var keys []messagingriver.Key
			for _, reference := range references {
				keys = append(keys, smsKey(reference))
			}
			n, err := r.Resolve(t.Context(), decision, keys...)
			require.NoError(t, err)
			return n
		}
		refused := 0
		for record, err := range r.Cancelled(t.Context()) {
			require.NoError(t, err)
			require.Contains(t, record.Reason, "422")
			refused++
		}
		require.Equal(t, 3, refused)
		require.Equal(t, 1, resolve(messagingriver.Sent, "sent", "nothing"))
		require.Equal(t, completed, show(t, r, "sent").State)
		require.Equal(t, messaging.Accepted, show(t, r, "sent").Verdict)
		require.Equal(t, 0, resolve(messagingriver.Sent, "sent"), "it is completed")
		require.Equal(t, 0, resolve(messagingriver.Resend, "sent"))
		require.Equal(t, 1, resolve(messagingriver.Drop, "drop"))
		require.Equal(t, 0, resolve(messagingriver.Resend, "drop"), "its content is deleted")
		require.Nil(t, show(t, r, "drop").Message)
		require.Equal(t, 1, resolve(messagingriver.Resend, "resend"))
		r.start(t)
		await(t, r, "resend", completed)
		require.Equal(t, map[string]int{"resend": 1}, sentOf(service))
		_, err := r.Resolve(t.Context(), "burn", smsKey("a"))
		require.ErrorContains(t, err, `"burn"`)
	})
}

// A message that was cancelled in River can be resent. It stays uncancelled when the service refuses its first request because of a rate limit.
func TestResendAfterCancelInRiver(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), quick())
		service.Inject(messagingtest.FaultStatus(http.StatusTooManyRequests, time.Second), 1)
		r.insert(t, messagingriver.InsertOptions{At: time.Now().Add(time.Hour)}, text("a"))
		r.cancel(t, show(t, r, "a").Job)
		require.Equal(t, cancelled, show(t, r, "a").State)
		n, err := r.Resolve(t.Context(), messagingriver.Resend, smsKey("a"))
		require.NoError(t, err)
		require.Equal(t, 1, n)
		r.start(t)
		require.Equal(t, completed, awaitEnd(t, r, "a").State)
		require.Equal(t, map[string]int{"a": 1}, sentOf(service))
	})
}

// A waiting message can be dropped, and a message that is looked up can be resolved.
func TestResolveWaitingAndUnknown(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		options := quick()
		options.SettleFor = time.Hour
		r := t.newRig(t, newClient(t, service), options)
		r.insert(t, messagingriver.InsertOptions{At: time.Now().Add(time.Hour)}, text("later"))
		service.Inject(messagingtest.FaultDropUnread(), 2)
		r.insert(t, messagingriver.InsertOptions{}, text("lost"), text("known"))
		r.start(t)
		for _, reference := range []string{"lost", "known"} {
			require.Eventually(t, func() bool {
				record := show(t, r, reference)
				return record.Verdict == messaging.Unknown && record.Reason != "" && record.State != running
			}, patience, 10*time.Millisecond)
		}
		resolveOne := func(decision messagingriver.Decision, key messagingriver.Key) {
			require.Eventually(t, func() bool {
				n, err := r.Resolve(t.Context(), decision, key)
				return err == nil && n == 1
			}, patience, 50*time.Millisecond)
		}
		resolveOne(messagingriver.Drop, smsKey("later"))
		resolveOne(messagingriver.Resend, smsKey("lost"))
		resolveOne(messagingriver.Sent, smsKey("known"))
		await(t, r, "lost", completed)
		require.Equal(t, cancelled, show(t, r, "later").State)
		await(t, r, "known", completed) // later, if a lookup was under way
		require.Equal(t, map[string]int{"lost": 1}, sentOf(service))
	})
}

func TestParkedYieldsAll(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{})
		r.insert(t, messagingriver.InsertOptions{}, texts("m", 1200)...)
		r.exec(t, "UPDATE JOBS SET state = 'discarded', finalized_at = created_at")
		seen := map[string]bool{}
		for record, err := range r.Discarded(t.Context()) {
			require.NoError(t, err)
			seen[record.Reference] = true
		}
		require.Len(t, seen, 1200)
		for _, err := range r.Discarded(t.Context()) {
			require.NoError(t, err)
			break
		}
	})
}

func TestCampaign(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		const messages = 1000
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{})
		r.insert(t, messagingriver.InsertOptions{Campaign: "spring"}, texts("s", messages)...)
		r.insert(t, messagingriver.InsertOptions{Campaign: "autumn", At: time.Now().Add(time.Hour)}, texts("a", 10)...)
		n, err := r.PauseCampaign(t.Context(), "spring")
		require.NoError(t, err)
		require.Equal(t, messages, n)
		r.insert(t, messagingriver.InsertOptions{Campaign: "spring"}, texts("more", 10)...)
		r.insert(t, messagingriver.InsertOptions{}, text("other"))
		r.start(t)
		await(t, r, "other", completed)
		time.Sleep(500 * time.Millisecond)
		require.Len(t, service.Sent(), 1, "the campaign is paused, also for what comes later")
		n, err = r.CancelCampaign(t.Context(), "autumn")
		require.NoError(t, err)
		require.Equal(t, 10, n)
		require.Nil(t, show(t, r, "a3").Message)
		campaigns, err := r.Campaigns(t.Context())
		require.NoError(t, err)
		require.Len(t, campaigns, 2)
		require.Equal(t, "autumn", campaigns[0].Name)
		require.Equal(t, 10, campaigns[0].States[cancelled])
		require.Equal(t, messages+10, campaigns[1].States[pending])
		n, err = r.ResumeCampaign(t.Context(), "spring")
		require.NoError(t, err)
		require.Equal(t, messages+10, n)
		require.Eventually(t, func() bool { return len(service.Sent()) == messages+11 }, patience, 50*time.Millisecond)
		_, err = r.PauseCampaign(t.Context(), "winter")
		require.ErrorContains(t, err, `there is no campaign "winter"`)
		require.ErrorIs(t, err, messaging.ErrNotFound)
		_, err = r.Campaigns(t.Context(), "winter")
		require.ErrorContains(t, err, `there is no campaign "winter"`)
		require.ErrorIs(t, err, messaging.ErrNotFound)
	})
}

// A message that was not waiting when its campaign was paused, because its attempt was under way, is not sent after its process was killed.
func TestPausedCampaignRepeatsNoAttempt(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		isPostponed := atomic.Bool{}
		isPostponed.Store(true)
		guard := func(context.Context, messaging.Outgoing) error {
			if isPostponed.Load() {
				return messaging.Postpone(10 * time.Second)
			}
			return nil
		}
		r := t.newRig(t, newClient(t, service, messaging.WithGuard(guard)), messagingriver.Options{})
		r.insert(t, messagingriver.InsertOptions{Campaign: "spring"}, texts("m", 2)...)
		stop := r.start(t)
		require.Eventually(t, func() bool { return countOf(t, r, scheduled) == 2 }, patience, 10*time.Millisecond)
		stop()
		isPostponed.Store(false)
		n, err := r.PauseCampaign(t.Context(), "spring")
		require.NoError(t, err)
		require.Equal(t, 2, n)
		r.exec(t, "UPDATE JOBS SET state = 'available', scheduled_at = created_at WHERE args->>'reference' = 'm0'") // as a rescue leaves it
		r.start(t)
		await(t, r, "m0", scheduled)
		require.Equal(t, "its campaign is paused", show(t, r, "m0").Reason)
		require.Empty(t, service.Sent())
		_, err = r.ResumeCampaign(t.Context(), "spring")
		require.NoError(t, err)
		require.Eventually(t, func() bool { return len(service.Sent()) == 2 }, patience, 50*time.Millisecond)
	})
}

// A guard that postponed messages for hours is asked again, once its setting is right. Messages that the program wants later stay, and so does a
// probe: the service may want it later.
func TestResumeCampaignAsksTheGuardAgain(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		isPostponed := atomic.Bool{}
		isPostponed.Store(true)
		guard := func(context.Context, messaging.Outgoing) error {
			if isPostponed.Load() {
				return messaging.Postpone(8 * time.Hour)
			}
			return nil
		}
		r := t.newRig(t, newClient(t, service, messaging.WithGuard(guard)), messagingriver.Options{})
		r.insert(t, messagingriver.InsertOptions{Campaign: "spring"}, text("waits"), text("paused"), text("probe"))
		r.insert(t, messagingriver.InsertOptions{}, text("other"))
		stop := r.start(t)
		require.Eventually(t, func() bool { return countOf(t, r, scheduled) == 4 }, patience, 10*time.Millisecond)
		stop()
		isPostponed.Store(false)
		r.insert(t, messagingriver.InsertOptions{Campaign: "spring", At: time.Now().Add(time.Hour)}, text("later"))
		r.exec(t, "UPDATE JOBS SET state = 'pending' WHERE args->>'reference' = 'paused'")
		r.exec(t, "UPDATE JOBS SET queue = 'messaging_sms_probe' WHERE args->>'reference' = 'probe'")

		n, err := r.ResumeCampaign(t.Context(), "spring")
		require.NoError(t, err)
		require.Equal(t, 2, n)
		for _, reference := range []string{"later", "probe", "other"} {
			require.Equal(t, scheduled, show(t, r, reference).State, reference)
			require.Greater(t, time.Until(show(t, r, reference).Scheduled), 30*time.Minute, reference)
		}
		r.start(t)
		await(t, r, "waits", completed)
		await(t, r, "paused", completed)
		require.Len(t, service.Sent(), 2)
	})
}

// ResumeCampaign does not wait for messages that River's scheduler has locked because they are due: the two could wait for each other.
func TestResumeCampaignSkipsLockedMessages(t *testing.T) {
	t.Parallel()
	needsPostgres(t)
	service := messagingtest.NewServer(t)
	r := postgresRig(t, newClient(t, service), messagingriver.Options{})
	r.insert(t, messagingriver.InsertOptions{Campaign: "spring"}, texts("m", 2)...)
	r.exec(t, `UPDATE JOBS SET state = 'scheduled', scheduled_at = now() + interval '8 hours',
		metadata = metadata || '{"verdict": "not sent", "classes": ["postponed"]}'`)
	on := r.(rigOf[pgx.Tx])
	scheduler, err := on.db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer scheduler.Rollback() //nolint:errcheck // after a failed test
	_, err = scheduler.ExecContext(t.Context(), on.tables.Replace("SELECT id FROM JOBS WHERE args->>'reference' = 'm0' FOR UPDATE"))
	require.NoError(t, err)

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	n, err := r.ResumeCampaign(ctx, "spring")
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, available, show(t, r, "m1").State)
	require.NoError(t, scheduler.Rollback())
	n, err = r.ResumeCampaign(t.Context(), "spring")
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

// The error of the last attempt may be old, but a message that may have been sent is not worked by its campaign.
func TestResumeCampaignLeavesUnknownMessages(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		r := t.newRig(t, newClient(t, messagingtest.NewServer(t)), messagingriver.Options{})
		r.insert(t, messagingriver.InsertOptions{Campaign: "spring", At: time.Now().Add(time.Hour)}, text("a"))
		mergeMetadata(t, r, `{"verdict": "unknown", "classes": ["postponed"]}`)
		n, err := r.ResumeCampaign(t.Context(), "spring")
		require.NoError(t, err)
		require.Zero(t, n)
		require.Equal(t, scheduled, show(t, r, "a").State)
	})
}

func TestStatus(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{})
		r.insert(t, messagingriver.InsertOptions{}, texts("m", 3)...)
		r.insert(t, messagingriver.InsertOptions{At: time.Now().Add(time.Hour)}, text("later"))
		time.Sleep(1500 * time.Millisecond)
		status, err := r.Status(t.Context())
		require.NoError(t, err)
		require.Len(t, status, 3)
		channel := status[2]
		require.Equal(t, "sms", channel.Channel)
		require.Equal(t, 3, channel.States[available])
		require.Equal(t, 1, channel.States[scheduled])
		require.GreaterOrEqual(t, channel.Oldest, time.Second)
		require.Less(t, channel.Oldest, time.Minute)
		require.False(t, channel.Paused)
	})
}

// A message that was looked up and completed is not looked up any more.
func TestStatusCountsLookups(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{})
		r.insert(t, messagingriver.InsertOptions{}, text("found"), text("sought"))
		r.exec(t, "UPDATE JOBS SET queue = 'messaging_lookups'")
		r.exec(t, "UPDATE JOBS SET state = 'completed', finalized_at = created_at WHERE args->>'reference' = 'found'")
		status, err := r.Status(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, status[2].LookedUp)
	})
}

// After the rescue of a killed attempt, a chat-app message is in the queue of lookups too, until it is discarded.
func TestStatusCountsLookupsOfSMSOnly(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{})
		r.insert(t, messagingriver.InsertOptions{}, text("sms"), chat("chat"))
		r.exec(t, "UPDATE JOBS SET queue = 'messaging_lookups'")
		status, err := r.Status(t.Context())
		require.NoError(t, err)
		lookups := map[string]int{}
		for _, channel := range status {
			lookups[channel.Channel] = channel.LookedUp
		}
		require.Equal(t, map[string]int{"chatapp1": 0, "chatapp2": 0, "sms": 1}, lookups)
	})
}

// A rescued message that may have been sent is looked up. Its campaign can neither pause nor cancel it.
func TestCampaignLeavesMessagesInDoubt(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{})
		r.insert(t, messagingriver.InsertOptions{Campaign: "spring"}, text("doubt"), text("waiting"))
		abandon(t, r, t.isPostgres, "doubt", `{"begun": "A", "river:rescue_count": 1}`)
		r.exec(t, "UPDATE JOBS SET state = 'available'")
		paused, err := r.PauseCampaign(t.Context(), "spring")
		require.NoError(t, err)
		require.Equal(t, 1, paused)
		stopped, err := r.CancelCampaign(t.Context(), "spring")
		require.NoError(t, err)
		require.Equal(t, 1, stopped)
		require.Equal(t, available, show(t, r, "doubt").State)
		require.NotNil(t, show(t, r, "doubt").Message)
	})
}

// A message whose outcome is unknown stays in its own queue if it cannot be moved to the queue of lookups. Its campaign can neither pause nor
// cancel it.
func TestCampaignLeavesUnknownMessages(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{})
		r.insert(t, messagingriver.InsertOptions{Campaign: "spring"}, text("a"))
		mergeMetadata(t, r, `{"verdict": "unknown"}`)
		paused, err := r.PauseCampaign(t.Context(), "spring")
		require.NoError(t, err)
		require.Zero(t, paused)
		stopped, err := r.CancelCampaign(t.Context(), "spring")
		require.NoError(t, err)
		require.Zero(t, stopped)
		require.NotNil(t, show(t, r, "a").Message)
	})
}

// A message that has its outcome is no longer stopped, although the call of OnOutcome could not be enqueued yet.
func TestCampaignLeavesAMessageWithAnOutcome(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{})
		r.insert(t, messagingriver.InsertOptions{Campaign: "spring"}, text("a"))
		mergeMetadata(t, r, `{"verdict": "accepted", "ends_as": "completed"}`)
		paused, err := r.PauseCampaign(t.Context(), "spring")
		require.NoError(t, err)
		require.Zero(t, paused)
		stopped, err := r.CancelCampaign(t.Context(), "spring")
		require.NoError(t, err)
		require.Zero(t, stopped)
		require.Equal(t, available, show(t, r, "a").State)
		r.start(t)
		await(t, r, "a", completed)
		require.Empty(t, service.Sent())
	})
}

// The record of a message whose campaign was cancelled does not match the error of an earlier attempt.
func TestCancelCampaignReplacesTheError(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{})
		r.insert(t, messagingriver.InsertOptions{Campaign: "spring"}, text("a"))
		mergeMetadata(t, r, `{"verdict": "refused", "reason": "too many requests", "classes": ["rate limited"]}`)
		require.ErrorIs(t, show(t, r, "a").Err, messaging.ErrRateLimited)
		_, err := r.CancelCampaign(t.Context(), "spring")
		require.NoError(t, err)
		err = show(t, r, "a").Err
		require.EqualError(t, err, "its campaign was cancelled")
		require.NotErrorIs(t, err, messaging.ErrRateLimited)
	})
}

// mergeMetadata merges an object into the metadata of all jobs.
func mergeMetadata(t test, r rig, object string) {
	t.Helper()
	if t.isPostgres {
		r.exec(t, "UPDATE JOBS SET metadata = metadata || CAST($1 AS JSONB)", object)
		return
	}
	r.exec(t, "UPDATE JOBS SET metadata = jsonb_patch(metadata, ?1)", object)
}

// A message is kept for Keep after it was completed or cancelled, and a discarded one until a person decides.
func TestKeep(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{Keep: 48 * time.Hour})
		for i, state := range []string{"completed", "cancelled", "discarded", "completed"} {
			reference := fmt.Sprint(state, i)
			r.insert(t, messagingriver.InsertOptions{}, text(reference))
			age := "-49 hours"
			if i == 3 {
				age = "-47 hours"
			}
			if t.isPostgres {
				r.exec(t, "UPDATE JOBS SET state = CAST(CAST($2 AS TEXT) AS "+stateType(r)+"), finalized_at = now() + CAST(CAST($3 AS TEXT) AS INTERVAL) WHERE args->>'reference' = $1", reference, state, age)
				continue
			}
			r.exec(t, "UPDATE JOBS SET state = ?2, finalized_at = datetime('now', 'subsec', ?3) WHERE args->>'reference' = ?1", reference, state, age)
		}
		r.start(t)
		require.Eventually(t, func() bool {
			return r.number(t, "SELECT COUNT(*) FROM JOBS WHERE kind = 'messaging'") == 2
		}, patience, 100*time.Millisecond)
		show(t, r, "discarded2")
		show(t, r, "completed3")
	})
}
