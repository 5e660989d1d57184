package messagingriver

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	messaging "github.com/messaging-service/messaging-go"
)

// Outcome is what became of a message, for Options.OnOutcome.
//
// The function is called after the outcome was recorded, as a job of its own, at least once for each outcome, and in no order. If it returns
// an error or panics, it is called again later, up to 25 times; the message is not sent again. A call has
// Options.SendTimeout and 10 seconds. Enqueue another message,
// with a reference ID of its own, to send another way.
//
// It is not called for what a person decides: Resolve, CancelCampaign, or a job that is cancelled with River UI. A discarded message may be
// completed later, by the late outcome of a process that was frozen; then it is called again.
type Outcome struct {
	Key

	// State is completed, cancelled or discarded.
	State rivertype.JobState
	// Verdict is Accepted, Refused, NotSent (invalid, denied, expired, or too many failures), or Unknown.
	Verdict messaging.Verdict
	// Receipt is that of an accepted message.
	Receipt messaging.Receipt
	// Reason is why the message was not accepted. It holds no number, text or secret of the library's own.
	Reason string
	// Message is what was enqueued. It is nil if it was accepted, because its content is deleted then, or if it cannot be read.
	Message messaging.Message
	// Campaign is InsertOptions.Campaign.
	Campaign string
}

const outcomesQueue = "messaging_outcomes"

// outcomeArgs are the arguments of the job that calls OnOutcome for a message.
type outcomeArgs struct {
	// Message is the ID of the message's job.
	Message int64 `json:"message"`
}

// Kind implements river.JobArgs.
func (outcomeArgs) Kind() string { return "messaging_outcome" }

// Hooks implements river.JobArgsWithHooks. The job is due when River has written the outcome, which takes up to a quarter of a second. A job
// with a ScheduledAt would have to wait for River's scheduler.
func (outcomeArgs) Hooks() []rivertype.Hook {
	return []rivertype.Hook{river.HookInsertBeginFunc(func(_ context.Context, job *rivertype.JobInsertParams) error {
		job.ScheduledAt = new(time.Now().Add(recordingTime))
		return nil
	})}
}

const recordingTime = 500 * time.Millisecond

// ended has OnOutcome called for a message whose attempts or lookups have ended, and returns the result that ends its job. If that fails, the
// job is worked again, only to end in the same way.
func (o *Outbox[TTx]) ended(ctx context.Context, job *river.Job[messageArgs], state rivertype.JobState, reason string) error {
	if err := o.announce(ctx, job.ID); err != nil {
		o.options.Logger.WarnContext(ctx, "messagingriver: the outcome of a message cannot be announced yet", "job", job.ID, "error", err)
		set(ctx, "ends_as", state)
		set(ctx, "reason", reason)
		return river.JobSnooze(tendInterval)
	}
	switch state {
	case rivertype.JobStateCompleted:
		return nil
	case rivertype.JobStateCancelled:
		set(ctx, "reason", reason)
		return river.JobCancel(errors.New(reason))
	default:
		set(ctx, "reason", reason)
		return discard(job, errors.New(reason))
	}
}

// announce inserts the job that calls OnOutcome for a message.
func (o *Outbox[TTx]) announce(ctx context.Context, id int64) error {
	if o.options.OnOutcome == nil {
		return nil
	}
	return o.outcomes.do(ctx, outcomeArgs{Message: id}, func(ctx context.Context, all []outcomeArgs) error {
		jobs := make([]river.InsertManyParams, len(all))
		for i, args := range all {
			jobs[i] = river.InsertManyParams{Args: args, InsertOpts: &river.InsertOpts{Queue: outcomesQueue}}
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statementTimeout)
		defer cancel()
		return o.database.insertMany(ctx, jobs)
	})
}

// outcomeWorker calls OnOutcome.
type outcomeWorker[TTx any] struct {
	river.WorkerDefaults[outcomeArgs]

	outbox *Outbox[TTx]
}

// Work implements river.Worker.
func (w *outcomeWorker[TTx]) Work(ctx context.Context, job *river.Job[outcomeArgs]) error {
	o := w.outbox
	if o.options.OnOutcome == nil { // another process has it
		return river.JobSnooze(time.Minute)
	}
	row, err := o.database.get(ctx, job.Args.Message)
	if errors.Is(err, rivertype.ErrNotFound) { // kept for no longer
		return nil
	}
	if err != nil {
		return err
	}
	switch row.State {
	case rivertype.JobStateRunning: // River has not written the outcome yet
		return river.JobSnooze(recordingTime)
	case rivertype.JobStateCompleted, rivertype.JobStateCancelled, rivertype.JobStateDiscarded:
		return o.options.OnOutcome(ctx, o.outcomeOf(row))
	default: // its process died before: the lookup that settles it inserts a job like this one
		return nil
	}
}

func (o *Outbox[TTx]) outcomeOf(row *rivertype.JobRow) Outcome {
	record := o.recordOf(row)
	outcome := Outcome{Key: record.Key, State: row.State, Verdict: record.Verdict, Reason: record.Reason, Campaign: record.Campaign}
	if record.Receipt != nil {
		outcome.Receipt = *record.Receipt
	}
	if row.State != rivertype.JobStateCompleted {
		outcome.Message = record.Message
	}
	return outcome
}
