package messagingriver

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

// State is what is known of a message in the outbox.
type State string

// The states of a message. The last three are final.
const (
	Waiting  State = "waiting"  // for its time, its job or its next attempt; nothing was sent
	Sending  State = "sending"  // an attempt has begun, and its outcome is not recorded yet
	Unknown  State = "unknown"  // it may have been sent, and is looked up until Options.SettleFor is over
	Parked   State = "parked"   // nobody can know if it was sent, or River's attempts are used up: a person decides
	Accepted State = "accepted" // the service took it
	Refused  State = "refused"  // the service, or this library, refused it
	Dropped  State = "dropped"  // a person decided not to send it
)

// Record is what is known of a message.
type Record struct {
	Key

	State State
	// Message is nil once the message is accepted, refused or dropped: the outbox does not keep it.
	Message Message
	// Receipt is that of an accepted message, without Raw. It is zero if a person said that the message was sent.
	Receipt messaging.Receipt
	// Problem says what went wrong, or is empty. It holds no number, text or secret.
	Problem string
	// Attempts is the number of attempts that were begun.
	Attempts int
	// Created is when the message was enqueued, and Began when its last attempt began, zero if none did.
	Created time.Time
	Began   time.Time
}

// Record returns what is known of a message. The error is sql.ErrNoRows if it was never enqueued, or is deleted.
func (o *Outbox[TTx]) Record(ctx context.Context, key Key) (Record, error) {
	found, err := o.records(ctx, "channel = $1 AND reference = $2", key.Channel, key.Reference)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("messagingriver: %w", sql.ErrNoRows)
	}
	if err != nil {
		return Record{}, err
	}
	return found[0], nil
}

// Parked yields the messages that wait for a person's decision, by channel and reference ID. The loop may resolve what it gets.
// An error ends it.
func (o *Outbox[TTx]) Parked(ctx context.Context) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		var last Key
		for more := true; more; {
			page, err := o.records(ctx, "state = 'parked' AND (channel, reference) > ($1, $2)", last.Channel, last.Reference)
			if err != nil {
				yield(Record{}, err)
				return
			}
			for _, record := range page {
				if !yield(record, nil) {
					return
				}
				last = record.Key
			}
			more = len(page) == most
		}
	}
}

// records returns the first rows that meet a condition of two arguments.
func (o *Outbox[TTx]) records(ctx context.Context, condition string, channel, reference string) ([]Record, error) {
	type row struct {
		Record

		message, receipt string
		created, began   int64
	}
	found, err := o.database.query(ctx, `
		SELECT channel, reference, state, attempt, problem, COALESCE(message, ''), COALESCE(receipt, ''), created_at, COALESCE(began_at, 0)
		FROM messaging_outbox WHERE `+condition+` ORDER BY channel, reference LIMIT $3`, channel, reference, most)
	rows, err := collect(found, err, func(r *row) []any {
		return []any{&r.Channel, &r.Reference, &r.State, &r.Attempts, &r.Problem, &r.message, &r.receipt, &r.created, &r.began}
	})
	records := make([]Record, len(rows))
	for i, r := range rows {
		if r.message != "" && err == nil {
			r.Message, err = o.channels[r.Channel].decode(r.message)
		}
		if r.receipt != "" && err == nil {
			err = json.Unmarshal([]byte(r.receipt), &r.Receipt)
		}
		r.Created = time.UnixMilli(r.created)
		if r.began != 0 {
			r.Began = time.UnixMilli(r.began)
		}
		records[i] = r.Record
	}
	if err != nil {
		return nil, fmt.Errorf("messagingriver: records: %w", err)
	}
	return records, nil
}

// Decision is what a person decides about a message.
type Decision string

// The decisions.
const (
	Sent   Decision = "sent"   // it went out, as the service or a delivery report shows: it becomes Accepted
	Resend Decision = "resend" // it did not go out: it becomes Waiting, and is sent. If it did, the recipient gets it twice
	Drop   Decision = "drop"   // it is not to be sent: it becomes Dropped
)

// Resolve carries out a decision about messages, any number at once, and returns how many it applied to: those that are Parked
// or Unknown. Others stay as they are. A handler of delivery reports may resolve every message that it hears of as Sent.
func (o *Outbox[TTx]) Resolve(ctx context.Context, decision Decision, keys ...Key) (int, error) {
	state, wait := Waiting, o.overdue()
	switch decision {
	case Sent:
		state, wait = Accepted, o.options.Keep
	case Drop:
		state, wait = Dropped, o.options.Keep
	case Resend:
	default:
		return 0, fmt.Errorf("messagingriver: Resolve got the decision %q; want Sent, Resend or Drop", decision)
	}
	rows, err := json.Marshal(append([]Key{}, keys...)) // none is an empty array
	if err != nil {
		return 0, fmt.Errorf("messagingriver: resolve: %w", err)
	}
	resolved, err := o.database.keys(ctx, `
		UPDATE messaging_outbox
		SET state = $2, problem = $3, due_at = $4, message = CASE WHEN $2 = 'waiting' THEN message ELSE NULL END
		FROM ROWS
		WHERE channel = value->>'channel' AND reference = value->>'reference' AND state || '' IN ('parked', 'unknown')
		RETURNING channel, reference`,
		string(rows), string(state), "resolved: "+string(decision), time.Now().Add(wait).UnixMilli())
	if err == nil && decision == Resend {
		err = o.wake(ctx, o.options.Queue, resolved) // if this fails, wakeOverdue does it
	}
	if err != nil {
		return len(resolved), fmt.Errorf("messagingriver: resolve: %w", err)
	}
	return len(resolved), nil
}
