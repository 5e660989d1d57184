package messagingriver_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
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

// The transaction of the lock is idle while the migration runs on another connection. PostgreSQL may end idle transactions.
func TestMigrateWhereIdleTransactionsEnd(t *testing.T) {
	t.Parallel()
	needsPostgres(t)
	pool, schema := postgresPool(t, 2)
	config := pool.Config()
	config.ConnConfig.RuntimeParams["idle_in_transaction_session_timeout"] = "1s"
	strict, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(strict.Close)
	outbox, err := messagingriver.NewPostgres(strict, newClient(t, messagingtest.NewServer(t)), messagingriver.Options{Schema: schema})
	require.NoError(t, err)
	require.NoError(t, outbox.Migrate(t.Context()))

	// The next migration builds an index, and waits for a transaction that writes.
	_, err = pool.Exec(t.Context(), "DROP INDEX "+schema+".messaging_late")
	require.NoError(t, err)
	writing, err := pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = writing.Exec(t.Context(), "LOCK TABLE "+schema+".river_job IN ROW EXCLUSIVE MODE")
	require.NoError(t, err)
	migrated := make(chan error, 1)
	go func() { migrated <- outbox.Migrate(context.WithoutCancel(t.Context())) }()
	time.Sleep(3 * time.Second)
	require.NoError(t, writing.Commit(t.Context()))
	require.NoError(t, <-migrated)
}

// The deadline of the caller says nothing about the size of the pool.
func TestMigrateUntilADeadline(t *testing.T) {
	t.Parallel()
	needsPostgres(t)
	pool, schema := postgresPool(t, 2)
	busy, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	t.Cleanup(busy.Release)
	outbox, err := messagingriver.NewPostgres(pool, newClient(t, messagingtest.NewServer(t)), messagingriver.Options{Schema: schema})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	err = outbox.Migrate(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotContains(t, err.Error(), "two connections")
}
