package messagingriver

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"
)

// maintenanceInterval is the time between two runs of the outbox's maintenance.
const maintenanceInterval = 5 * time.Second

// maintain runs the outbox's periodic maintenance until the run is stopped. It begins with the content that a killed process left.
func (o *Outbox[TTx]) maintain(r *run) {
	ticker := time.NewTicker(maintenanceInterval)
	defer ticker.Stop()
	o.deleteEarlierContent(r.ctx)
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-ticker.C:
		}
		if o.superviseClock(r) {
			o.runMaintenance(r.ctx)
		}
	}
}

// maintenanceStep is a step of the maintenance, which does what a job cannot do for itself.
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
	return o.database.exec(ctx, o.database.statements.moveInDoubt, queueLookups)
}

// lookUpCancelled queues cancelled messages for a lookup if they may have been sent. A person cancelled the job during an attempt that ended
// with an unknown outcome or died, or a process that was frozen cancelled it during the attempt of another process.
func (o *Outbox[TTx]) lookUpCancelled(ctx context.Context) error {
	return o.database.exec(ctx, o.database.statements.reviveCancelled, queueLookups)
}

// recordLateOutcomes completes messages that were discarded or cancelled before a process that was frozen recorded them as accepted, or while
// they were resolved as Sent. It begins no further one after statementTimeout; the next run of the maintenance goes on.
func (o *Outbox[TTx]) recordLateOutcomes(ctx context.Context) error {
	params := river.NewJobListParams().Kinds(messageKind).First(1000).
		States(rivertype.JobStateDiscarded, rivertype.JobStateCancelled).Where(isLate) // with the condition of its index
	found, err := o.database.list(ctx, params)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	var errs error
	for _, job := range found.Jobs {
		if ctx.Err() != nil {
			break
		}
		errs = errors.Join(errs, o.recordLateOutcome(ctx, job.ID))
	}
	return errs
}

// recordLateOutcome completes a message and enqueues the call of OnOutcome, in one transaction.
func (o *Outbox[TTx]) recordLateOutcome(ctx context.Context, id int64) error {
	return o.database.inTx(ctx, func(ctx context.Context, tx riverdriver.ExecutorTx) error {
		isCompleted, err := o.database.changeOne(ctx, tx, o.database.statements.completeLate, id)
		isAwaited := isCompleted && o.options.OnOutcome != nil
		if err != nil || !isAwaited {
			return err
		}
		return o.database.insertTx(ctx, tx, outcomeJob(id))
	})
}

// deleteOutcomeJobs deletes the jobs that have called OnOutcome.
func (o *Outbox[TTx]) deleteOutcomeJobs(ctx context.Context) error {
	return o.database.exec(ctx, deleteOutcomeJobs)
}

// moveExpired moves expired messages from the queues of the channels to the queue of expired messages, where a worker cancels them. In the
// queue of their channel they would wait behind others, or until a pause ends. A probe would keep others from probing until it is due.
func (o *Outbox[TTx]) moveExpired(ctx context.Context) error {
	var errs error
	for channel := range o.channels {
		waitingErr := o.database.exec(ctx, o.database.statements.moveExpired, queueExpired, queueOf(channel))
		probesErr := o.database.exec(ctx, o.database.statements.moveExpired, queueExpired, probesOf(channel))
		errs = errors.Join(errs, waitingErr, probesErr)
	}
	return errs
}

// replaceProbes chooses another probe in each channel that the outbox paused and whose probe died or expired. If a person resumed a channel, its
// probe becomes an ordinary message, which is due at once.
func (o *Outbox[TTx]) replaceProbes(ctx context.Context) error {
	var paused []string
	if err := o.database.readJSON(ctx, &paused, o.database.statements.queuesOnHold); err != nil {
		return err
	}
	var errs error
	for channel := range o.channels {
		if slices.Contains(paused, queueOf(channel)) {
			o.pauseOf(channel).choose(ctx)
			continue
		}
		err := o.database.exec(ctx, o.database.statements.releaseForgotten, queueOf(channel), probesOf(channel))
		errs = errors.Join(errs, err)
	}
	return errs
}
