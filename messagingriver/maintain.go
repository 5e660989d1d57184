package messagingriver

import (
	"context"
	"errors"
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
		if o.superviseClock(ctx) {
			o.runMaintenance(ctx)
		}
	}
}

// maintenanceStep is a part of the maintenance: what no job does for itself.
type maintenanceStep struct {
	name string
	run  func(ctx context.Context) error
}

// maintenanceSteps returns the steps of the maintenance. None depends on another.
func (o *Outbox[TTx]) maintenanceSteps() []maintenanceStep {
	return []maintenanceStep{
		{"look up rescued messages", o.lookUpRescued},
		{"look up cancelled messages", o.lookUpCancelled},
		{"record late outcomes", o.recordLateOutcomes},
		{"delete the content of accepted messages", o.deleteContent},
		{"delete jobs of outcomes", o.deleteOutcomeJobs},
		{"move expired messages", o.moveExpired},
		{"replace probes", o.replaceProbes},
	}
}

// runMaintenance runs each step once. A step that fails does not keep the others from running.
func (o *Outbox[TTx]) runMaintenance(ctx context.Context) {
	for _, step := range o.maintenanceSteps() {
		err := step.run(ctx)
		if err != nil && ctx.Err() == nil {
			o.options.Logger.WarnContext(ctx, "messagingriver: a maintenance step failed and will run again", "step", step.name, "error", err)
		}
	}
}

// lookUpRescued moves messages in doubt, whose process died, to the queue of lookups. In their own queue they would wait behind their
// campaign, or until a pause ends.
func (o *Outbox[TTx]) lookUpRescued(ctx context.Context) error {
	statement := `UPDATE JOBS SET queue = $1 WHERE kind = 'messaging' AND queue <> $1
		AND state IN ('available', 'retryable', 'scheduled') AND ` + o.isRescuedInDoubt()
	return o.database.exec(ctx, statement, lookups)
}

// lookUpCancelled queues cancelled messages for a lookup if they may have been sent. A person cancelled the job during an attempt that ended
// with an unknown outcome or died, or a process that was frozen cancelled it during the attempt of another process.
func (o *Outbox[TTx]) lookUpCancelled(ctx context.Context) error {
	statement := `
		UPDATE JOBS SET queue = $1, state = 'available', finalized_at = NULL, scheduled_at = NOW,
			metadata = MERGE_AFTER_CANCEL('{"cancelled": true}')
		WHERE kind = 'messaging' AND state = 'cancelled' AND args->'message' IS NOT NULL
			AND (metadata->>'verdict' = 'unknown' OR ` + o.isRescuedInDoubt() + `)`
	return o.database.exec(ctx, statement, lookups)
}

// isRescuedInDoubt returns the condition that a message was rescued from a process that may have sent it.
func (o *Outbox[TTx]) isRescuedInDoubt() string {
	if o.database.isPostgres {
		return `metadata->'river:rescue_count' IS NOT NULL
			AND COALESCE(metadata->>'begun', '') NOT IN ('', COALESCE(metadata->>'ended', ''), COALESCE(metadata->>'unsent', ''))`
	}
	return "metadata->'river:rescue_count' IS NOT NULL AND COALESCE(metadata->>'answered', 0) <> metadata->>'river:rescue_count'"
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
		WHERE id = $1 AND state IN ('discarded', 'cancelled') AND ` + wasSent
	return o.database.inTx(ctx, func(ctx context.Context, tx riverdriver.ExecutorTx) error {
		isCompleted, err := o.database.changeOne(ctx, tx, statement, id)
		isAwaited := isCompleted && o.options.OnOutcome != nil
		if err != nil || !isAwaited {
			return err
		}
		return o.database.explain(o.database.insertTx(ctx, tx, outcomeJob(id)))
	})
}

// deleteContent deletes the content of messages that were accepted.
func (o *Outbox[TTx]) deleteContent(ctx context.Context) error {
	return o.database.exec(ctx, `
		UPDATE JOBS SET args = WITHOUT_MESSAGE WHERE id IN (SELECT id FROM JOBS WHERE `+hasContent+` LIMIT 5000)`)
}

// deleteOutcomeJobs deletes the jobs that have called OnOutcome.
func (o *Outbox[TTx]) deleteOutcomeJobs(ctx context.Context) error {
	return o.database.exec(ctx, "DELETE FROM JOBS WHERE kind = 'messaging_outcome' AND state = 'completed'")
}

// moveExpired moves expired messages from the queues of the channels to the queue of expired messages, where a worker cancels them. In their
// own queue they would wait behind others, or until a pause ends.
func (o *Outbox[TTx]) moveExpired(ctx context.Context) error {
	statement := `UPDATE JOBS SET queue = $1, state = 'available', scheduled_at = NOW WHERE id IN (
		SELECT id FROM JOBS WHERE kind = 'messaging' AND queue = $2 AND state IN ('available', 'retryable', 'scheduled')
			AND HAS_EXPIRED AND NOT (` + o.isRescuedInDoubt() + `) LIMIT 1000 SKIP_LOCKED)`
	var errs error
	for channel := range o.channels {
		errs = errors.Join(errs, o.database.exec(ctx, statement, expired, queueOf(channel)))
	}
	return errs
}

// replaceProbes chooses another probe in each channel that the outbox paused and whose probe died or expired.
func (o *Outbox[TTx]) replaceProbes(ctx context.Context) error {
	var paused []string
	if err := o.readJSON(ctx, &paused, "SELECT LIST(name) FROM QUEUES WHERE "+pausedByOutbox); err != nil {
		return err
	}
	for channel := range o.channels {
		if slices.Contains(paused, queueOf(channel)) {
			o.pauseOf(channel).choose(ctx)
		}
	}
	return nil
}
