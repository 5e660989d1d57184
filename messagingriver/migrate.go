package messagingriver

import "context"

// Migrate creates or updates River's tables, in their own schema on PostgreSQL, and adds the outbox's indexes. It does nothing if they are
// up to date. Call it in one process at a time, before processes of the new version start. Before that, Insert and Start return an error.
func (o *Outbox[TTx]) Migrate(ctx context.Context) error {
	if o.database.isPostgres {
		if err := o.database.executor.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+o.options.Schema); err != nil {
			return explain(err)
		}
	}
	if err := o.database.migrate(ctx, o.options.Schema, o.options.Logger); err != nil {
		return err
	}
	if err := o.database.execOn(ctx, o.database.executor, indexContent); err != nil {
		return err
	}
	if o.database.isPostgres {
		return nil
	}
	return o.database.execOn(ctx, o.database.executor, indexReference)
}
