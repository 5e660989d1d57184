package messagingriver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	messaging "github.com/messaging-service/messaging-go"
)

// Outcome is the final state of a message, for Options.OnOutcome.
//
// The function is called after the outcome was recorded, as a job of its own, at least once for each outcome, and in no order. If it returns
// an error or panics, the outbox logs a warning and calls it again, until it returns nil. The waits between the calls grow to 10 minutes. The
// message is not sent again. If the message is deleted first, after Options.Keep, the outbox logs a warning and the calls end.
//
// A call may take 10 seconds longer than Options.SendTimeout. To send another way, enqueue another message with a reference ID of its own, unless
// MayHaveBeenSent returns true.
//
// The function is not called for a person's decision: Resolve, ResolveTx, CancelCampaign, or a job that is cancelled with River UI while it waits
// or during an attempt that sent nothing and would be repeated. But a message that was resent leads to a call when it ends, as NotSent if it had
// expired, and so does one that was resolved as NotSent. Each call gets the outcome that the message has at that time. So an outcome that a person
// decides about before the function was called with it, such as while the function returns errors, is not reported.
//
// If a job is cancelled during an attempt whose outcome is then unknown, the message is looked up, and the function is called with the result. If
// a message is resolved as Sent during an attempt or a lookup, the function is called with the verdict Accepted when that ends. A discarded
// message may be completed later, by the late outcome of a process that was frozen; the function is then called again.
type Outcome struct {
	Key

	// State is "completed", "cancelled" or "discarded".
	State rivertype.JobState
	// Verdict is Accepted, Refused, NotSent (invalid, denied, expired, or too many failures), or Unknown. A chat-app message that was refused as a
	// duplicate is Unknown, because an earlier attempt may have sent it. Such an SMS is looked up first.
	Verdict messaging.Verdict
	// Receipt is the receipt of an accepted message. It is zero if the message was resolved as Sent and no response had a receipt.
	Receipt messaging.Receipt
	// Reason is why the message was not accepted. It is empty if the message was accepted. The library adds no number, text or secret to it.
	Reason string
	// Err has the text of Reason. It matches ErrExpired, or the sentinel errors of package messaging that the error of the attempt matched, such as
	// messaging.ErrOptedOut or messaging.ErrWindowClosed. It is nil if the message was accepted. It is no *messaging.Error: see Verdict and
	// MayHaveBeenSent instead of calling messaging.VerdictOf.
	Err error
	// Message is the message as it was enqueued. It is nil if it cannot be read, or its content was deleted: after the message was accepted or dropped.
	Message messaging.Message
	// ResolvedNotSent reports whether the message was resolved as NotSent: Verdict is the decision of a person, and not the outcome of an attempt.
	ResolvedNotSent bool
	// Campaign is InsertOptions.Campaign.
	Campaign string
}

// MayHaveBeenSent reports whether the message may have gone out: it was accepted, its outcome is unknown, or the response that refused it names a
// message. Do not send a fallback then.
func (o Outcome) MayHaveBeenSent() bool { return mayHaveBeenSent(o.Verdict, o.Err) }

// MayHaveBeenSent reports whether the message may have gone out by the attempts that have ended: it was accepted, its outcome is unknown, or the
// response that refused it names a message. Do not resend such a message before you know what became of it. A message that is running may be sent at
// this moment.
func (r Record) MayHaveBeenSent() bool { return mayHaveBeenSent(r.Verdict, r.Err) }

// mayHaveBeenSent reports whether a message with a verdict and a stored error may have gone out.
func mayHaveBeenSent(verdict messaging.Verdict, err error) bool {
	switch verdict {
	case messaging.NotSent:
		return false
	case messaging.Refused:
		stored, isStored := errors.AsType[*storedError](err)
		return isStored && slices.Contains(stored.classes, classAmbiguous)
	default:
		return true
	}
}

const queueOutcomes = "messaging_outcomes"

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
		InsertOpts: &river.InsertOpts{Queue: queueOutcomes, MaxAttempts: math.MaxInt16}, // only rescues count
	}
}

// outcomeWorker calls OnOutcome.
type outcomeWorker[TTx any] struct {
	river.WorkerDefaults[outcomeArgs]

	outbox *Outbox[TTx]
}

// NextRetry implements river.Worker. A job that was rescued from a process that died is worked again at once.
func (w *outcomeWorker[TTx]) NextRetry(*river.Job[outcomeArgs]) time.Time { return time.Now() }

// Work implements river.Worker. A job whose call failed waits, because River would discard it after too many errors.
func (w *outcomeWorker[TTx]) Work(ctx context.Context, job *river.Job[outcomeArgs]) error {
	o := w.outbox
	if o.options.OnOutcome == nil { // another process calls it
		return river.JobSnooze(time.Minute)
	}
	logger := o.options.Logger.With("job", job.Args.Message)
	row, err := o.database.get(ctx, job.Args.Message)
	if errors.Is(err, rivertype.ErrNotFound) {
		logger.WarnContext(ctx, "messagingriver: OnOutcome is not called, because the message was deleted")
		return nil
	}
	if err != nil {
		return callLater(ctx, logger, job, err)
	}
	switch row.State {
	case rivertype.JobStateRunning: // River has not written the outcome yet
		return river.JobSnooze(recordingTime)
	case rivertype.JobStateCompleted, rivertype.JobStateCancelled, rivertype.JobStateDiscarded:
		outcome := o.outcomeOf(row)
		if err := o.callOnOutcome(ctx, outcome); err != nil {
			logger = logger.With("channel", outcome.Channel, "reference", outcome.Reference)
			return callLater(ctx, logger, job, err)
		}
		return nil
	default: // the process died or froze before River wrote the outcome, and the next attempt or lookup inserts another job
		return nil
	}
}

// callOnOutcome calls OnOutcome. If the function panics, it returns an error with the stack, but without the value, which may hold anything.
func (o *Outbox[TTx]) callOnOutcome(ctx context.Context, outcome Outcome) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("panic (%T)\n%s", value, debug.Stack())
		}
	}()
	return o.options.OnOutcome(ctx, outcome)
}

// callLater logs that a call of OnOutcome failed and has River work its job again after a wait.
func callLater(ctx context.Context, logger *slog.Logger, job *river.Job[outcomeArgs], failure error) error {
	var m metadata
	_ = json.Unmarshal(job.Metadata, &m) // unreadable metadata counts no failures
	failures := m.Failures + 1
	setMetadata(ctx, keyFailures, failures)
	wait := min(backoff(failures), maxOutcomeWait)
	logger.WarnContext(ctx, "messagingriver: OnOutcome failed and will be called again", "failures", failures, "wait", wait, "error", failure)
	return river.JobSnooze(wait)
}

// maxOutcomeWait bounds the wait between two calls of OnOutcome for the same outcome.
const maxOutcomeWait = 10 * time.Minute

// outcomeOf returns the outcome that the job of a message records.
func (o *Outbox[TTx]) outcomeOf(row *rivertype.JobRow) Outcome {
	record := o.recordOf(row)
	outcome := Outcome{
		Key:             record.Key,
		State:           row.State,
		Verdict:         record.Verdict,
		Err:             record.Err,
		ResolvedNotSent: record.ResolvedNotSent,
		Campaign:        record.Campaign,
	}
	if record.Verdict != messaging.Accepted {
		outcome.Reason = record.Reason
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
		{"expired", ErrExpired},
	}
}

// classAmbiguous is the class of a refusal that names a message; see messaging.Error.Ambiguous. It has no sentinel error.
const classAmbiguous = "ambiguous"

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
