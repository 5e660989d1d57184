package messagingriver

import "context"

// hasMoreContent returns whether more messages have content to delete than one run of deleteContent deletes.
const hasMoreContent = `SELECT EXISTS (SELECT 1 FROM river_job WHERE ` + hasContent + ` LIMIT 1 OFFSET 1000)`

// deleteContent deletes the content of messages that were accepted. It takes at most statementTimeout.
func (o *Outbox[TTx]) deleteContent(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	for {
		hasMore := false
		if _, err := o.database.scan(ctx, o.database.executor, []any{&hasMore}, hasMoreContent); err != nil {
			return err
		}
		if err := o.database.execOn(ctx, o.database.executor, o.database.statements.deleteContent); err != nil {
			return err
		}
		if !hasMore {
			return nil
		}
	}
}

// deleteEarlierContent deletes the content of accepted messages when the process starts: a process that was killed may have left some.
// Maintenance deletes whatever is left.
func (o *Outbox[TTx]) deleteEarlierContent(ctx context.Context) {
	if err := o.deleteContent(ctx); err != nil && ctx.Err() == nil {
		o.options.Logger.WarnContext(ctx, "messagingriver: the content of accepted messages cannot be deleted yet", "error", err)
	}
}

// deleteLastContent deletes the content of the messages that were accepted since the last maintenance. It is for Stop, after the workers have
// ended. Maintenance deletes whatever is left: that of another process, or of the next process at its start.
func (o *Outbox[TTx]) deleteLastContent(ctx context.Context) {
	if err := o.deleteContent(ctx); err != nil {
		o.options.Logger.WarnContext(ctx, "messagingriver: the content of accepted messages remains until the outbox is started again", "error", err)
	}
}
