package messagingriver

import (
	"context"
	"errors"
)

// ErrNotMigrated is matched by the error of a method that does not find the tables of the outbox: call Migrate, or run "outbox migrate".
var ErrNotMigrated = errors.New("messagingriver: the database has no outbox yet: run Migrate")

// Migrate creates or updates River's tables, in their own schema on PostgreSQL, and adds the outbox's indexes. It does nothing if they are
// up to date. Call it in one process at a time, before processes of the new version start. Until the first call, errors of Insert and Start match
// ErrNotMigrated.
func (o *Outbox[TTx]) Migrate(ctx context.Context) error {
	if o.database.isPostgres {
		if err := o.createSchema(ctx); err != nil {
			return err
		}
	}
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
