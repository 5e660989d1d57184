package messagingriver

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

// State is what is known of a message in the outbox, in the column state of the table messaging_outbox.
type State string

// The states of a message. The last four are final.
const (
	Waiting  State = "waiting"  // for its time, its turn or its next attempt; nothing was sent
	Sending  State = "sending"  // an attempt has begun, and its outcome is not recorded yet
	Unknown  State = "unknown"  // it may have been sent, and is looked up until Options.SettleFor is over
	Parked   State = "parked"   // nobody can know if it was sent, or its attempts are used up: a person decides
	Accepted State = "accepted" // the service took it
	Refused  State = "refused"  // the service refused it, or it was invalid and not sent: a person can have it sent again
	Expired  State = "expired"  // its time was over before it could be sent: a person can have it sent with a new expiry
	Dropped  State = "dropped"  // a person decided not to send it
)

// States returns the states, in the order in which a message goes through them.
func States() []State {
	return []State{Waiting, Sending, Unknown, Parked, Accepted, Refused, Expired, Dropped}
}

// Record is what is known of a message.
type Record struct {
	Key

	State State `json:"state"`
	// Message is nil if it cannot be read, or was deleted because it is final.
	Message messaging.Message `json:"-"`
	// Problem says what went wrong. It holds no number, text or secret.
	Problem string `json:"problem"`
	// Attempts is the number of attempts that were begun.
	Attempts int `json:"attempts"`
	// Created is when the message was enqueued, and Began when its last attempt began, or the zero time.
	Created time.Time `json:"created"`
	Began   time.Time `json:"began,omitzero"`
	// Due is when a message that waits is sent, and when a final one became final. It is the zero time while a campaign is paused.
	Due      time.Time `json:"due,omitzero"`
	Expires  time.Time `json:"expires,omitzero"`
	Priority Priority  `json:"priority"`
	Campaign string    `json:"campaign,omitempty"`
	// Worker made the last attempt, and holds a message that it is Sending: its host name and a random text.
	Worker string `json:"worker,omitempty"`
	// Job is River's job that claims messages of the channel, if there is one while the message is Waiting or Sending.
	Job int64 `json:"job,omitempty"`
	// History has the attempts that ended, the oldest first; nil if none did. An attempt that was stopped before it tried anything
	// is not among them.
	History []Attempt `json:"history"`
}

// Attempt is an attempt that ended, or the lookup that settled it.
type Attempt struct {
	Began time.Time `json:"began"`
	Ended time.Time `json:"ended"`
	// Verdict is "accepted", "refused", "not sent" or "unknown", and Problem what went wrong.
	Verdict string `json:"verdict"`
	Problem string `json:"problem,omitempty"`
}

// Parked returns messages that wait for a person's decision: the first 500 after a key, by channel and reference ID. The zero Key
// is before all.
func (o *Outbox[TTx]) Parked(ctx context.Context, after Key) ([]Record, error) {
	return o.page(ctx, Parked, after)
}

// Refused returns messages that were refused, like Parked.
func (o *Outbox[TTx]) Refused(ctx context.Context, after Key) ([]Record, error) {
	return o.page(ctx, Refused, after)
}

func (o *Outbox[TTx]) page(ctx context.Context, state State, after Key) ([]Record, error) {
	return o.records(ctx, "state = $1 AND (channel, reference) > ($2, $3) ORDER BY channel, reference LIMIT 500",
		string(state), after.Channel, after.Reference)
}

// Show returns what is known of the messages with a reference ID: one for each channel that has it.
func (o *Outbox[TTx]) Show(ctx context.Context, reference string) ([]Record, error) {
	return o.records(ctx, "channel IN "+o.known()+" AND reference = $1", reference)
}

func (o *Outbox[TTx]) records(ctx context.Context, which string, args ...any) ([]Record, error) {
	type row struct {
		Record

		message                      sql.NullString
		history                      string
		created, began, due, expires int64
	}
	rows, err := fetch(ctx, o.database, func(r *row) []any {
		return []any{
			&r.Channel, &r.Reference, &r.State, &r.Attempts, &r.Problem, &r.message, &r.created, &r.began, &r.due, &r.expires, &r.Priority,
			&r.Campaign, &r.Worker, &r.Job, &r.history,
		}
	}, `
		SELECT channel, reference, state, attempt, problem, message, created_at, COALESCE(began_at, 0), COALESCE(due_at, 0),
			COALESCE(expires_at, 0), priority, COALESCE(campaign, ''), COALESCE(worker, ''), CASE WHEN state IN ('waiting', 'sending') THEN
				COALESCE((SELECT MAX(j.id) FROM river_job j WHERE j.kind = 'messaging_send' AND j.state IN ('available', 'running')
					AND j.args->>'channel' = messaging_outbox.channel), 0) ELSE 0 END, history
		FROM messaging_outbox WHERE `+which, args...)
	records := make([]Record, len(rows))
	for i, r := range rows {
		r.Created, r.Began, r.Due, r.Expires = timeOf(r.created), timeOf(r.began), timeOf(r.due), timeOf(r.expires)
		var history []struct {
			Began, Ended     int64
			Verdict, Problem string
		}
		if json.Unmarshal([]byte("["+strings.TrimPrefix(r.history, ",")+"]"), &history) == nil {
			for _, a := range history {
				r.History = append(r.History, Attempt{timeOf(a.Began), timeOf(a.Ended), a.Verdict, a.Problem})
			}
		}
		if known, ok := o.channels[r.Channel]; ok && r.message.Valid {
			if message, problem := known.decode([]byte(r.message.String)); problem == nil {
				r.Message = message
			}
		}
		records[i] = r.Record
	}
	return records, err
}

// timeOf returns a time of the table, where 0 is none.
func timeOf(milliseconds int64) time.Time {
	if milliseconds == 0 {
		return time.Time{}
	}
	return time.UnixMilli(milliseconds)
}

// Decision is what a person decides about a message.
type Decision string

// The decisions.
const (
	// Sent: it went out, as the service or a delivery report shows. A parked, unknown or waiting message becomes Accepted. One
	// that waits can have gone out if the database was restored from a backup, or if it was to be sent again.
	Sent Decision = "sent"
	// Resend: it did not go out, or was refused for a reason that is gone. A parked, unknown or refused message becomes
	// Waiting, and is sent within seconds. If it did go out, the recipient gets it twice. A refused message is resent
	// until Options.KeepRefused is over.
	Resend Decision = "resend"
	// Drop: it is not to be sent. A parked, unknown, refused, expired or waiting message becomes Dropped. This cancels a message.
	Drop Decision = "drop"
)

// Resolve carries out a decision about messages, any number at once, and returns how many it applied to. Those in other states
// stay as they are. A handler of delivery reports may resolve every message that it hears of as Sent.
func (o *Outbox[TTx]) Resolve(ctx context.Context, decision Decision, keys ...Key) (int, error) {
	to, known := map[Decision]State{Sent: Accepted, Resend: Waiting, Drop: Dropped}[decision]
	if !known {
		return 0, fmt.Errorf("messagingriver: Resolve got the decision %q; want Sent, Resend or Drop", decision)
	}
	from := map[Decision]string{Sent: "'waiting'", Resend: "'refused'", Drop: "'refused', 'expired', 'waiting'"}[decision]
	return o.resolve(ctx, to, "resolved: "+string(decision), "'parked', 'unknown', "+from, 0, keys)
}

// Renew has expired messages sent again, if that is possible within a time from now. It returns how many.
func (o *Outbox[TTx]) Renew(ctx context.Context, expire time.Duration, keys ...Key) (int, error) {
	if expire <= 0 {
		return 0, fmt.Errorf("messagingriver: Renew got an expiry of %v; want a positive one", expire)
	}
	return o.resolve(ctx, Waiting, "renewed", "'expired'", expire, keys)
}

// resolve moves messages in some states to another one, with a new expiry unless that is 0.
func (o *Outbox[TTx]) resolve(ctx context.Context, to State, problem, from string, expire time.Duration, keys []Key) (int, error) {
	resolved, err := o.database.keys(ctx, `
		UPDATE messaging_outbox
		SET state = $2, problem = $3, due_at = CLOCK, failures = 0,
			expires_at = CASE WHEN CAST($4 AS BIGINT) > 0 THEN CLOCK + CAST($4 AS BIGINT) ELSE expires_at END,
			not_before = CASE WHEN $2 = 'waiting' THEN 0 ELSE not_before END,
			message = CASE WHEN $2 = 'waiting' THEN message ELSE NULL END,
			recipient = CASE WHEN $2 = 'waiting' THEN recipient ELSE NULL END
		FROM ROWS
		WHERE channel = value->>'channel' AND reference = value->>'reference' AND state || '' IN (`+from+`)
			AND ($2 <> 'waiting' OR message IS NOT NULL)
		RETURNING channel, reference`,
		list[Key](keys), string(to), problem, expire.Milliseconds())
	return len(resolved), err
}
