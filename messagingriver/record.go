package messagingriver

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver/internal/reference"
)

// Record is the state of a message.
type Record struct {
	Key

	// Job is the ID of River's job, and State its state, such as "completed".
	Job   int64              `json:"job"`
	State rivertype.JobState `json:"state"`
	// Verdict is the verdict of the last attempt that ended, and NotSent before the first attempt and after Resend. It is Unknown if a later attempt
	// may have sent the message. With State it says where the message is:
	//
	//	State                            Verdict           the message
	//	any                              Accepted          was sent; final
	//	available, scheduled, retryable  Refused, NotSent  was not sent, and waits, unless EndsAs is set
	//	available, scheduled, retryable  Unknown           may have been sent, and is looked up, unless EndsAs is set
	//	pending                          not Accepted      was not sent, and waits: its campaign is paused
	//	running                          not Accepted      may be sent at this moment, unless EndsAs is set
	//	cancelled                        Refused, NotSent  was not sent, unless MayHaveBeenSent returns true; final
	//	cancelled                        Unknown           may have been sent before it was dropped; final
	//	discarded                        Refused, NotSent  was not sent, unless MayHaveBeenSent returns true; a person decides
	//	discarded                        Unknown           may have been sent; a person decides
	Verdict messaging.Verdict `json:"verdict"`
	// Reason is why the message was not accepted yet, or was not sent. It is empty for an accepted message. If the message was
	// resolved as Sent and has no receipt, it is "resolved as sent", followed by the reason before, if there was one. The library adds no number,
	// text or secret to it.
	Reason string `json:"reason,omitempty"`
	// EndsAs is the state in which the message ends, if its outcome is final although its job still waits or runs: the call of OnOutcome could not be
	// enqueued yet, or the message was resolved as Sent or NotSent. Then no further request or lookup is made. Otherwise EndsAs is empty.
	EndsAs rivertype.JobState `json:"endsAs,omitempty"`
	// ResolvedNotSent reports whether the message was resolved as NotSent: then no process sends it, even if State is available.
	ResolvedNotSent bool `json:"resolvedNotSent,omitempty"`
	// Err has the text of Reason. It matches the same sentinel errors as Outcome.Err. It is nil if Verdict is Accepted, or Reason is empty.
	Err error `json:"-"`
	// Receipt is the receipt of an accepted message, or nil if the message was resolved as Sent without one: then client.SMS.Find returns what an
	// SMS cost. Its Raw is nil.
	Receipt *messaging.Receipt `json:"receipt,omitempty"`
	// Message is nil if it cannot be read, or was deleted because it was accepted or dropped, or its campaign was cancelled.
	Message messaging.Message `json:"-"`
	// Failures is how many attempts count toward InsertOptions.MaxAttempts.
	Failures int       `json:"failures"`
	Campaign string    `json:"campaign,omitempty"`
	Priority Priority  `json:"priority"`
	Created  time.Time `json:"created"`
	// Scheduled is when a waiting message is worked next. It is zero for a message that does not wait, or is due and waits for a worker.
	Scheduled time.Time `json:"scheduled,omitzero"`
	// Attempted is when River gave the job to a worker last, or zero.
	Attempted time.Time `json:"attempted,omitzero"`
	// Begun is when the last request of the message began, by the clock of the database. It is set even if the process was killed before it
	// recorded an outcome. It is zero if no request began, and on SQLite.
	Begun time.Time `json:"begun,omitzero"`
	// Finalized is when the job was completed, cancelled or discarded, or zero.
	Finalized time.Time `json:"finalized,omitzero"`
	// Expires is when it is too late to send the message, or zero.
	Expires time.Time `json:"expires,omitzero"`
	// DoubtEnds is when a message with an unknown outcome is discarded if nothing changes. While the lookups of an SMS fail, it is a day later:
	// then the first lookup that works and does not find the message may discard it before. DoubtEnds is zero for other messages, and until the
	// first lookup after a kill.
	DoubtEnds time.Time `json:"doubtEnds,omitzero"`
}

// recordOf returns the record of the message of a job.
func (o *Outbox[TTx]) recordOf(row *rivertype.JobRow) Record {
	var args messageArgs
	var m metadata
	_ = json.Unmarshal(row.EncodedArgs, &args) // the fields of an unreadable job stay empty
	isReadable := json.Unmarshal(row.Metadata, &m) == nil
	r := Record{
		Key:             Key{args.Channel, args.Reference},
		Job:             row.ID,
		State:           row.State,
		Verdict:         o.verdictOf(row, &m, isReadable),
		ResolvedNotSent: m.ResolvedNotSent,
		Receipt:         m.Receipt,
		Message:         o.messageOf(args),
		Failures:        m.Failures,
		Campaign:        m.Campaign,
		Priority:        Priority(row.Priority),
		Created:         row.CreatedAt,
		Expires:         m.Expires,
	}
	if o.isForLater(row) {
		r.Scheduled = row.ScheduledAt
	}
	r.Reason = reasonOfRecord(r.Verdict, &m)
	if r.Verdict != messaging.Accepted && r.Reason != "" {
		r.Err = &storedError{r.Reason, m.Classes}
	}
	if r.Receipt != nil {
		r.Receipt.Raw = nil // it is stored as null
	}
	r.setAttempts(row, &m)
	if r.Finalized.IsZero() {
		r.EndsAs = m.decidedState()
	}
	if r.isInDoubt(&m) {
		r.DoubtEnds = m.UnknownUntil
	}
	return r
}

// isInDoubt reports whether the outcome of the message is unknown, and may still become known.
func (r *Record) isInDoubt(m *metadata) bool {
	isUnknown := r.Verdict == messaging.Unknown && !m.UnknownSince.IsZero()
	isFinal := !r.Finalized.IsZero() || r.EndsAs != ""
	return isUnknown && !isFinal
}

// reasonOfRecord returns the reason of a message with a verdict. The metadata of an accepted message may hold the reason of an attempt or a
// lookup that River wrote after the message was accepted or resolved as Sent.
func reasonOfRecord(verdict messaging.Verdict, m *metadata) string {
	const resolvedAsSent = "resolved as sent"
	switch {
	case verdict != messaging.Accepted:
		return m.Reason
	case !m.ResolvedSent || m.Receipt != nil:
		return ""
	case m.Reason == "":
		return resolvedAsSent
	default:
		return resolvedAsSent + ": " + m.Reason
	}
}

// setAttempts sets when the message was attempted, and when its job ended.
func (r *Record) setAttempts(row *rivertype.JobRow, m *metadata) {
	if row.AttemptedAt != nil {
		r.Attempted = *row.AttemptedAt
	}
	if m.BegunToken != m.UnsentToken { // the mark of an attempt that made no request may have been written
		r.Begun = m.BegunAt
	}
	if row.FinalizedAt != nil {
		r.Finalized = *row.FinalizedAt
	}
}

// isForLater reports whether the message of a job waits until its scheduled time. River keeps the state available during a short wait.
func (o *Outbox[TTx]) isForLater(row *rivertype.JobRow) bool {
	switch row.State {
	case rivertype.JobStateScheduled, rivertype.JobStateRetryable:
		return true
	case rivertype.JobStateAvailable, rivertype.JobStatePending:
		return row.ScheduledAt.After(o.options.now())
	default:
		return false
	}
}

// messageOf returns the message of a job, or nil if it was deleted or cannot be read.
func (o *Outbox[TTx]) messageOf(args messageArgs) messaging.Message {
	known, ok := o.channels[args.Channel]
	if !ok || args.Message == nil {
		return nil
	}
	message, err := known.decode(args.Message)
	if err != nil {
		return nil
	}
	return message
}

// verdictOf returns the verdict of the message of a job. The verdict in the metadata may be of an earlier attempt, so a message in doubt is
// Unknown whatever it says. Metadata that could not be read in full proves nothing.
func (o *Outbox[TTx]) verdictOf(row *rivertype.JobRow, m *metadata, isReadable bool) messaging.Verdict {
	isAccepted := m.Verdict == verdictAccepted || m.ResolvedSent
	if isAccepted || row.State == rivertype.JobStateCompleted {
		return messaging.Accepted
	}
	if o.doubt.hasRecordedDoubt(m) {
		return messaging.Unknown
	}
	if row.AttemptedAt == nil { // no worker had it
		return messaging.NotSent
	}
	hasWorker := row.State == rivertype.JobStateRunning // its request may begin at any moment
	if isReadable && !hasWorker && o.doubt.provesUnsent(m) {
		return messaging.NotSent
	}
	var verdict messaging.Verdict
	_ = verdict.UnmarshalText([]byte(m.Verdict)) // it stays Unknown without one
	return verdict
}

// Discarded yields the messages that were discarded: their outcome is unknown, or their attempts are used up. A person decides about each,
// with Resolve. An error ends the iteration.
func (o *Outbox[TTx]) Discarded(ctx context.Context) iter.Seq2[Record, error] {
	return o.List(ctx, rivertype.JobStateDiscarded)
}

// Cancelled yields the messages that were cancelled: refused by the service, denied by a guard, invalid, expired or dropped. Reason says
// which. An error ends the iteration.
func (o *Outbox[TTx]) Cancelled(ctx context.Context) iter.Seq2[Record, error] {
	return o.List(ctx, rivertype.JobStateCancelled)
}

// List yields the messages in the given states of River, or in all states if none is given, in the order in which they were enqueued. It reads
// pages of 500 messages, so a message whose state changes meanwhile may be listed or not. An error ends the iteration.
func (o *Outbox[TTx]) List(ctx context.Context, states ...rivertype.JobState) iter.Seq2[Record, error] {
	const pageSize = 500
	if len(states) == 0 {
		states = rivertype.JobStates()
	}
	return func(yield func(Record, error) bool) {
		params := river.NewJobListParams().Kinds(messageKind).States(states...).OrderBy(river.JobListOrderByID, river.SortOrderAsc).First(pageSize)
		for {
			page, err := o.database.list(ctx, params)
			if err != nil {
				yield(Record{}, err)
				return
			}
			for _, job := range page.Jobs {
				if !yield(o.recordOf(job), nil) {
					return
				}
			}
			if len(page.Jobs) < pageSize {
				return
			}
			params = params.After(page.LastCursor)
		}
	}
}

// Get returns the messages with a reference ID, at most one for each channel. If there are none, the error matches messaging.ErrNotFound.
func (o *Outbox[TTx]) Get(ctx context.Context, referenceID string) ([]Record, error) {
	if !reference.IsStorable(referenceID) { // PostgreSQL would fail
		return o.recordsOf(nil, referenceID)
	}
	found, err := o.database.list(ctx, o.withReference(referenceID))
	if err != nil {
		return nil, err
	}
	return o.recordsOf(found.Jobs, referenceID)
}

// GetTx is like Get, in the caller's transaction: it also returns what the transaction has enqueued and decided. On SQLite with one connection,
// Get would wait for that transaction. After an error that does not match messaging.ErrNotFound the transaction must be rolled back.
func (o *Outbox[TTx]) GetTx(ctx context.Context, tx TTx, referenceID string) ([]Record, error) {
	if err := checkTx(tx); err != nil {
		return nil, err
	}
	if !reference.IsStorable(referenceID) { // PostgreSQL would fail
		return o.recordsOf(nil, referenceID)
	}
	found, err := o.inserter.JobListTx(ctx, tx, o.withReference(referenceID))
	if err != nil {
		return nil, explain(err)
	}
	return o.recordsOf(found.Jobs, referenceID)
}

// withReference returns the parameters of a list of the messages with a reference ID.
func (o *Outbox[TTx]) withReference(referenceID string) *river.JobListParams {
	return river.NewJobListParams().Kinds(messageKind).Where(o.database.statements.withReference, river.NamedArgs{"reference": referenceID})
}

// recordsOf returns the records of the jobs with a reference ID. No jobs are an error.
func (o *Outbox[TTx]) recordsOf(jobs []*rivertype.JobRow, referenceID string) ([]Record, error) {
	if len(jobs) == 0 {
		return nil, fmt.Errorf("messagingriver: there is no message with the reference %q: %w", referenceID, messaging.ErrNotFound)
	}
	records := make([]Record, len(jobs))
	for i, job := range jobs {
		records[i] = o.recordOf(job)
	}
	return records, nil
}
