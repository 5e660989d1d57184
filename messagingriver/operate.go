package messagingriver

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"

	messaging "github.com/messaging-service/messaging-go"
)

// Record is what is known of a message.
type Record struct {
	Key

	// Job is the ID of River's job, and State its state.
	Job   int64              `json:"job"`
	State rivertype.JobState `json:"state"`
	// Verdict is that of the last attempt that ended. It is Unknown before.
	Verdict messaging.Verdict `json:"verdict"`
	// Reason is why the message was not accepted yet, or was not sent. It holds no number, text or secret of the library's own.
	Reason string `json:"reason,omitempty"`
	// Receipt is that of an accepted message. Raw is nil.
	Receipt *messaging.Receipt `json:"receipt,omitempty"`
	// Message is nil if it cannot be read, or was deleted because it was accepted or dropped.
	Message messaging.Message `json:"-"`
	// Failures is how many attempts count toward InsertOptions.MaxAttempts.
	Failures int       `json:"failures"`
	Campaign string    `json:"campaign,omitempty"`
	Priority Priority  `json:"priority"`
	Created  time.Time `json:"created"`
	// Scheduled is when a message that waits is worked next.
	Scheduled time.Time `json:"scheduled"`
	// Attempted is when River gave the job to a worker last, Finalized when it was completed, cancelled or discarded, and Expires when it
	// is too late to send it. Each can be zero.
	Attempted time.Time `json:"attempted,omitzero"`
	Finalized time.Time `json:"finalized,omitzero"`
	Expires   time.Time `json:"expires,omitzero"`
}

// recordOf returns what a job says of its message.
func (o *Outbox[TTx]) recordOf(row *rivertype.JobRow) Record {
	var args messageArgs
	var n note
	_ = json.Unmarshal(row.EncodedArgs, &args) // an unreadable one says nothing
	_ = json.Unmarshal(row.Metadata, &n)
	r := Record{
		Key: Key{args.Channel, args.Reference}, Job: row.ID, State: row.State, Reason: n.Reason, Receipt: n.Receipt, Failures: n.Failures,
		Campaign: n.Campaign, Priority: Priority(row.Priority), Created: row.CreatedAt, Scheduled: row.ScheduledAt, Expires: n.Expires,
	}
	_ = r.Verdict.UnmarshalText([]byte(n.Verdict)) // which is Unknown without one
	if row.AttemptedAt != nil {
		r.Attempted = *row.AttemptedAt
	}
	if row.FinalizedAt != nil {
		r.Finalized = *row.FinalizedAt
	}
	if known, ok := o.channels[args.Channel]; ok && args.Message != nil {
		if message, err := known.decode(args.Message); err == nil {
			r.Message = message
		}
	}
	return r
}

// Parked yields the messages that were discarded: nobody can know if they were sent, or their attempts are used up. A person decides about
// each, with Resolve. An error ends it.
func (o *Outbox[TTx]) Parked(ctx context.Context) iter.Seq2[Record, error] {
	return o.records(ctx, rivertype.JobStateDiscarded)
}

// Refused yields the messages that were cancelled: refused by the service, denied by a guard, invalid, expired or dropped. Reason says which.
// An error ends it.
func (o *Outbox[TTx]) Refused(ctx context.Context) iter.Seq2[Record, error] {
	return o.records(ctx, rivertype.JobStateCancelled)
}

// records yields the messages in a state by their jobs' IDs.
func (o *Outbox[TTx]) records(ctx context.Context, state rivertype.JobState) iter.Seq2[Record, error] {
	const atOnce = 500
	return func(yield func(Record, error) bool) {
		params := river.NewJobListParams().Kinds(messageKind).States(state).OrderBy(river.JobListOrderByID, river.SortOrderAsc).First(atOnce)
		for {
			page, err := o.database.list(ctx, params)
			if err != nil {
				yield(Record{}, o.database.explain(err))
				return
			}
			for _, job := range page.Jobs {
				if !yield(o.recordOf(job), nil) {
					return
				}
			}
			if len(page.Jobs) < atOnce {
				return
			}
			params = params.After(page.LastCursor)
		}
	}
}

// Show returns what is known of the messages with a reference ID: one for each channel that has it. It is an error if there is none.
func (o *Outbox[TTx]) Show(ctx context.Context, reference string) ([]Record, error) {
	params := river.NewJobListParams().Kinds(messageKind).Where(o.database.spell.Replace("IS_REFERENCE"), river.NamedArgs{"reference": reference})
	found, err := o.database.list(ctx, params)
	if err != nil {
		return nil, o.database.explain(err)
	}
	if len(found.Jobs) == 0 {
		return nil, fmt.Errorf("messagingriver: there is no message with the reference %q", reference)
	}
	records := make([]Record, len(found.Jobs))
	for i, job := range found.Jobs {
		records[i] = o.recordOf(job)
	}
	return records, nil
}

// Decision is what a person decides about a message.
type Decision string

// The decisions. None applies to a message that a worker holds at the moment.
const (
	// Sent: it went out, as the service or a delivery report shows. Any message that is not completed becomes that.
	Sent Decision = "sent"
	// Resend: it did not go out, or was refused for a reason that is gone. A discarded or cancelled message, or one that is looked up, is
	// sent at once. If it did go out, the recipient gets it twice. One that has expired is cancelled again.
	Resend Decision = "resend"
	// Drop: it is not to be sent. Any message that is not completed becomes cancelled, and its content is deleted.
	Drop Decision = "drop"
)

// The statements of the decisions. Each returns the ID of the job if it applied.
const (
	isDecidable  = " WHERE kind = 'messaging' AND IS_MESSAGE AND state NOT IN ('running', 'completed') "
	decideSent   = `UPDATE JOBS SET state = 'completed', finalized_at = NOW, metadata = MERGE('{"verdict": "accepted", "reason": "resolved as sent"}')` + isDecidable + "RETURNING id"
	decideResend = `UPDATE JOBS SET queue = 'messaging_' || CAST($1 AS TEXT), metadata = MERGE(OBJECT('verdict', '', 'reason', '', 'ends_as', '', 'failures', 0, 'unknown_since', NULL, 'in_doubt', NULL,
			'ended', COALESCE(metadata->>'begun', ''), 'answered', COALESCE(CAST(metadata->>'river:rescue_count' AS INTEGER), 0), 'outcomes', FETCHES))` + isDecidable +
		"AND args->'message' IS NOT NULL AND (state IN ('discarded', 'cancelled') OR queue = 'messaging_lookups') RETURNING id"
	decideDrop = `UPDATE JOBS SET state = 'cancelled', finalized_at = NOW, args = WITHOUT_MESSAGE, metadata = MERGE('{"reason": "dropped by a person"}')` +
		isDecidable + "RETURNING id"
)

// Resolve carries out a decision about messages and returns how many it applied to. Those in other states stay as they are. A handler of
// delivery reports may resolve every message that it hears of as Sent.
func (o *Outbox[TTx]) Resolve(ctx context.Context, decision Decision, keys ...Key) (int, error) {
	statement := map[Decision]string{Sent: decideSent, Resend: decideResend, Drop: decideDrop}[decision]
	if statement == "" {
		return 0, fmt.Errorf("messagingriver: Resolve got the decision %q; want %q, %q or %q", decision, Sent, Resend, Drop)
	}
	resolved := 0
	for _, key := range keys {
		isResolved := false
		err := o.database.inTx(ctx, func(ctx context.Context, tx riverdriver.ExecutorTx) error {
			var id int64
			var err error
			isResolved, err = o.database.scan(ctx, tx, []any{&id}, statement, key.Channel, key.Reference)
			if err != nil || !isResolved || decision != Resend {
				return err
			}
			return o.database.retry(ctx, tx, id)
		})
		if err != nil {
			return resolved, err
		}
		if isResolved {
			resolved++
		}
	}
	return resolved, ctx.Err()
}
