package messagingriver

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	messaging "github.com/messaging-service/messaging-go"
)

// Outcome is the final state of a message, for Options.OnOutcome.
//
// The function is called after the outcome was recorded, as a job of its own, at least once for each outcome, and in no order. If it returns
// an error or panics, it is called again later, up to 25 times; the message is not sent again. A call may take 10 seconds longer than
// Options.SendTimeout. To send another way, enqueue another message with a reference ID of its own.
//
// The function is not called for decisions of a person: Resolve, CancelCampaign, or a job that is cancelled with River UI while it waits. If
// a job is cancelled during an attempt whose outcome is then unknown, the message is looked up, and the function is called with the result. If
// a message is resolved as Sent during an attempt, the function is called with the verdict Accepted when the attempt ends. A discarded message
// may be completed later, by the late outcome of a process that was frozen; the function is then called again.
type Outcome struct {
	Key

	// State is completed, cancelled or discarded.
	State rivertype.JobState
	// Verdict is Accepted, Refused, NotSent (invalid, denied, expired, or too many failures), or Unknown.
	Verdict messaging.Verdict
	// Receipt is the receipt of an accepted message.
	Receipt messaging.Receipt
	// Reason is why the message was not accepted. The library adds no number, text or secret to it.
	Reason string
	// Err has the text of Reason. It matches the sentinel errors of package messaging that the error of the attempt matched, such as
	// messaging.ErrOptedOut or messaging.ErrWindowClosed. It is nil if the message was accepted.
	Err error
	// Message is the message as it was enqueued. It is nil after it was accepted, because its content is deleted then, and if it cannot be read.
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

// Hooks implements river.JobArgsWithHooks. The job is due when River has written the outcome, which takes up to a quarter of a second.
// The hook sets the time after River chose the state available: a job with a ScheduledAt in its options waits for River's scheduler.
func (outcomeArgs) Hooks() []rivertype.Hook {
	return []rivertype.Hook{river.HookInsertBeginFunc(func(_ context.Context, job *rivertype.JobInsertParams) error {
		job.ScheduledAt = new(time.Now().Add(recordingTime))
		return nil
	})}
}

const recordingTime = 500 * time.Millisecond

// enqueueOutcome inserts the job that calls OnOutcome for a message.
func (o *Outbox[TTx]) enqueueOutcome(ctx context.Context, id int64) error {
	if o.options.OnOutcome == nil {
		return nil
	}
	return o.outcomes.do(ctx, outcomeArgs{Message: id}, func(ctx context.Context, all []outcomeArgs) error {
		jobs := make([]river.InsertManyParams, len(all))
		for i, args := range all {
			jobs[i] = outcomeJob(args.Message)
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statementTimeout)
		defer cancel()
		return o.database.insertMany(ctx, jobs)
	})
}

// outcomeJob returns the job that calls OnOutcome for the message of a job.
func outcomeJob(message int64) river.InsertManyParams {
	return river.InsertManyParams{
		Args:       outcomeArgs{Message: message},
		InsertOpts: &river.InsertOpts{Queue: outcomesQueue},
	}
}

// outcomeWorker calls OnOutcome.
type outcomeWorker[TTx any] struct {
	river.WorkerDefaults[outcomeArgs]

	outbox *Outbox[TTx]
}

// Work implements river.Worker.
func (w *outcomeWorker[TTx]) Work(ctx context.Context, job *river.Job[outcomeArgs]) error {
	o := w.outbox
	if o.options.OnOutcome == nil { // another process calls it
		return river.JobSnooze(time.Minute)
	}
	row, err := o.database.get(ctx, job.Args.Message)
	if errors.Is(err, rivertype.ErrNotFound) { // it was kept for Options.Keep
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
	default: // the process died before it recorded the outcome, and the lookup that settles the message inserts another job
		return nil
	}
}

// outcomeOf returns the outcome that the job of a message records.
func (o *Outbox[TTx]) outcomeOf(row *rivertype.JobRow) Outcome {
	record := o.recordOf(row)
	outcome := Outcome{
		Key:      record.Key,
		State:    row.State,
		Verdict:  record.Verdict,
		Reason:   record.Reason,
		Err:      record.Err,
		Campaign: record.Campaign,
	}
	if record.Receipt != nil {
		outcome.Receipt = *record.Receipt
	}
	if row.State != rivertype.JobStateCompleted {
		outcome.Message = record.Message
	}
	return outcome
}

// errorClass is a sentinel error with its name in metadata.
type errorClass struct {
	name     string
	sentinel error
}

// errorClasses returns the sentinel errors that Outcome.Err can match.
func errorClasses() []errorClass {
	return []errorClass{
		{"invalid", messaging.ErrInvalid},
		{"unauthorized", messaging.ErrUnauthorized},
		{"forbidden", messaging.ErrForbidden},
		{"not found", messaging.ErrNotFound},
		{"not listed", messaging.ErrNotListed},
		{"filter ignored", messaging.ErrFilterIgnored},
		{"rate limited", messaging.ErrRateLimited},
		{"insufficient balance", messaging.ErrInsufficientBalance},
		{"duplicate", messaging.ErrDuplicate},
		{"window closed", messaging.ErrWindowClosed},
		{"opted out", messaging.ErrOptedOut},
		{"unreachable", messaging.ErrUnreachable},
		{"unavailable", messaging.ErrUnavailable},
		{"breaker open", messaging.ErrBreakerOpen},
		{"denied", messaging.ErrDenied},
		{"postponed", messaging.ErrPostponed},
	}
}

// classesOf returns the names of the sentinel errors that an error matches.
func classesOf(err error) []string {
	var names []string
	for _, class := range errorClasses() {
		if errors.Is(err, class.sentinel) {
			names = append(names, class.name)
		}
	}
	return names
}

// storedError is an error that was stored in metadata.
type storedError struct {
	text    string
	classes []string
}

func (e *storedError) Error() string { return e.text }

// Is reports whether the error that was stored matched a sentinel error.
func (e *storedError) Is(target error) bool {
	for _, class := range errorClasses() {
		if class.sentinel == target {
			return slices.Contains(e.classes, class.name)
		}
	}
	return false
}
