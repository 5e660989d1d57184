package messagingriver_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

func TestOutboxSends(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{})
		require.Equal(t, 2, r.insert(t, messagingriver.InsertOptions{}, text("a"), text("b"), text("a")))
		require.Equal(t, 1, r.insert(t, messagingriver.InsertOptions{}, text("c"), text("b")), "b is known")
		r.start(t)
		for _, reference := range []string{"a", "b", "c"} {
			record := await(t, r, reference, completed)
			require.Equal(t, messaging.Accepted, record.Verdict)
			require.NotNil(t, record.Receipt)
			require.NotEmpty(t, record.Receipt.ID)
		}
		require.Len(t, service.Sent(), 3)
		require.Equal(t, 0, r.insert(t, messagingriver.InsertOptions{}, text("a")), "a completed message keeps its reference ID")
	})
}

// A call may have more messages than one statement enqueues.
func TestInsertManyTakesAnyNumber(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		r := t.newRig(t, newClient(t, messagingtest.NewServer(t)), messagingriver.Options{})
		const before, after = 2500, 4500
		require.Equal(t, before, r.insert(t, messagingriver.InsertOptions{}, texts("m", before)...))
		require.Equal(t, after-before, r.insert(t, messagingriver.InsertOptions{}, texts("m", after)...))
		require.Equal(t, after, countOf(t, r, available))
	})
}

// The records are of the messages as the outbox has them, and not as they were given.
func TestInsertManyReturningKnown(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		r := t.newRig(t, newClient(t, messagingtest.NewServer(t)), messagingriver.Options{})
		require.Empty(t, r.insertReturningKnown(t, messagingriver.InsertOptions{Campaign: "spring"}, text("a"), chat("a"), text("a")))

		other := text("a")
		other.To = "+639181234567"
		known := r.insertReturningKnown(t, messagingriver.InsertOptions{Campaign: "summer"}, other, text("b"))
		require.Len(t, known, 1)
		stored, err := r.Get(t.Context(), "a")
		require.NoError(t, err)
		require.Contains(t, stored, known[0])
		require.Equal(t, text("a"), known[0].Message)
		require.Equal(t, "spring", known[0].Campaign)
		require.Equal(t, "summer", show(t, r, "b").Campaign)
	})
}

// A message without options and attempts needs nothing else.
func TestMetadataOfANewMessage(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		r := t.newRig(t, newClient(t, messagingtest.NewServer(t)), messagingriver.Options{})
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		var keys []string
		for key := range metadataOf(t, r, "a") {
			if !strings.HasPrefix(key, "river:") {
				keys = append(keys, key)
			}
		}
		require.Equal(t, []string{"max_attempts"}, keys)
	})
}

func TestOutboxDeletesContentOfAccepted(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{})
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		r.start(t)
		await(t, r, "a", completed)
		require.Eventually(t, func() bool { return show(t, r, "a").Message == nil }, patience, 50*time.Millisecond)
		require.Equal(t, 0, r.insert(t, messagingriver.InsertOptions{}, text("a")), "it keeps its reference ID without its content")
	})
}

// The verdicts of responses, and what becomes of the job.
func TestOutboxStates(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), quick())
		r.start(t)
		service.Inject(messagingtest.FaultStatus(http.StatusUnprocessableEntity, 0), 1)
		r.insert(t, messagingriver.InsertOptions{}, text("refused"))
		record := await(t, r, "refused", cancelled)
		require.Equal(t, messaging.Refused, record.Verdict)
		require.Contains(t, record.Reason, "422")
		require.NotNil(t, record.Message, "a person may have it sent again")

		service.Inject(messagingtest.FaultAcceptThenDrop(), 1)
		r.insert(t, messagingriver.InsertOptions{}, text("found"))
		record = await(t, r, "found", completed)
		require.NotEmpty(t, record.Receipt.ID, "the lookup has the receipt")

		service.Inject(messagingtest.FaultAcceptThenDrop(), 1)
		r.insert(t, messagingriver.InsertOptions{}, chat("chat"))
		record = await(t, r, "chat", discarded)
		require.Equal(t, messaging.Unknown, record.Verdict)

		service.Inject(messagingtest.FaultDropUnread(), 1)
		r.insert(t, messagingriver.InsertOptions{}, text("lost"))
		record = await(t, r, "lost", discarded)
		require.Contains(t, record.Reason, "is listed")

		service.Inject(messagingtest.FaultStatus(http.StatusTooManyRequests, 0), 1)
		r.insert(t, messagingriver.InsertOptions{}, text("throttled"))
		record = await(t, r, "throttled", completed)
		require.Zero(t, record.Failures)
	})
}

func TestInsertNamesTheBadMessage(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{})
		bad := text("second")
		bad.To = "nobody"
		_, err := r.tryInsert(t.Context(), messagingriver.InsertOptions{}, text("first"), bad)
		require.ErrorIs(t, err, messaging.ErrInvalid)
		require.ErrorContains(t, err, `messages[1], reference "second"`)
		require.NotContains(t, err.Error(), "nobody")
		_, err = r.tryInsert(t.Context(), messagingriver.InsertOptions{}, text(""))
		require.ErrorContains(t, err, "ReferenceID: want 1 to 255 bytes")
		_, err = r.tryInsert(t.Context(), messagingriver.InsertOptions{}, text(strings.Repeat("x", 256)))
		require.ErrorContains(t, err, "got 256 bytes")
		require.Zero(t, r.number(t, "SELECT COUNT(*) FROM JOBS"))
	})
}

// The error of a single message has no index.
func TestInsertOfABadMessage(t *testing.T) {
	t.Parallel()
	db := openPoolOfOne(t)
	outbox, err := messagingriver.NewSQLite(db, newClient(t, messagingtest.NewServer(t)), messagingriver.Options{})
	require.NoError(t, err)
	require.NoError(t, outbox.Migrate(t.Context()))
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer tx.Rollback() //nolint:errcheck // nothing was written
	isNew, err := outbox.Insert(t.Context(), tx, text(""))
	require.ErrorIs(t, err, messaging.ErrInvalid)
	require.ErrorContains(t, err, "messagingriver: ReferenceID: want 1 to 255 bytes")
	require.False(t, isNew)
}

func TestErrorsBeforeMigrateMatchErrNotMigrated(t *testing.T) {
	t.Parallel()
	client := newClient(t, messagingtest.NewServer(t))
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		db := openPoolOfOne(t)
		o, err := messagingriver.NewSQLite(db, client, messagingriver.Options{})
		require.NoError(t, err)
		tx, err := db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		_, insertErr := o.Insert(t.Context(), tx, text("a"))
		require.NoError(t, tx.Rollback())
		requireNotMigrated(t, o, insertErr)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		needsPostgres(t)
		pool, schema := postgresPool(t, 2)
		o, err := messagingriver.NewPostgres(pool, client, messagingriver.Options{Schema: schema})
		require.NoError(t, err)
		tx, err := pool.Begin(t.Context())
		require.NoError(t, err)
		_, insertErr := o.Insert(t.Context(), tx, text("a"))
		require.NoError(t, tx.Rollback(t.Context()))
		requireNotMigrated(t, o, insertErr)
	})
}

// requireNotMigrated requires that the error of Insert, and those of other methods, say once that the outbox has no tables.
func requireNotMigrated[TTx any](t *testing.T, o *messagingriver.Outbox[TTx], insertErr error) {
	t.Helper()
	startErr := o.Start(t.Context())
	_, resolveErr := o.Resolve(t.Context(), messagingriver.Drop, messagingriver.Key{Channel: "sms", Reference: "a"})
	_, statusErr := o.Status(t.Context())
	for _, err := range []error{insertErr, startErr, resolveErr, statusErr} {
		require.ErrorIs(t, err, messagingriver.ErrNotMigrated)
		require.Equal(t, 1, strings.Count(err.Error(), "run Migrate"), err)
	}
}
