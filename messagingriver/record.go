package messagingriver

import (
	"context"
	"fmt"
	"time"
)

// State is what is known of a message in the outbox, in the column state of the table messaging_outbox.
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

// Record is what is known of a parked message.
type Record struct {
	Key

	Message Message
	// Problem says what went wrong. It holds no number, text or secret.
	Problem string
	// Attempts is the number of attempts that were begun.
	Attempts int
	// Created is when the message was enqueued, and Began when its last attempt began.
	Created, Began time.Time
}

// Parked returns messages that wait for a person's decision: the first 500 after a key, by channel and reference ID. The zero Key
// is before all.
func (o *Outbox[TTx]) Parked(ctx context.Context, after Key) ([]Record, error) {
	type row struct {
		Record

		message        string
		created, began int64
	}
	found, err := o.database.query(ctx, o.database.spell.Replace(`
		SELECT channel, reference, attempt, problem, message, created_at, began_at FROM messaging_outbox
		WHERE state = 'parked' AND (channel, reference) > ($1, $2) ORDER BY channel, reference LIMIT 500`),
		after.Channel, after.Reference)
	rows, err := collect(found, err, func(r *row) []any {
		return []any{&r.Channel, &r.Reference, &r.Attempts, &r.Problem, &r.message, &r.created, &r.began}
	})
	records := make([]Record, len(rows))
	for i, r := range rows {
		r.Created, r.Began = time.UnixMilli(r.created), time.UnixMilli(r.began)
		r.Message, _ = o.channels[r.Channel].decode(r.message) // what can be read
		records[i] = r.Record
	}
	return records, err
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
	state, due := Waiting, time.Now() // it gets a job in the next round
	switch decision {
	case Sent:
		state, due = Accepted, due.Add(keep)
	case Drop:
		state, due = Dropped, due.Add(keep)
	case Resend:
	default:
		return 0, fmt.Errorf("messagingriver: Resolve got the decision %q; want Sent, Resend or Drop", decision)
	}
	resolved, err := o.database.keys(ctx, `
		UPDATE messaging_outbox
		SET state = $2, problem = $3, due_at = $4, message = CASE WHEN $2 = 'waiting' THEN message ELSE NULL END
		FROM ROWS
		WHERE channel = value->>'channel' AND reference = value->>'reference' AND state || '' IN ('parked', 'unknown')
		RETURNING channel, reference`,
		list[Key](keys), string(state), "resolved: "+string(decision), due.UnixMilli())
	return len(resolved), err
}
