package messagingriver

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	messaging "github.com/messaging-service/messaging-go"
)

// result is what follows for the job of a message after a worker had it. Only Outbox.apply writes it.
type result struct {
	// state is the next state of the job. It is completed, cancelled or discarded if the message has its outcome, retryable if another attempt
	// follows a failure that counts, and otherwise scheduled: the message waits, which costs no attempt.
	state rivertype.JobState
	// wait is how long a retryable or scheduled job waits.
	wait time.Duration
	// reason is the error that River keeps with a cancelled, discarded or retryable job.
	reason string
	// receipt is the receipt of an accepted message, or nil.
	receipt *messaging.Receipt
	// queue is where the job moves, or "" if it stays in its queue.
	queue string
	// keepsProbing reports whether a job in the queue of probes stays there: its message probes again, or another attempt may have it.
	keepsProbing bool
	// facts are the members of the metadata that change.
	facts facts
}

// facts are members of a job's metadata, by their keys. River writes them together with the next state of the job.
type facts map[string]any

// finalResult returns a result that ends a job.
func finalResult(state rivertype.JobState, reason string) result {
	r := result{state: state, reason: reason, facts: facts{keyReason: reason}}
	if state == rivertype.JobStateCompleted {
		r.facts[keyClasses] = nil // of an earlier attempt
	}
	return r
}

// acceptedResult returns the result for a message that was accepted.
func acceptedResult(receipt messaging.Receipt) result {
	r := finalResult(rivertype.JobStateCompleted, "")
	r.receipt = &receipt
	r.facts[keyVerdict] = verdictAccepted
	return r
}

// resolvedResult returns the result for a message that was resolved as Sent while a worker had it. The reason before is kept.
func resolvedResult() result {
	r := finalResult(rivertype.JobStateCompleted, "")
	delete(r.facts, keyReason)
	r.facts[keyVerdict] = verdictAccepted
	return r
}

// decidedResult returns the result for a message whose outcome is in its metadata: no attempt after the outcome made a request.
func (o *Outbox[TTx]) decidedResult(m *metadata, state rivertype.JobState) result {
	r := finalResult(state, m.Reason)
	r.facts[keyEndsAs] = "" // unless OnOutcome cannot be called again
	o.doubt.coverRescues(r.facts, m)
	return r
}

// waitResult returns a result after which the message waits.
func waitResult(wait time.Duration, reason string) result {
	return result{state: rivertype.JobStateScheduled, wait: wait, facts: facts{keyReason: reason}}
}

// retryResult returns a result after which another attempt is made. The failure counts.
func retryResult(wait time.Duration, reason string) result {
	return result{state: rivertype.JobStateRetryable, wait: wait, reason: reason, facts: facts{keyReason: reason}}
}

// lookupResult returns a result after which the message is looked up.
func lookupResult(wait time.Duration, reason string) result {
	r := waitResult(wait, reason)
	r.queue = queueLookups
	return r
}

// unsentResult returns the result of an attempt that ended before it could ask a guard, for a message that no earlier attempt may have sent. It
// records that the message was not sent, unless another attempt may have the job by now.
func unsentResult(job *river.Job[messageArgs], m *metadata, r result) result {
	if claimAge(job) < maxClaimAge {
		m.recordNotSent(r.facts)
	}
	return r
}

// lostResult returns the result for a job that another attempt may have. It says nothing about the message, and its queue stays as it is: River
// would write the facts over those of the other attempt. On SQLite, Outbox.work adds the number of fetches alone: it is too low for a later fetch,
// so it cannot end the doubt about that fetch.
func lostResult(wait time.Duration) result {
	return result{state: rivertype.JobStateScheduled, wait: wait, keepsProbing: true, facts: facts{}}
}

// isFinal reports whether a result ends the job.
func (r *result) isFinal() bool {
	switch r.state {
	case rivertype.JobStateCompleted, rivertype.JobStateCancelled, rivertype.JobStateDiscarded:
		return true
	default:
		return false
	}
}

// apply carries out a result and returns what River does with the job. After apply, River writes the facts and the state of the job in one
// statement. If the process dies before that, the job has no outcome, River rescues it, and the mark or the fetch shows the doubt. The job that
// calls OnOutcome is inserted before, so that no outcome goes unreported. If the process dies between, that job does nothing.
//
// For a rescued job it is inserted after every result. The process that had the job before may be frozen, with an outcome that River writes when it
// continues. If River does so during this attempt, the job ends although this result is not final, and the job that the frozen process inserted to
// call OnOutcome has done nothing.
func (o *Outbox[TTx]) apply(ctx context.Context, job *river.Job[messageArgs], r result) error {
	o.setFacts(ctx, job, r)
	var err error
	if r.isFinal() || wasRescued(job) {
		err = o.enqueueOutcome(ctx, job.ID)
	}
	if err != nil {
		o.options.Logger.WarnContext(ctx, "messagingriver: OnOutcome cannot be called yet", "job", job.ID, "error", err)
	}
	if err != nil && r.isFinal() { // the job is worked again to end in the same way
		setMetadata(ctx, keyEndsAs, r.state)
		r.state = rivertype.JobStateScheduled
		r.wait = maintenanceInterval
	}
	if r.queue != "" {
		o.moveTo(ctx, job, r.queue)
	}
	if isProbe(job) && !r.keepsProbing { // it makes room for another
		o.pauseOf(job.Args.Channel).leave(ctx, job.ID)
	}
	return r.tellRiver(job)
}

// wasRescued reports whether River has rescued a job from a process that died or was frozen.
func wasRescued(job *river.Job[messageArgs]) bool {
	var m metadata
	_ = json.Unmarshal(job.Metadata, &m) // unreadable metadata counts no rescues
	return m.Rescues > 0
}

// setFacts has River write the facts and the receipt of a result.
func (o *Outbox[TTx]) setFacts(ctx context.Context, job *river.Job[messageArgs], r result) {
	for key, value := range r.facts {
		setMetadata(ctx, key, value)
	}
	if r.receipt != nil {
		o.setReceipt(ctx, job, *r.receipt)
	}
}

// tellRiver returns the error by which River gives a job the state of a result, and sets in the job what River reads there.
func (r *result) tellRiver(job *river.Job[messageArgs]) error {
	switch r.state {
	case rivertype.JobStateCompleted:
		return nil
	case rivertype.JobStateCancelled:
		return river.JobCancel(errors.New(r.reason))
	case rivertype.JobStateDiscarded:
		job.JobRow.MaxAttempts = job.JobRow.Attempt // River compares them in the row that it gave to the worker
		return errors.New(r.reason)
	case rivertype.JobStateRetryable:
		job.Args.retryAfter = r.wait
		return errors.New(r.reason)
	default: // scheduled
		return river.JobSnooze(r.wait)
	}
}

// moveTo moves a job to another queue. If that fails, the job stays in its queue.
func (o *Outbox[TTx]) moveTo(ctx context.Context, job *river.Job[messageArgs], queue string) {
	if job.Queue == queue {
		return
	}
	ctx = context.WithoutCancel(ctx) // a result is recorded although the process stops
	if err := o.database.exec(ctx, moveJob, queue, job.ID); err != nil {
		o.options.Logger.WarnContext(ctx, "messagingriver: a job cannot be moved", "queue", queue, "error", err)
	}
}
