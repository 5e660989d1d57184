package messagingriver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river/riverdriver"
)

// ErrNotMigrated is matched by the error of a method that does not find the tables of the outbox: call Migrate, or run "outbox migrate".
var ErrNotMigrated = errors.New("messagingriver: the database has no outbox yet: run Migrate")

// Migrate creates or updates River's tables, in their own schema on PostgreSQL, and adds the outbox's indexes. It does nothing if they are up to
// date. Call it before processes of the new version start. While it builds an index of the outbox that is missing, nothing can be enqueued or
// sent. Until the first call, errors of Insert and Start match ErrNotMigrated.
//
// On PostgreSQL several processes may call it at once: one migrates, and the others wait for it. The pool needs two connections. On SQLite, call
// it in one process at a time.
func (o *Outbox[TTx]) Migrate(ctx context.Context) error {
	if !o.database.isPostgres {
		return o.migrate(ctx)
	}
	return o.whileLocked(ctx, func() error {
		if err := o.createSchema(ctx); err != nil {
			return err
		}
		return o.migrate(ctx)
	})
}

// migrate creates or updates River's tables, and adds the outbox's indexes.
func (o *Outbox[TTx]) migrate(ctx context.Context) error {
	if err := o.database.migrate(ctx, o.options.Schema, o.options.Logger); err != nil {
		return err
	}
	for _, index := range o.database.indexes() {
		if err := o.database.execOn(ctx, o.database.executor, index); err != nil {
			return err
		}
	}
	return nil
}

// indexes returns the statements that create the outbox's indexes.
func (d *database) indexes() []string {
	if d.isPostgres {
		return []string{indexContent, indexLate}
	}
	return []string{indexContent, indexLate, indexReference}
}

// migrationPoll is the time between two attempts to get the lock of the migration. A process that waited in PostgreSQL would block statements of
// the migration that wait for all other transactions, such as CREATE INDEX CONCURRENTLY.
const migrationPoll = 100 * time.Millisecond

// whileLocked runs a function while no other process does for the same schema. It waits until ctx ends.
func (o *Outbox[TTx]) whileLocked(ctx context.Context, run func() error) error {
	for {
		isLocked := false
		err := o.database.inLongTx(ctx, func(ctx context.Context, tx riverdriver.ExecutorTx) error {
			if err := o.database.execOn(ctx, tx, allowIdle); err != nil {
				return err
			}
			if _, err := o.database.scan(ctx, tx, []any{&isLocked}, tryLockMigration, o.options.Schema); err != nil || !isLocked {
				return err
			}
			if err := o.checkConnection(ctx); err != nil {
				return err
			}
			return run()
		})
		if err != nil || isLocked {
			return err
		}
		select {
		case <-time.After(migrationPoll):
		case <-ctx.Done():
			return fmt.Errorf("messagingriver: another process migrates: %w", ctx.Err())
		}
	}
}

// checkConnection returns an error if the pool has no other connection than that of the lock, or none becomes free.
func (o *Outbox[TTx]) checkConnection(ctx context.Context) error {
	err := o.database.exec(ctx, "SELECT 1")
	isOwnTimeout := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
	if isOwnTimeout {
		return fmt.Errorf("%w; Migrate needs a pool of two connections, of which one is free", err)
	}
	return err
}

// allowIdle keeps PostgreSQL from ending the transaction of the lock, which is idle while the migration runs on another connection.
const allowIdle = `SET LOCAL idle_in_transaction_session_timeout = 0`

// tryLockMigration returns whether the transaction got the lock of the migration of a schema.
const tryLockMigration = `SELECT pg_try_advisory_xact_lock(hashtextextended('messagingriver ' || CAST($1 AS TEXT), 0))` // schema

// createSchema creates the schema of River's tables on PostgreSQL unless it exists. PostgreSQL would refuse CREATE SCHEMA IF NOT EXISTS to a role
// that may not create schemas, even if the schema exists.
func (o *Outbox[TTx]) createSchema(ctx context.Context) error {
	exists := false
	if _, err := o.database.scan(ctx, o.database.executor, []any{&exists}, hasSchema, o.options.Schema); err != nil {
		return err
	}
	if exists {
		return nil
	}
	return explain(o.database.executor.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+o.options.Schema))
}

// hasSchema returns whether PostgreSQL has a schema.
const hasSchema = `SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = CAST($1 AS TEXT))` // schema
