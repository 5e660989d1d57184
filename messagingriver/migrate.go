package messagingriver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivermigrate"
)

// schema creates the tables, a sequence and the indexes. The first name in each statement is that of what it creates.
const schema = `
	CREATE TABLE IF NOT EXISTS messaging_outbox (
		channel TEXT NOT NULL,
		reference TEXT NOT NULL,
		state TEXT NOT NULL,
		attempt BIGINT NOT NULL,
		message TEXT,
		receipt TEXT,
		problem TEXT NOT NULL,
		history TEXT NOT NULL, -- attempts that ended, as JSON objects separated by commas
		created_at BIGINT NOT NULL,
		began_at BIGINT,
		due_at BIGINT, -- when it is sent or looked up next, or when it became final; NULL while its campaign is paused
		not_before BIGINT NOT NULL, -- nothing is sent earlier
		expires_at BIGINT, -- nothing is sent later
		failures BIGINT NOT NULL DEFAULT 0, -- attempts that count toward max_attempts
		priority BIGINT NOT NULL,
		max_attempts BIGINT NOT NULL,
		campaign TEXT,
		worker TEXT, -- that made the last attempt
		recipient TEXT, -- if Options.InOrder
		seq BIGINT,
		PRIMARY KEY (channel, reference)
	) WITHOUT ROWID;
	CREATE TABLE IF NOT EXISTS messaging_live (worker TEXT PRIMARY KEY, seen_at BIGINT NOT NULL, rate DOUBLE PRECISION NOT NULL);
	CREATE TABLE IF NOT EXISTS messaging_pause (kind TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (kind, name)); -- by a person
	CREATE TABLE IF NOT EXISTS messaging_breaker (
		channel TEXT PRIMARY KEY, cause TEXT NOT NULL, account BIGINT NOT NULL, pause BIGINT NOT NULL, probe_at BIGINT NOT NULL);
	CREATE TABLE IF NOT EXISTS messaging_rate (name TEXT PRIMARY KEY, rate DOUBLE PRECISION, next_at DOUBLE PRECISION NOT NULL);
		INSERT INTO messaging_rate (name, rate, next_at) VALUES ('account', NULL, 0) ON CONFLICT DO NOTHING;
	CREATE SEQUENCE IF NOT EXISTS messaging_outbox_seq AS BIGINT;
	CREATE INDEX CONCURRENTLY messaging_outbox_next ON messaging_outbox (channel, priority, due_at) WHERE state = 'waiting';
	CREATE INDEX CONCURRENTLY messaging_outbox_due ON messaging_outbox (state, due_at) WHERE state <> 'waiting';
	CREATE INDEX CONCURRENTLY messaging_outbox_content ON messaging_outbox (due_at)
		WHERE message IS NOT NULL AND state IN ('refused', 'expired');
	CREATE INDEX CONCURRENTLY messaging_outbox_expires ON messaging_outbox (expires_at)
		WHERE state = 'waiting' AND expires_at IS NOT NULL;
	CREATE INDEX CONCURRENTLY messaging_outbox_campaign ON messaging_outbox (campaign, state, due_at) WHERE campaign IS NOT NULL;
	CREATE INDEX CONCURRENTLY messaging_outbox_order ON messaging_outbox (channel, recipient, seq) WHERE recipient IS NOT NULL`

// Migrate creates or updates River's tables and the outbox's. Call it in one process at a time, before processes of the new
// version start. Those of the version before can go on working meanwhile.
//
// If there is nothing to do, Migrate takes no lock. On PostgreSQL it creates indexes concurrently. It waits two seconds at a time
// for a lock, so that it holds up nobody for longer, and half a minute in all. It waits as long for older transactions before it
// builds an index. After that it returns an error, and can be called again.
func (o *Outbox[TTx]) Migrate(ctx context.Context) error {
	migrator, err := rivermigrate.New(o.database.driver, nil)
	if err != nil {
		return err
	}
	for began := time.Now(); ; {
		done, err := o.migrateOnce(ctx, migrator)
		refusal, ok := errors.AsType[*pgconn.PgError](err)
		isLocked := ok && refusal.Code == "55P03" // lock_not_available
		switch {
		case err == nil && done:
			return nil
		case err == nil, isLocked && time.Since(began) < patience:
			continue
		case isLocked, errors.Is(err, errHeld):
			err = fmt.Errorf("Migrate waited %v, and gave up; end the transactions that are open for long, and call it again: %w", patience, err)
		}
		return fmt.Errorf("messagingriver: %w", err)
	}
}

// patience is for how long Migrate waits for others.
const patience = 30 * time.Second

var errHeld = errors.New("older transactions hold the tables")

// migrateOnce makes one change, and reports whether none is left.
func (o *Outbox[TTx]) migrateOnce(ctx context.Context, migrator *rivermigrate.Migrator[TTx]) (bool, error) {
	existing, err := migrator.ExistingVersions(ctx)
	if err != nil {
		return false, err
	}
	if len(existing) < len(migrator.AllVersions()) {
		return false, o.inTx(ctx, func(tx riverdriver.ExecutorTx) error {
			one := &rivermigrate.MigrateOpts{MaxSteps: 1}
			_, err = migrator.MigrateTx(ctx, o.database.driver.UnwrapTx(tx), rivermigrate.DirectionUp, one) //nolint:staticcheck // one in each
			return err
		})
	}
	for _, definition := range strings.Split(schema, "CREATE ")[1:] {
		name, _, _ := strings.Cut(definition[strings.Index(definition, "messaging_"):], " ")
		missing, err := o.database.keys(ctx, o.database.missing, name)
		if err != nil {
			return false, err
		}
		if len(missing) == 0 {
			continue
		}
		statement := o.database.spell.Replace("CREATE " + definition)
		if strings.Contains(statement, "CONCURRENTLY") { // which no transaction can do
			return false, o.concurrently(ctx, name, statement)
		}
		return false, o.inTx(ctx, func(tx riverdriver.ExecutorTx) error { return tx.Exec(ctx, statement) })
	}
	return true, nil
}

// concurrently replaces an index. It waits for older transactions, which no lock_timeout of a transaction can bound. To build may
// take its time. What is cut off leaves an index that is invalid, and missing to the next call.
func (o *Outbox[TTx]) concurrently(ctx context.Context, index, create string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan error)
	go func() {
		executor := o.database.driver.GetExecutor()
		err := executor.Exec(ctx, "DROP INDEX CONCURRENTLY IF EXISTS "+index)
		if err == nil {
			err = executor.Exec(ctx, create)
		}
		done <- err
	}()
	for waits := time.Now(); ; {
		select {
		case err := <-done:
			return errors.Join(context.Cause(ctx), err)
		case <-time.After(time.Second):
		}
		building, err := o.database.keys(ctx, `SELECT phase, '' FROM pg_stat_progress_create_index
			WHERE relid = to_regclass('messaging_outbox') AND phase NOT LIKE 'waiting%'`)
		if err != nil || len(building) > 0 {
			waits = time.Now()
		}
		if time.Since(waits) > patience {
			cancel(errHeld)
		}
	}
}

// inTx runs a function in a transaction that waits for no lock for long, and commits it unless the function fails.
func (o *Outbox[TTx]) inTx(ctx context.Context, run func(tx riverdriver.ExecutorTx) error) error {
	tx, err := o.database.driver.GetExecutor().Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // nothing after the commit
	if o.database.patience != "" {
		if err = tx.Exec(ctx, o.database.patience); err != nil {
			return err
		}
	}
	if err = run(tx); err != nil {
		return err
	}
	return tx.Commit(ctx)
}
