package messagingriver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"

	messaging "github.com/messaging-service/messaging-go"
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
	//	available, scheduled, retryable  Refused, NotSent  was not sent, and waits
	//	available, scheduled, retryable  Unknown           may have been sent, and is looked up
	//	pending                          not Accepted      was not sent, and waits: its campaign is paused
	//	running                          not Accepted      may be sent at this moment
	//	cancelled                        Refused, NotSent  was not sent, unless MayHaveBeenSent returns true; final
	//	cancelled                        Unknown           may have been sent before it was dropped; final
	//	discarded                        Refused, NotSent  was not sent, unless MayHaveBeenSent returns true; a person decides
	//	discarded                        Unknown           may have been sent; a person decides
	Verdict messaging.Verdict `json:"verdict"`
	// Reason is why the message was not accepted yet, or was not sent. It is empty for an accepted message. If the message was
	// resolved as Sent and has no receipt, it is "resolved as sent", followed by the reason before, if there was one. The library adds no number,
	// text or secret to it.
	Reason string `json:"reason,omitempty"`
	// Err has the text of Reason. It matches the same sentinel errors as Outcome.Err. It is nil if Verdict is Accepted, or Reason is empty.
	Err error `json:"-"`
	// Receipt is the receipt of an accepted message, or nil if the message was resolved as Sent without one: then client.SMS.Find returns what an
	// SMS cost. Its Raw is nil.
	Receipt *messaging.Receipt `json:"receipt,omitempty"`
	// Message is nil if it cannot be read, or was deleted because it was accepted or dropped.
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
	// recorded an outcome. It is zero if no request began, on SQLite, and for requests of earlier versions.
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
	_ = json.Unmarshal(row.Metadata, &m)
	r := Record{
		Key:      Key{args.Channel, args.Reference},
		Job:      row.ID,
		State:    row.State,
		Verdict:  o.verdictOf(row, &m),
		Receipt:  m.Receipt,
		Message:  o.messageOf(args),
		Failures: m.Failures,
		Campaign: m.Campaign,
		Priority: Priority(row.Priority),
		Created:  row.CreatedAt,
		Expires:  m.Expires,
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
	isInDoubt := r.Verdict == messaging.Unknown && !m.UnknownSince.IsZero()
	if isInDoubt && r.Finalized.IsZero() {
		r.DoubtEnds = m.UnknownUntil
	}
	return r
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
// Unknown whatever it says.
func (o *Outbox[TTx]) verdictOf(row *rivertype.JobRow, m *metadata) messaging.Verdict {
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
func (o *Outbox[TTx]) Get(ctx context.Context, reference string) ([]Record, error) {
	params := river.NewJobListParams().Kinds(messageKind).Where(o.database.statements.withReference, river.NamedArgs{"reference": reference})
	found, err := o.database.list(ctx, params)
	if err != nil {
		return nil, err
	}
	if len(found.Jobs) == 0 {
		return nil, fmt.Errorf("messagingriver: there is no message with the reference %q: %w", reference, messaging.ErrNotFound)
	}
	records := make([]Record, len(found.Jobs))
	for i, job := range found.Jobs {
		records[i] = o.recordOf(job)
	}
	return records, nil
}

// Decision is what a person decides about a message: Sent, Resend or Drop.
type Decision string

// The decisions. Resend and Drop do not apply to a message while a worker has it, or after it was resolved as Sent.
const (
	// Sent says that the message went out, as the service or a delivery report shows. A message that is not completed becomes completed. If
	// its request is under way, the message becomes completed when the attempt ends, even if the response is lost. See Record.Reason.
	Sent Decision = "sent"
	// Resend says that the message did not go out, or was refused for a reason that is gone. A message that is discarded, cancelled or
	// looked up is sent at once. If it did go out, the recipient gets it twice. To a message that has expired, Resend applies only while
	// its outcome is unknown: the message is not sent but cancelled, with the verdict NotSent, and OnOutcome is called.
	Resend Decision = "resend"
	// Drop says that the message must not be sent. A message that is not completed becomes cancelled, and its content is deleted. So it can be
	// dropped once, even by two processes at the same moment. Its reason becomes "dropped", followed by the reason before, if there was one.
	Drop Decision = "drop"
)

// Resolve carries out a decision about messages and returns how many it applied to. Messages in other states do not change, and keys
// without a message are ignored. A key of an unknown channel is an error, and nothing is decided. A handler of delivery reports may resolve
// every message that it receives a report about as Sent.
//
// Resolve uses a connection of its own, and each message a transaction of its own. After an error, or the end of ctx, it decides about no
// further message and returns how many it applied to before. In a transaction of the program, such as that of
// webhook/sqlstore, use ResolveTx: Resolve would wait for that transaction.
func (o *Outbox[TTx]) Resolve(ctx context.Context, decision Decision, keys ...Key) (resolved int, err error) {
	if err := decision.check(); err != nil {
		return 0, err
	}
	if err := o.checkKeys(keys); err != nil {
		return 0, err
	}
	for _, key := range keys {
		if err := ctx.Err(); err != nil { // inTx would not end with ctx
			return resolved, fmt.Errorf("messagingriver: %w", err)
		}
		isResolved := false
		err := o.database.inTx(ctx, func(ctx context.Context, tx riverdriver.ExecutorTx) error {
			retry := func(id int64) error { return o.database.retry(ctx, tx, id) }
			var err error
			isResolved, err = o.resolve(ctx, tx, decision, key, retry)
			return err
		})
		if errors.Is(err, context.DeadlineExceeded) {
			return resolved, fmt.Errorf("%w; within a transaction, call ResolveTx", err)
		}
		if err != nil {
			return resolved, err
		}
		if isResolved {
			resolved++
		}
	}
	return resolved, nil
}

// ResolveTx is like Resolve, in the caller's transaction: the decisions apply after the commit, and none does if the transaction is rolled
// back. After an error the transaction must be rolled back.
func (o *Outbox[TTx]) ResolveTx(ctx context.Context, tx TTx, decision Decision, keys ...Key) (resolved int, err error) {
	var none TTx
	if any(tx) == any(none) {
		return 0, errors.New("messagingriver: the transaction is nil")
	}
	if err := decision.check(); err != nil {
		return 0, err
	}
	if err := o.checkKeys(keys); err != nil {
		return 0, err
	}
	retry := func(id int64) error {
		_, err := o.inserter.JobRetryTx(ctx, tx, id)
		return explain(err)
	}
	for _, key := range keys {
		isResolved, err := o.resolve(ctx, o.executorOf(tx), decision, key, retry)
		if err != nil {
			return 0, err
		}
		if isResolved {
			resolved++
		}
	}
	return resolved, nil
}

// check returns an error for an unknown decision.
func (d Decision) check() error {
	switch d {
	case Sent, Resend, Drop:
		return nil
	default:
		return fmt.Errorf("messagingriver: Resolve got the decision %q; want %q, %q or %q", d, Sent, Resend, Drop)
	}
}

// checkKeys returns an error for a key of an unknown channel, which would never have a message.
func (o *Outbox[TTx]) checkKeys(keys []Key) error {
	for i, key := range keys {
		if _, isKnown := o.channels[key.Channel]; !isKnown {
			return fmt.Errorf("messagingriver: keys[%d].Channel is %q; want one of %s", i, key.Channel, strings.Join(o.channelNames(), ", "))
		}
	}
	return nil
}

// resolution returns the statement that carries out a decision about a message and returns the ID of its job if it applied.
func (d *database) resolution(decision Decision) string {
	switch decision {
	case Sent:
		return d.statements.resolveSent
	case Resend:
		return d.statements.resolveResend
	default:
		return d.statements.resolveDrop
	}
}

// resolve carries out a decision about one message in a transaction and reports whether it applied. retry makes River work a job at once.
func (o *Outbox[TTx]) resolve(
	ctx context.Context, tx riverdriver.Executor, decision Decision, key Key, retry func(id int64) error,
) (bool, error) {
	var id int64
	isResolved, err := o.database.scan(ctx, tx, []any{&id}, o.database.resolution(decision), key.Channel, key.Reference)
	if err != nil || !isResolved || decision != Resend {
		return isResolved, err
	}
	return true, retry(id)
}

// isResolvedSent reports whether the message of a running job has been resolved as Sent since the worker got the job. If the database cannot
// be read, it reports false: the job is completed when it is worked again, or by the maintenance.
func (o *Outbox[TTx]) isResolvedSent(ctx context.Context, job *river.Job[messageArgs]) bool {
	isResolved, err := o.database.isResolvedSent(ctx, job.ID)
	if err != nil {
		o.options.Logger.WarnContext(ctx, "messagingriver: a job cannot be read", "job", job.ID, "error", err)
	}
	return isResolved
}

// isResolvedSent reports whether the message of a running job has been resolved as Sent since a worker got the job.
func (d *database) isResolvedSent(ctx context.Context, job int64) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statementTimeout)
	defer cancel()
	var id int64
	return d.scan(ctx, d.executor, []any{&id}, findResolved, job)
}
