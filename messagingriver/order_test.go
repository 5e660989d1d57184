package messagingriver_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// A message that waited goes before messages of its priority that were enqueued after it was due.
func TestWaitingMessageDoesNotStarve(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		const wait = time.Second
		service := messagingtest.NewServer(t)
		var approves atomic.Bool
		client := newClient(t, service, messaging.WithGuard(func(context.Context, messaging.Outgoing) error {
			if approves.Load() {
				return nil
			}
			return messaging.Postpone(wait)
		}))
		r := t.newRig(t, client, messagingriver.Options{Workers: 1})
		r.insert(t, messagingriver.InsertOptions{}, text("waiting"))
		require.Zero(t, show(t, r, "waiting").Scheduled, "it is due")
		stop := r.start(t)
		require.Eventually(t, func() bool { return metadataOf(t, r, "waiting")["reason"] != nil }, patience, 10*time.Millisecond)
		stop()
		time.Sleep(2 * wait)
		approves.Store(true)
		r.insert(t, messagingriver.InsertOptions{}, texts("later", 20)...)
		r.start(t)
		require.Eventually(t, func() bool { return len(service.Sent()) == 21 }, patience, 20*time.Millisecond)
		require.Equal(t, "waiting", service.Sent()[0].ReferenceID)
	})
}

// A new job is due by the clock of the database, not by that of the process that enqueues it.
func TestNewJobIsDueByTheDatabase(t *testing.T) {
	t.Parallel()
	needsPostgres(t)
	client := newClient(t, messagingtest.NewServer(t))
	pool, schema := postgresPool(t, 10)
	r := rigOn(t, pool, schema, client, messagingriver.Options{}).(rigOf[pgx.Tx])
	campaign := messagingriver.InsertOptions{Campaign: "spring"}
	r.insert(t, campaign, text("first"))
	_, err := r.PauseCampaign(t.Context(), "spring")
	require.NoError(t, err)

	const due = "SELECT COUNT(*) FROM JOBS WHERE scheduled_at = now()" // which is when the transaction began
	t.Run("pgx", func(t *testing.T) {
		t.Parallel()
		tx, _, rollBack, err := r.begin(t.Context())
		require.NoError(t, err)
		defer rollBack() //nolint:errcheck // nothing is committed
		_, err = r.InsertMany(t.Context(), tx, texts("new", 2), messagingriver.InsertOptions{})
		require.NoError(t, err)
		_, err = r.InsertMany(t.Context(), tx, texts("paused", 2), campaign)
		require.NoError(t, err)
		var n int
		require.NoError(t, tx.QueryRow(t.Context(), r.tables.Replace(due)).Scan(&n))
		require.Equal(t, 4, n)
	})
	t.Run("database/sql", func(t *testing.T) {
		t.Parallel()
		outbox, err := messagingriver.NewPostgresSQL(pool, client, messagingriver.Options{Schema: schema})
		require.NoError(t, err)
		tx, err := r.db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		defer tx.Rollback() //nolint:errcheck // nothing is committed
		_, err = outbox.InsertMany(t.Context(), tx, texts("new", 2), messagingriver.InsertOptions{})
		require.NoError(t, err)
		var n int
		require.NoError(t, tx.QueryRowContext(t.Context(), r.tables.Replace(due)).Scan(&n))
		require.Equal(t, 2, n)
	})
}

// Calls that enqueue the same messages at the same time cannot deadlock, whatever the orders of their slices. For that the messages of one call
// are enqueued in the order of their reference IDs.
func TestConcurrentInsertsDoNotDeadlock(t *testing.T) {
	t.Parallel()
	needsPostgres(t)
	client := newClient(t, messagingtest.NewServer(t))
	pool, schema := postgresPool(t, 10)
	r := rigOn(t, pool, schema, client, messagingriver.Options{})
	for round := range 20 {
		messages := texts(fmt.Sprint("round", round, "-"), 500)
		backwards := slices.Clone(messages)
		slices.Reverse(backwards)
		var calls sync.WaitGroup
		for _, order := range [][]messaging.Message{messages, backwards} {
			calls.Go(func() {
				_, err := r.tryInsert(t.Context(), messagingriver.InsertOptions{}, order...)
				assert.NoError(t, err)
			})
		}
		calls.Wait()
	}
	require.Equal(t, 20*500, countOf(t, r, available))
}
