package messagingriver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"golang.org/x/sync/errgroup"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// round is the periodic job for the outbox's own work.
type round struct{ atOnce }

func (round) Kind() string { return "messaging_tend" }

// tend does one round. Deleting what is old runs beside settling, and neither begins if that of the round before goes on.
func (o *Outbox[TTx]) tend(ctx context.Context, _ *river.Job[round]) error {
	var both errgroup.Group
	if o.tending.TryLock() {
		both.Go(func() error {
			defer o.tending.Unlock()
			_, err := o.sweep(ctx, "expires_at <= CLOCK",
				"state = 'expired', problem = $2, due_at = CLOCK, recipient = NULL", errExpired.Error())
			return errors.Join(err, o.settleDue(ctx))
		})
	}
	if o.cleaning.TryLock() {
		both.Go(func() error {
			defer o.cleaning.Unlock()
			return o.clean(ctx)
		})
	}
	return both.Wait()
}

// some is a statement that changes up to $1 rows in some states which meet a condition, and which no other statement holds.
func some(change, states, condition string) string {
	return "WITH batch AS MATERIALIZED (SELECT channel, reference FROM messaging_outbox WHERE " + states + " AND " + condition +
		" LIMIT $1 UNLOCKED) " + change + " WHERE " + states + " AND " + inBatch
}

// batch is how many rows changeSome changes at most.
const batch = 1000

// changeSome runs some, and returns how many rows it changed.
func (o *Outbox[TTx]) changeSome(ctx context.Context, change, states, condition string, args ...any) (int, error) {
	changed, err := o.database.keys(ctx, some(change, states, condition)+" RETURNING channel, reference", append([]any{batch}, args...)...)
	return len(changed), err
}

// settleDue finds out about messages whose outcome is unknown: also those that a dead worker had begun, and those of which none was
// recorded within the lease, because a process is frozen or could not reach the database. It ends after the time of a round, so that
// the next one begins in time, and goes on there.
func (o *Outbox[TTx]) settleDue(ctx context.Context) error {
	err := o.database.exec(ctx, `UPDATE messaging_outbox SET state = 'unknown', due_at = CLOCK
		WHERE state = 'sending' AND channel IN `+o.known()+`
			AND COALESCE(worker, '') NOT IN (SELECT worker FROM messaging_live WHERE seen_at > CLOCK - CAST($1 AS BIGINT))`,
		lifetime.Milliseconds())
	if err != nil {
		return err
	}
	const lookups = 32
	for began := time.Now(); ; {
		unknown, err := o.database.attempts(ctx, some("UPDATE messaging_outbox SET state = 'unknown', due_at = CLOCK + CAST($2 AS BIGINT)",
			"state IN ('sending', 'unknown')", "due_at <= CLOCK AND channel IN "+o.known()),
			4*lookups, (2 * o.options.SendTimeout).Milliseconds())
		if err != nil || len(unknown) == 0 {
			return err
		}
		var all errgroup.Group
		all.SetLimit(lookups)
		for _, a := range unknown {
			all.Go(func() error {
				return o.recordUntil(ctx, time.Now().Add(o.round()), o.lookUp(ctx, &a))
			})
		}
		if err := all.Wait(); err != nil || time.Since(began) > o.round() {
			return err
		}
	}
}

// lookUp returns what became of a message. One whose outcome nobody can know is parked, and not sent again, not even if it is not listed:
// it may be listed later, and the process that holds it may be frozen.
func (o *Outbox[TTx]) lookUp(ctx context.Context, a *attempt) (r result) {
	r = result{Key: a.Key, Attempt: a.number, State: Parked, Problem: "the outcome is lost, and no listing shows this channel"}
	if a.Channel != messaging.ChannelSMS.String() {
		return r
	}
	age, limit := time.Duration(a.age)*time.Millisecond, o.options.SettleFor
	again := func() { // unless it was looked up for long enough
		if age < limit {
			r.State = Unknown
			r.Wait = max(o.round(), min(age/2, 10*time.Minute)).Milliseconds()
		}
	}
	var m sms.Message
	if err := json.Unmarshal([]byte(a.stored.String), &m); err != nil {
		r.Problem = "the outcome is lost, and the row holds no message that this version can read"
		return r
	}
	defer func() {
		if p := recover(); p != nil {
			r.Problem = fmt.Sprintf("the lookup panicked with a %T", p)
			again()
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, o.options.SendTimeout)
	defer cancel()
	// A window that is long over makes one lookup decide. SettleFor is the outbox's own window: its rounds do not wait.
	receipt, err := o.client.SMS.Settle(ctx, m, time.UnixMilli(0))
	if err == nil {
		r = o.judge(a, receipt, nil)
		r.note(nil)
		return r
	}
	r.Problem = problemOf(err)
	if !errors.Is(err, messaging.ErrNotListed) && !errors.Is(err, messaging.ErrFilterIgnored) {
		limit += 24 * time.Hour // the lookup itself failed, so wait for the service
	}
	again()
	return r
}

// clean deletes rows that were kept for their time, and the content of refused and expired messages: one state at a time, so that
// the index serves it. It ends after the time of a round.
func (o *Outbox[TTx]) clean(ctx context.Context) error {
	for began := time.Now(); ; {
		n, err := o.changeSome(ctx, "UPDATE messaging_outbox SET message = NULL", "state IN ('refused', 'expired')",
			"message IS NOT NULL AND due_at <= CLOCK - CAST($2 AS BIGINT) ORDER BY due_at", o.options.KeepRefused.Milliseconds())
		for _, state := range []State{Accepted, Refused, Expired, Dropped} {
			if err != nil {
				return err
			}
			var deleted int
			deleted, err = o.changeSome(ctx, "DELETE FROM messaging_outbox", "state = $3 AND state <> 'waiting'",
				"due_at <= CLOCK - CAST($2 AS BIGINT) ORDER BY due_at", o.options.Keep.Milliseconds(), string(state))
			n += deleted
		}
		if err != nil || n == 0 || time.Since(began) > o.round() {
			return errors.Join(err, o.database.exec(ctx, "DELETE FROM messaging_live WHERE seen_at < CLOCK - 60000"))
		}
	}
}
