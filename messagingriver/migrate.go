package messagingriver

import "context"

// hasContent is the condition that a message was accepted and still has its content.
const hasContent = "kind = 'messaging' AND state = 'completed' AND args->'message' IS NOT NULL"

// Migrate creates or updates River's tables, in their own schema on PostgreSQL, and adds the outbox's indexes. It does nothing if they are
// up to date. Call it in one process at a time, before processes of the new version start. Before that, Insert and Start return an error.
func (o *Outbox[TTx]) Migrate(ctx context.Context) error {
	if o.database.isPostgres {
		if err := o.database.executor.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+o.options.Schema); err != nil {
			return o.database.explain(err)
		}
	}
	if err := o.database.migrate(ctx, o.options.Schema, o.options.Logger); err != nil {
		return err
	}
	statements := []string{"CREATE INDEX IF NOT EXISTS messaging_content ON JOBS (id) WHERE " + hasContent}
	if !o.database.isPostgres { // on PostgreSQL River has an index of the arguments
		statements = append(statements, "CREATE INDEX IF NOT EXISTS messaging_reference ON JOBS (args->>'reference')")
	}
	for _, statement := range statements {
		if err := o.database.executor.Exec(ctx, o.database.dialect.Replace(statement)); err != nil {
			return o.database.explain(err)
		}
	}
	return nil
}
