package messagingriver_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// Processes that start together may all migrate.
func TestMigrateInSeveralProcessesAtOnce(t *testing.T) {
	t.Parallel()
	needsPostgres(t)
	const processes = 8
	service := messagingtest.NewServer(t)
	pool, schema := postgresPool(t, 2)
	outboxes := make([]*messagingriver.Outbox[pgx.Tx], processes)
	for i := range outboxes {
		var err error
		outboxes[i], err = messagingriver.NewPostgres(pool, newClient(t, service), messagingriver.Options{Schema: schema})
		require.NoError(t, err)
	}
	errs := make([]error, processes)
	var group sync.WaitGroup
	for i, outbox := range outboxes {
		group.Go(func() { errs[i] = outbox.Migrate(context.WithoutCancel(t.Context())) })
	}
	group.Wait()
	require.NoError(t, errors.Join(errs...))
	require.NoError(t, outboxes[0].Start(t.Context()))
	require.NoError(t, outboxes[0].Stop(context.WithoutCancel(t.Context())))
}

// A pool of one connection, which the lock takes, is an error and no hang.
func TestMigrateWithOneConnection(t *testing.T) {
	t.Parallel()
	needsPostgres(t)
	pool, schema := postgresPool(t, 1)
	outbox, err := messagingriver.NewPostgres(pool, newClient(t, messagingtest.NewServer(t)), messagingriver.Options{Schema: schema})
	require.NoError(t, err)
	require.ErrorContains(t, outbox.Migrate(t.Context()), "Migrate needs a pool of two connections")
}

// The lock is for one schema, and ends with the context.
func TestMigrateWaitsForAnotherProcess(t *testing.T) {
	t.Parallel()
	needsPostgres(t)
	pool, schema := postgresPool(t, 4)
	client := newClient(t, messagingtest.NewServer(t))
	outbox, err := messagingriver.NewPostgres(pool, client, messagingriver.Options{Schema: schema})
	require.NoError(t, err)
	other, err := messagingriver.NewPostgres(pool, client, messagingriver.Options{Schema: schema + "_2"})
	require.NoError(t, err)
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	defer tx.Rollback(context.WithoutCancel(t.Context())) //nolint:errcheck // it ends the lock
	_, err = tx.Exec(t.Context(), "SELECT pg_advisory_xact_lock(hashtextextended('messagingriver ' || $1, 0))", schema)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	require.ErrorIs(t, outbox.Migrate(ctx), context.DeadlineExceeded)
	require.NoError(t, other.Migrate(t.Context()))
	require.NoError(t, tx.Rollback(t.Context()))
	require.NoError(t, outbox.Migrate(t.Context()))
}
