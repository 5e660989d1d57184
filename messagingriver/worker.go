package messagingriver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"golang.org/x/sync/errgroup"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// messages is what River's jobs are for: to send some messages. One job for several costs less than a job for each.
type messages struct {
	Messages []Key `json:"messages"`
}

func (messages) Kind() string { return "messaging_send" }

// perJob is how many messages a job is for: so few that one of a higher priority soon finds a free worker.
const perJob = 25

func jobsOf(keys []Key, options river.InsertOpts) []river.InsertManyParams {
	options.Queue, options.UniqueOpts, options.Pending = queue, river.UniqueOpts{}, false
	var jobs []river.InsertManyParams
	for some := range slices.Chunk(keys, perJob) {
		jobs = append(jobs, river.InsertManyParams{Args: messages{some}, InsertOpts: &options})
	}
	return jobs
}

// sender works River's jobs. A job only says that messages may wait: their rows decide, so that a job that runs twice, or too
// late, sends nothing.
type sender[TTx any] struct {
	river.WorkerDefaults[messages]

	outbox *Outbox[TTx]
}

// Timeout ends a job whose messages wait for their turn too long. It then runs again.
func (s *sender[TTx]) Timeout(*river.Job[messages]) time.Duration { return s.outbox.overdue() }

// Work sends those of the messages that wait.
func (s *sender[TTx]) Work(ctx context.Context, job *river.Job[messages]) error {
	for keys := range slices.Chunk(job.Args.Messages, min(perJob, s.outbox.options.Workers)) {
		err := s.outbox.deliver(ctx, keys, job.Attempt >= job.MaxAttempts, backoff(job.Attempt))
		switch {
		case ctx.Err() != nil:
			return river.JobSnooze(0)
		case isAccount(err):
			return river.JobSnooze(time.Second)
		case err != nil:
			return err // the reason is likely to hold for the others, too
		}
	}
	return nil
}

// backoff is a little more than River waits by default after the n-th attempt.
func backoff(n int) time.Duration {
	n = min(n, 25)
	return time.Duration(n*n*n*n) * 1200 * time.Millisecond
}

// deliver sends those of some messages that wait, all at once. An error means that one of them waits on, for the next attempt.
func (o *Outbox[TTx]) deliver(ctx context.Context, keys []Key, last bool, wait time.Duration) error {
	if err := o.places.Acquire(ctx, int64(len(keys))); err != nil {
		return err
	}
	claimed, err := o.claim(ctx, keys)
	o.places.Release(int64(len(keys) - len(claimed)))
	if err != nil {
		return err
	}
	found := make(chan result, len(claimed))
	for _, a := range claimed {
		go func() { found <- o.send(ctx, &a, last, wait) }()
	}
	for left := len(claimed); left > 0; {
		results := []result{<-found}
		for len(found) > 0 { // those that came while others were recorded
			results = append(results, <-found)
		}
		left -= len(results)
		recordErr := o.recordUntil(ctx, time.Now().Add(o.options.SendTimeout), results)
		o.places.Release(int64(len(results)))
		for _, r := range results {
			err = cmp.Or(err, r.waits, recordErr)
		}
	}
	if isAccount(err) {
		return errors.Join(err, o.pause(ctx, err))
	}
	return err
}

// send makes an attempt and returns what it found.
func (o *Outbox[TTx]) send(ctx context.Context, a *attempt, last bool, wait time.Duration) result {
	sending, cancel := context.WithDeadline(ctx, time.UnixMilli(a.began).Add(o.options.SendTimeout))
	defer cancel()
	var receipt messaging.Receipt
	message, err := o.channels[a.Channel].decode(a.stored)
	if err == nil {
		receipt, err = o.channels[a.Channel].send(sending, message)
	}
	r := o.judge(a, receipt, err)
	switch {
	case isAccount(err):
		wait = 0
	case last && r.State == Waiting && ctx.Err() == nil:
		r.State = Parked // River would not run the job again
	}
	if r.State == Waiting {
		r.waits = err
		r.due(o.overdue() + wait)
	}
	return r
}

// overdue is how long a message waits beyond its time before it gets another job.
func (o *Outbox[TTx]) overdue() time.Duration { return 5 * o.options.SendTimeout }

// attempt is the right to send a message once. It is recorded before anything is sent, and only its own outcome, or a person,
// lets another attempt begin.
type attempt struct {
	Key

	number int
	stored string
	began  int64
}

// claim begins an attempt of each message that waits. It ignores the end of ctx, because a caller that left would not know what
// was written.
func (o *Outbox[TTx]) claim(ctx context.Context, keys []Key) ([]attempt, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.options.SendTimeout)
	defer cancel()
	now := time.Now()
	return o.database.attempts(ctx, `
		UPDATE messaging_outbox SET state = 'sending', attempt = attempt + 1, began_at = $2, due_at = $3, problem = '' FROM ROWS
		WHERE channel = value->>'channel' AND reference = value->>'reference' AND state || '' = 'waiting'`,
		list[Key](keys), now.UnixMilli(), now.Add(2*o.options.SendTimeout).UnixMilli())
}

// result is what an attempt or a lookup found, as record's statement reads it.
type result struct {
	Key

	Attempt int                `json:"attempt"`
	State   State              `json:"state"`
	Receipt *messaging.Receipt `json:"receipt"`
	Problem string             `json:"problem"`
	Due     *int64             `json:"due"`

	waits error // why the message still waits
}

func (r *result) due(wait time.Duration) { r.Due = new(time.Now().Add(wait).UnixMilli()) }

// judge returns the result of an attempt by what the client returned.
func (o *Outbox[TTx]) judge(a *attempt, receipt messaging.Receipt, err error) result {
	r := result{Key: a.Key, Attempt: a.number}
	r.due(keep) // if it is final
	if err == nil {
		receipt.Raw = nil // it may repeat the number or the text
		r.State, r.Receipt = Accepted, &receipt
		return r
	}
	r.Problem = strings.ReplaceAll(err.Error(), "\x00", "") // PostgreSQL has no text with it
	_, invalid := errors.AsType[*messaging.ValidationError](err)
	verdict := messaging.VerdictOf(err)
	switch {
	case verdict == messaging.NotSent && !invalid, verdict == messaging.Refused && isAccount(err):
		r.State = Waiting
	case invalid, verdict == messaging.Refused && !errors.Is(err, messaging.ErrDuplicate):
		r.State = Refused
	case a.Channel == messaging.ChannelSMS.String():
		r.State = Unknown // or the service has the message already
		r.due(o.options.SendTimeout / 4)
	default:
		r.State = Parked // nothing lists the messages of the chat apps
	}
	return r
}

// isAccount reports whether the service would refuse every other message too: wrong credentials, no credit, too many requests.
func isAccount(err error) bool {
	return errors.Is(err, messaging.ErrUnauthorized) || errors.Is(err, messaging.ErrInsufficientBalance) ||
		errors.Is(err, messaging.ErrRateLimited)
}

// recordUntil records results, also if ctx has ended, and tries again until a time if the database is away. One counts if its attempt is the
// last and nothing is final: a late response is worth more than "unknown", and less than what a person decided. Somebody who had a
// message sent again is not overruled by a lookup that knows nothing.
func (o *Outbox[TTx]) recordUntil(ctx context.Context, end time.Time, results []result) error {
	for {
		writing, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.options.SendTimeout)
		err := o.database.exec(writing, `
			UPDATE messaging_outbox
			SET state = value->>'state', receipt = value->>'receipt', problem = value->>'problem',
				due_at = CAST(value->>'due' AS BIGINT),
				message = CASE WHEN value->>'state' IN ('accepted', 'refused') THEN NULL ELSE message END
			FROM ROWS
			WHERE channel = value->>'channel' AND reference = value->>'reference'
				AND attempt = CAST(value->>'attempt' AS BIGINT) AND state || '' IN ('waiting', 'sending', 'unknown', 'parked')
				AND NOT (state || '' = 'waiting' AND value->>'state' IN ('unknown', 'parked'))`,
			list[result](results))
		cancel()
		if err == nil || time.Now().After(end) {
			return err
		}
		<-time.After(o.options.SendTimeout / 20)
	}
}

// round is the periodic job for the outbox's own work.
type round struct{}

func (round) Kind() string { return "messaging_tend" }

// tend does one round. A part that fails does not keep the others from being done.
func (o *Outbox[TTx]) tend(ctx context.Context, _ *river.Job[round]) error {
	return errors.Join(o.settleDue(ctx), o.wakeOverdue(ctx), o.probe(ctx), o.deleteOld(ctx))
}

// settleDue finds out about messages whose outcome is unknown. An attempt that recorded none within its lease is one of them:
// its process was killed, is frozen, or could not reach the database.
func (o *Outbox[TTx]) settleDue(ctx context.Context) error {
	now := time.Now()
	unknown, err := o.database.attempts(ctx, `
		UPDATE messaging_outbox SET state = 'unknown', due_at = $2 WHERE `+dueIn("'sending', 'unknown'"),
		now.UnixMilli(), now.Add(2*o.options.SendTimeout).UnixMilli())
	if err != nil {
		return err
	}
	var lookups errgroup.Group
	lookups.SetLimit(32)
	for _, a := range unknown {
		lookups.Go(func() error { return o.recordUntil(ctx, now, []result{o.lookUp(ctx, &a)}) })
	}
	return lookups.Wait()
}

// lookUp returns what became of a message. One whose outcome nobody can know is parked, not sent again: not even if it is not
// listed, because the process that holds it may be frozen.
func (o *Outbox[TTx]) lookUp(ctx context.Context, a *attempt) result {
	r := result{Key: a.Key, Attempt: a.number, State: Parked, Problem: "the outcome is lost, and no listing shows this channel"}
	if a.Channel != messaging.ChannelSMS.String() {
		return r
	}
	ctx, cancel := context.WithTimeout(ctx, o.options.SendTimeout)
	defer cancel()
	var m sms.Message
	if err := json.Unmarshal([]byte(a.stored), &m); err != nil {
		r.Problem = err.Error()
		return r
	}
	// A window that is long over makes one lookup decide. SettleFor is the outbox's own window: its rounds do not wait.
	receipt, err := o.client.SMS.Settle(ctx, m, time.UnixMilli(0))
	if err == nil {
		return o.judge(a, receipt, nil)
	}
	r.Problem = err.Error()
	limit := o.options.SettleFor
	if !errors.Is(err, messaging.ErrNotListed) && !errors.Is(err, messaging.ErrFilterIgnored) {
		limit += 24 * time.Hour // the lookup itself failed, so wait for the service
	}
	if age := time.Since(time.UnixMilli(a.began)); age < limit {
		r.State = Unknown
		r.due(min(age/2, 10*time.Minute))
	}
	return r
}

// wakeOverdue enqueues another job for each message that waits beyond its time: theirs may have ended with a process, or been deleted or
// cancelled. It may also still queue, so the other one comes after all that queues, and the next one much later.
func (o *Outbox[TTx]) wakeOverdue(ctx context.Context) error {
	now := time.Now()
	waiting, err := o.database.keys(ctx, "UPDATE messaging_outbox SET due_at = $2 WHERE "+dueIn("'waiting'")+" RETURNING channel, reference",
		now.UnixMilli(), now.Add(12*o.overdue()).UnixMilli())
	if err == nil && len(waiting) > 0 {
		_, err = o.river.InsertManyFast(ctx, jobsOf(waiting, river.InsertOpts{Priority: 4}))
	}
	return err
}

// pause pauses the queue because of the account. It takes a note first: a queue without one was paused by a person.
func (o *Outbox[TTx]) pause(ctx context.Context, problem error) error {
	wait := o.options.SendTimeout
	if e, ok := errors.AsType[*messaging.Error](problem); ok {
		wait = max(wait, min(e.RetryAfter, time.Hour)) // a service may ask for years
	}
	if err := o.database.exec(ctx, `
		INSERT INTO messaging_pause (queue, problem, probe_at) VALUES ($1, $2, $3)
		ON CONFLICT (queue) DO UPDATE SET problem = excluded.problem, probe_at = excluded.probe_at`,
		queue, problem.Error(), time.Now().Add(wait).UnixMilli()); err != nil {
		return err
	}
	return o.river.QueuePause(ctx, queue, nil)
}

// probe sends one message of a queue that was paused because of the account, and resumes the queue if that is no longer refused.
func (o *Outbox[TTx]) probe(ctx context.Context) error {
	now := time.Now()
	waiting, err := o.database.keys(ctx, `
		SELECT channel, reference FROM messaging_outbox WHERE state = 'waiting' AND due_at <= $1
		AND EXISTS (SELECT 1 FROM messaging_pause WHERE probe_at <= $2) LIMIT 1`, now.Add(o.overdue()).UnixMilli(), now.UnixMilli())
	if err != nil || len(waiting) == 0 {
		return err
	}
	if err := o.deliver(ctx, waiting, false, 0); err != nil {
		return err
	}
	if err := o.river.QueueResume(ctx, queue, nil); err != nil {
		return err
	}
	return o.database.exec(ctx, "DELETE FROM messaging_pause WHERE probe_at <= $1", now.UnixMilli())
}

// deleteOld deletes rows that were kept for their time.
func (o *Outbox[TTx]) deleteOld(ctx context.Context) error {
	return o.database.exec(ctx, "DELETE FROM messaging_outbox WHERE "+dueIn("'accepted', 'refused', 'dropped'"), time.Now().UnixMilli())
}
