package messagingriver

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"
)

// maintain runs the outbox's periodic maintenance until ctx ends.
func (o *Outbox[TTx]) maintain(ctx context.Context) {
	ticker := time.NewTicker(maintenanceInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		difference, err := o.clockDifference(ctx)
		switch {
		case err != nil:
			if ctx.Err() == nil {
				o.options.Logger.WarnContext(ctx, "messagingriver: the database cannot be reached", "error", err)
			}
		case difference > maxClockDifference:
			o.suspend(ctx, difference)
		default:
			o.unsuspend(ctx)
			o.runMaintenance(ctx)
		}
	}
}

// suspend stops River while the clock of this process is wrong.
func (o *Outbox[TTx]) suspend(ctx context.Context, difference time.Duration) {
	worker := o.process.worker()
	if worker == nil {
		return
	}
	o.options.Logger.ErrorContext(ctx, "messagingriver: this process does not work, because its clock differs from the database's",
		"difference", difference.Round(time.Second), "allowed", maxClockDifference)
	if worker.Stop(ctx) != nil { // the outbox stops
		return
	}
	o.process.setWorker(nil)
}

// unsuspend starts River again after suspend.
func (o *Outbox[TTx]) unsuspend(ctx context.Context) {
	if o.process.worker() != nil {
		return
	}
	worker, err := o.startWorker(ctx)
	if err != nil {
		o.options.Logger.ErrorContext(ctx, "messagingriver: this process cannot work again", "error", err)
		return
	}
	o.process.setWorker(worker)
}

// runMaintenance does what no job does for itself.
func (o *Outbox[TTx]) runMaintenance(ctx context.Context) {
	warn := func(failure string, err error) {
		if err != nil && ctx.Err() == nil {
			o.options.Logger.WarnContext(ctx, "messagingriver: a maintenance step failed and will run again", "because", failure, "error", err)
		}
	}
	warn("rescued messages cannot be moved", o.database.exec(ctx, o.moveRescued(), lookups))
	warn("cancelled messages cannot be looked up", o.database.exec(ctx, o.lookUpCancelled(), lookups))
	warn("late outcomes cannot be recorded", o.recordLateOutcomes(ctx))
	warn("the content of accepted messages cannot be deleted", o.database.exec(ctx, `
		UPDATE JOBS SET args = WITHOUT_MESSAGE WHERE id IN (SELECT id FROM JOBS WHERE `+hasContent+` LIMIT 5000)`))
	warn("jobs of outcomes cannot be deleted", o.database.exec(ctx, `
		DELETE FROM JOBS WHERE kind = 'messaging_outcome' AND state = 'completed'`))
	for channel := range o.channels {
		warn("expired messages cannot be moved", o.database.exec(ctx, o.moveExpired(), expired, queueOf(channel)))
	}
	warn("paused queues cannot be read", o.replaceProbes(ctx))
}

// moveExpired returns the statement that moves expired messages from the queue of a channel to the queue of expired messages, where a worker
// cancels them. In their own queue they would wait behind others, or until a pause ends.
func (o *Outbox[TTx]) moveExpired() string {
	return `UPDATE JOBS SET queue = $1, state = 'available', scheduled_at = NOW WHERE id IN (
		SELECT id FROM JOBS WHERE kind = 'messaging' AND queue = $2 AND state IN ('available', 'retryable', 'scheduled')
			AND HAS_EXPIRED AND NOT (` + o.isRescuedInDoubt() + `) LIMIT 1000 SKIP_LOCKED)`
}

// replaceProbes chooses another probe in each channel that the outbox paused and whose probe died or expired.
func (o *Outbox[TTx]) replaceProbes(ctx context.Context) error {
	var paused []string
	if err := o.readJSON(ctx, &paused, "SELECT LIST(name) FROM QUEUES WHERE "+pausedByOutbox); err != nil {
		return err
	}
	for channel := range o.channels {
		if slices.Contains(paused, queueOf(channel)) {
			o.nextProbe(ctx, channel)
		}
	}
	return nil
}

// moveRescued returns the statement that moves messages in doubt, whose process died, to the queue of lookups. In their own queue they
// would wait behind their campaign, or until a pause ends.
func (o *Outbox[TTx]) moveRescued() string {
	return `UPDATE JOBS SET queue = $1 WHERE kind = 'messaging' AND queue <> $1 AND state IN ('available', 'retryable', 'scheduled') AND ` +
		o.isRescuedInDoubt()
}

// isRescuedInDoubt returns the condition that a message was rescued from a process that may have sent it.
func (o *Outbox[TTx]) isRescuedInDoubt() string {
	if o.database.isPostgres {
		return "metadata->'river:rescue_count' IS NOT NULL AND COALESCE(metadata->>'begun', '') <> COALESCE(metadata->>'ended', '')"
	}
	return "metadata->'river:rescue_count' IS NOT NULL AND COALESCE(metadata->>'answered', 0) <> metadata->>'river:rescue_count'"
}

// lookUpCancelled returns the statement that queues cancelled messages for a lookup if they may have been sent. A person cancelled the job
// during an attempt that ended with an unknown outcome or died, or a process that was frozen cancelled it during the attempt of another
// process.
func (o *Outbox[TTx]) lookUpCancelled() string {
	return `UPDATE JOBS SET queue = $1, state = 'available', finalized_at = NULL, scheduled_at = NOW, metadata = LOOKED_UP_AFTER_CANCEL
		WHERE kind = 'messaging' AND state = 'cancelled' AND args->'message' IS NOT NULL
			AND (metadata->>'verdict' = 'unknown' OR ` + o.isRescuedInDoubt() + `)`
}

// wasSent is the condition that a message was recorded as accepted, or resolved as Sent.
const wasSent = "(COALESCE(metadata->>'verdict', '') = 'accepted' OR metadata->'resolved_sent' IS NOT NULL)"

// recordLateOutcomes completes messages that were discarded or cancelled before a process that was frozen recorded them as accepted, or while
// they were resolved as Sent.
func (o *Outbox[TTx]) recordLateOutcomes(ctx context.Context) error {
	params := river.NewJobListParams().Kinds(messageKind).First(1000).
		States(rivertype.JobStateDiscarded, rivertype.JobStateCancelled).Where(wasSent)
	found, err := o.database.list(ctx, params)
	if err != nil {
		return fmt.Errorf("messagingriver: %w", err)
	}
	for _, job := range found.Jobs {
		if err := o.recordLateOutcome(ctx, job.ID); err != nil {
			return err
		}
	}
	return nil
}

// recordLateOutcome completes a message and enqueues the call of OnOutcome, in one transaction.
func (o *Outbox[TTx]) recordLateOutcome(ctx context.Context, id int64) error {
	const statement = `UPDATE JOBS SET state = 'completed', finalized_at = NOW
		WHERE id = $1 AND state IN ('discarded', 'cancelled') AND ` + wasSent + " RETURNING id"
	return o.database.inTx(ctx, func(ctx context.Context, tx riverdriver.ExecutorTx) error {
		isCompleted, err := o.database.scan(ctx, tx, []any{&id}, statement, id)
		isAwaited := isCompleted && o.options.OnOutcome != nil
		if err != nil || !isAwaited {
			return err
		}
		return o.database.explain(o.database.insertTx(ctx, tx, outcomeJob(id)))
	})
}
