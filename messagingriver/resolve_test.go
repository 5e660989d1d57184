package messagingriver_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

func chatKey(reference string) messagingriver.Key {
	return messagingriver.Key{Channel: "chatapp2", Reference: reference}
}

// resolveSent resolves a message as Sent, as a handler of its delivery report does.
func resolveSent(t testing.TB, r rig, key messagingriver.Key) {
	t.Helper()
	n, err := r.Resolve(t.Context(), messagingriver.Sent, key)
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

// awaitProcessed waits until the service has processed a message.
func awaitProcessed(t testing.TB, service *messagingtest.Server) {
	t.Helper()
	require.Eventually(t, func() bool { return len(service.Sent()) == 1 }, patience, 10*time.Millisecond)
}

// The delivery report of a chat message comes before the response, and the response is lost.
func TestResolveSentDuringTheRequest(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		var got outcomes
		options := messagingriver.Options{SendTimeout: 2 * time.Second, OnOutcome: got.add}
		r := t.newRig(t, newClient(t, service), options)
		service.Inject(messagingtest.FaultSlow(time.Minute), 1)
		r.insert(t, messagingriver.InsertOptions{}, chat("a"))
		r.start(t)
		awaitProcessed(t, service)
		require.Equal(t, running, show(t, r, "a").State)
		resolveSent(t, r, chatKey("a"))
		resolveSent(t, r, chatKey("a")) // the report is repeated
		for _, decision := range []messagingriver.Decision{messagingriver.Resend, messagingriver.Drop} {
			n, err := r.Resolve(t.Context(), decision, chatKey("a"))
			require.NoError(t, err)
			require.Zero(t, n, decision)
		}

		record := await(t, r, "a", completed)
		require.Equal(t, messaging.Accepted, record.Verdict)
		require.Equal(t, "resolved as sent", record.Reason)
		require.NoError(t, record.Err)
		outcome := got.await(t, "a")
		require.Equal(t, messaging.Accepted, outcome.Verdict)
		require.Equal(t, completed, outcome.State, "it was never discarded")
		require.Empty(t, outcome.Reason)
		require.Len(t, got.of("a"), 1)
		require.Len(t, service.Sent(), 1)
	})
}

// A response after the report is recorded as usual.
func TestResolveSentKeepsTheReceipt(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), quick())
		service.Inject(messagingtest.FaultSlow(time.Second), 1)
		r.insert(t, messagingriver.InsertOptions{}, chat("a"))
		r.start(t)
		awaitProcessed(t, service)
		resolveSent(t, r, chatKey("a"))
		record := await(t, r, "a", completed)
		require.NotEmpty(t, record.Receipt.ID)
		require.Empty(t, record.Reason)
	})
}

// A message that is resolved before its request begins is not sent.
func TestResolveSentBeforeTheRequest(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		continues := make(chan struct{})
		client := newClient(t, service, messaging.WithGuard(func(context.Context, messaging.Outgoing) error {
			<-continues
			return nil
		}))
		r := t.newRig(t, client, quick())
		r.insert(t, messagingriver.InsertOptions{}, chat("a"))
		r.start(t)
		await(t, r, "a", running)
		resolveSent(t, r, chatKey("a"))
		close(continues)
		await(t, r, "a", completed)
		require.Empty(t, service.Sent())
	})
}

// A message that is resolved before a guard denies it is completed. OnOutcome does not hear that it was cancelled.
func TestResolveSentBeforeAGuardDenies(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		continues := make(chan struct{})
		client := newClient(t, service, messaging.WithGuard(func(context.Context, messaging.Outgoing) error {
			<-continues
			return messaging.ErrDenied
		}))
		got := new(outcomes)
		options := quick()
		options.OnOutcome = got.add
		r := t.newRig(t, client, options)
		r.insert(t, messagingriver.InsertOptions{}, chat("a"))
		r.start(t)
		await(t, r, "a", running)
		resolveSent(t, r, chatKey("a"))
		close(continues)
		outcome := got.await(t, "a")
		require.Equal(t, completed, outcome.State)
		require.Equal(t, messaging.Accepted, outcome.Verdict)
		require.Empty(t, service.Sent())
	})
}

// A lookup that does not find the message does not discard it.
func TestResolveSentDuringALookup(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		options := quick()
		options.SettleFor = time.Millisecond
		r := t.newRig(t, newClient(t, service), options)
		service.Inject(messagingtest.FaultDropUnread(), 1)
		service.Inject(messagingtest.FaultSlow(4*time.Second), 1)
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		r.start(t)
		before := ""
		require.Eventually(t, func() bool { // the attempt has ended, and the lookup has not
			record := show(t, r, "a")
			before = record.Reason
			return record.State == running && before != ""
		}, patience, 10*time.Millisecond)
		require.Contains(t, before, "unknown outcome")
		resolveSent(t, r, smsKey("a"))
		resolveSent(t, r, smsKey("a")) // the report is repeated
		record := await(t, r, "a", completed)
		require.Equal(t, messaging.Accepted, record.Verdict)
		require.Equal(t, "resolved as sent: "+before, record.Reason)
	})
}

// River writes the end of an attempt or a lookup after the worker has looked for the mark. The reason that it writes is not why the message
// was not sent: it was sent.
func TestResolveSentWhileTheEndOfALookupIsWritten(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		var got outcomes
		options := quick()
		options.SettleFor = time.Minute
		options.OnOutcome = got.add
		r := t.newRig(t, newClient(t, service), options)
		service.Inject(messagingtest.FaultDropUnread(), 1)
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		r.start(t)
		before := ""
		require.Eventually(t, func() bool {
			record := show(t, r, "a")
			before = record.Reason
			return record.State == available && strings.Contains(before, "unknown outcome")
		}, patience, 10*time.Millisecond)
		markResolvedSent(t, r)
		record := await(t, r, "a", completed)
		require.Equal(t, messaging.Accepted, record.Verdict)
		require.Equal(t, "resolved as sent: "+before, record.Reason)
		require.NoError(t, record.Err)
		outcome := got.await(t, "a")
		require.Equal(t, messaging.Accepted, outcome.Verdict)
		require.Empty(t, outcome.Reason, "the message was accepted")
		require.NoError(t, outcome.Err)
		require.Zero(t, outcome.Receipt)
	})
}

// markResolvedSent marks the only message as resolved as Sent and leaves everything else as its worker recorded it.
func markResolvedSent(t test, r rig) {
	t.Helper()
	merge := `jsonb_patch(metadata, '{"resolved_sent": true}')`
	if t.isPostgres {
		merge = `metadata || '{"resolved_sent": true}'`
	}
	r.exec(t, "UPDATE JOBS SET metadata = "+merge+" WHERE kind = 'messaging'")
}

// A process that was frozen may record its failure after a lookup has found the message.
func TestReasonOfALateFailureOfAnAcceptedMessage(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		r := t.newRig(t, newClient(t, messagingtest.NewServer(t)), quick())
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		r.start(t)
		await(t, r, "a", completed)
		merge := `jsonb_patch(metadata, '{"verdict": "unknown", "reason": "HTTP 503"}')`
		if t.isPostgres {
			merge = `metadata || '{"verdict": "unknown", "reason": "HTTP 503"}'`
		}
		r.exec(t, "UPDATE JOBS SET metadata = "+merge+" WHERE kind = 'messaging'")
		record := show(t, r, "a")
		require.Equal(t, messaging.Accepted, record.Verdict)
		require.NotEmpty(t, record.Receipt.ID)
		require.Empty(t, record.Reason)
	})
}

// River writes the end of an attempt after the attempt has looked for the mark.
func TestResolveSentWhileTheOutcomeIsWritten(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), quick())
		service.Inject(messagingtest.FaultAcceptThenDrop(), 1)
		r.insert(t, messagingriver.InsertOptions{}, chat("a"))
		r.start(t)
		before := await(t, r, "a", discarded).Reason
		require.NotEmpty(t, before)
		markResolvedSent(t, r)
		record := await(t, r, "a", completed)
		require.Equal(t, messaging.Accepted, record.Verdict)
		require.Equal(t, "resolved as sent: "+before, record.Reason)
	})
}

func TestResolveTx(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), quick())
		service.Inject(messagingtest.FaultStatus(http.StatusUnprocessableEntity, 0), 2)
		r.insert(t, messagingriver.InsertOptions{}, chat("sent"), chat("resend"))
		r.start(t)
		await(t, r, "sent", cancelled)
		await(t, r, "resend", cancelled)
		switch r := r.(type) {
		case rigOf[pgx.Tx]:
			resolveInTransactions(t, r)
		case rigOf[*sql.Tx]:
			resolveInTransactions(t, r)
		}
		require.Equal(t, completed, show(t, r, "sent").State)
		await(t, r, "resend", completed)
		require.Equal(t, map[string]int{"resend": 1}, sentOf(service))
	})
}

// resolveInTransactions resolves the messages of TestResolveTx, after a transaction that is rolled back.
func resolveInTransactions[TTx any](t test, r rigOf[TTx]) {
	t.Helper()
	resolve := func(end func(commit, rollBack func() error) error) {
		tx, commit, rollBack, err := r.begin(t.Context())
		require.NoError(t, err)
		n, err := r.ResolveTx(t.Context(), tx, messagingriver.Sent, chatKey("sent"), chatKey("nothing"))
		require.NoError(t, err)
		require.Equal(t, 1, n)
		n, err = r.ResolveTx(t.Context(), tx, messagingriver.Resend, chatKey("resend"))
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.NoError(t, end(commit, rollBack))
	}
	resolve(func(_, rollBack func() error) error { return rollBack() })
	require.Equal(t, cancelled, show(t, r, "sent").State)
	require.Equal(t, cancelled, show(t, r, "resend").State)
	resolve(func(commit, _ func() error) error { return commit() })

	var none TTx
	_, err := r.ResolveTx(t.Context(), none, messagingriver.Sent, chatKey("sent"))
	require.ErrorContains(t, err, "the transaction is nil")
}

// A report can have any text as its reference ID.
func TestResolveOfAReferenceThatNoMessageCanHave(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		r := t.newRig(t, newClient(t, messagingtest.NewServer(t)), messagingriver.Options{})
		for _, reference := range []string{"", "a\x00", "a\xff", strings.Repeat("a", 256), strings.Repeat("a", 1<<20)} {
			resolved, err := r.Resolve(t.Context(), messagingriver.Sent, smsKey(reference), chatKey(reference))
			require.NoError(t, err, "%.10q", reference)
			require.Zero(t, resolved)
		}
	})
}

// With one connection, Resolve waits for the transaction of its caller until its time is over.
func TestResolveInsideATransactionNamesResolveTx(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	r := sqliteRig(t, newClient(t, service), quick()).(rigOf[*sql.Tx])
	_, _, rollBack, err := r.begin(t.Context())
	require.NoError(t, err)
	_, err = r.Resolve(t.Context(), messagingriver.Sent, chatKey("a"))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "within a transaction, call ResolveTx")
	require.NoError(t, rollBack())
}

// After the end of its context, Resolve decides about nothing more.
func TestResolveEndsWithItsContext(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), quick())
		r.insert(t, messagingriver.InsertOptions{}, chat("a"), chat("b"))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		n, err := r.Resolve(ctx, messagingriver.Drop, chatKey("a"), chatKey("b"))
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, "messagingriver: ")
		require.Zero(t, n)
		require.Equal(t, available, show(t, r, "a").State)
		require.Equal(t, available, show(t, r, "b").State)
	})
}

// Outcome.Err tells a person who opted out from other refusals.
func TestOutcomeErr(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		client := newClient(t, service, messaging.WithGuard(func(_ context.Context, m messaging.Outgoing) error {
			if m.Channel == messaging.ChannelSMS {
				return messaging.ErrOptedOut
			}
			return nil
		}))
		var got outcomes
		options := quick()
		options.OnOutcome = got.add
		r := t.newRig(t, client, options)
		r.start(t)
		r.insert(t, messagingriver.InsertOptions{}, text("denied"))
		err := got.await(t, "denied").Err
		require.ErrorIs(t, err, messaging.ErrOptedOut)
		require.ErrorIs(t, err, messaging.ErrDenied)
		require.NotErrorIs(t, err, messaging.ErrWindowClosed)
		require.EqualError(t, err, got.await(t, "denied").Reason)
		require.ErrorIs(t, show(t, r, "denied").Err, messaging.ErrOptedOut)

		service.Inject(messagingtest.FaultStatus(http.StatusUnprocessableEntity, 0), 1)
		r.insert(t, messagingriver.InsertOptions{}, chat("refused"))
		err = got.await(t, "refused").Err
		require.ErrorIs(t, err, messaging.ErrInvalid)
		require.NotErrorIs(t, err, messaging.ErrOptedOut)

		service.Inject(messagingtest.FaultStatus(http.StatusTooManyRequests, time.Second), 1)
		r.insert(t, messagingriver.InsertOptions{}, chat("later"))
		outcome := got.await(t, "later")
		require.Equal(t, messaging.Accepted, outcome.Verdict)
		require.NoError(t, outcome.Err)
		require.Empty(t, outcome.Reason, "the reason of the first attempt is gone")
		require.Equal(t, json.RawMessage(nil), outcome.Receipt.Raw)
		require.Nil(t, metadataOf(t, r, "later")["classes"])
	})
}
