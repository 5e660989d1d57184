package messagingriver

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"golang.org/x/sync/errgroup"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// round is the periodic job for the outbox's own work.
type round struct{}

func (round) Kind() string { return "messaging_tend" }

type tender[TTx any] struct {
	river.WorkerDefaults[round]

	outbox *Outbox[TTx]
}

// Work does one round. A part that fails does not keep the others from being done.
func (t *tender[TTx]) Work(ctx context.Context, _ *river.Job[round]) error {
	o := t.outbox
	return errors.Join(o.settleDue(ctx), o.wakeOverdue(ctx), o.probe(ctx), o.deleteOld(ctx))
}

// most bounds what one statement takes.
const most = 500

// settleDue finds out about messages whose outcome is unknown. An attempt that recorded none within its lease is one of them:
// its process was killed, is frozen, or could not reach the database.
func (o *Outbox[TTx]) settleDue(ctx context.Context) error {
	now := time.Now()
	found, err := o.database.query(ctx, `
		UPDATE messaging_outbox SET state = 'unknown', due_at = $2
		WHERE due_at <= $1 AND (channel, reference) IN (
			SELECT channel, reference FROM messaging_outbox
			WHERE state IN ('sending', 'unknown') AND due_at <= $1 ORDER BY due_at LIMIT $3 UNLOCKED)
		RETURNING `+attemptColumns, now.UnixMilli(), now.Add(o.lease()).UnixMilli(), most)
	unknown, err := collect(found, err, (*attempt).columns)
	if err != nil {
		return err
	}
	var lookups errgroup.Group
	lookups.SetLimit(32)
	for _, a := range unknown {
		lookups.Go(func() error { return o.settle(ctx, &a) })
	}
	return lookups.Wait()
}

// settle looks one message up and records what it found.
func (o *Outbox[TTx]) settle(ctx context.Context, a *attempt) error {
	_, err := o.results.do(o.lookUp(ctx, a))
	return err
}

// lookUp returns what became of a message. One whose outcome nobody can know is parked, not sent again: not even if it is not
// listed, because the process that holds it may be frozen.
func (o *Outbox[TTx]) lookUp(ctx context.Context, a *attempt) result {
	r := result{Key: a.Key, Attempt: a.number, State: Parked}
	message, err := o.channels[a.Channel].decode(a.stored)
	if err != nil {
		r.Problem = err.Error()
		return r
	}
	m, ok := message.(sms.Message)
	if !ok {
		r.Problem = "the outcome is lost, and no listing shows this channel"
		return r
	}
	ctx, cancel := context.WithTimeout(ctx, o.options.SendTimeout)
	defer cancel()
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

// wakeOverdue gives messages that wait beyond their time another job: theirs may have ended with a process, or been deleted or
// cancelled. As long as jobs queue, theirs may be among them.
func (o *Outbox[TTx]) wakeOverdue(ctx context.Context) error {
	now := time.Now()
	oldest, err := o.river.JobList(ctx, river.NewJobListParams().Queues(o.options.Queue).
		States(rivertype.JobStateAvailable).OrderBy(river.JobListOrderByTime, river.SortOrderAsc).First(1))
	if err != nil || len(oldest.Jobs) > 0 && now.Sub(oldest.Jobs[0].ScheduledAt) > o.options.SendTimeout {
		return err
	}
	waiting, err := o.database.keys(ctx, `
		UPDATE messaging_outbox SET due_at = $2
		WHERE due_at <= $1 AND (channel, reference) IN (
			SELECT channel, reference FROM messaging_outbox
			WHERE state = 'waiting' AND due_at <= $1 ORDER BY due_at LIMIT $3 UNLOCKED)
		RETURNING channel, reference`, now.UnixMilli(), now.Add(o.overdue()).UnixMilli(), most)
	if err != nil {
		return err
	}
	return o.wake(ctx, o.options.Queue, waiting)
}

// wake gives messages a job.
func (o *Outbox[TTx]) wake(ctx context.Context, queue string, keys []Key) error {
	if len(keys) == 0 {
		return nil
	}
	_, err := o.river.InsertManyFast(ctx, jobsOf(keys, river.InsertOpts{Queue: queue}))
	return err
}

// pause pauses the queue because of the account. It takes a note first: a queue without one was paused by a person, and is not
// probed. Of the many messages that are refused at once, one pauses.
func (o *Outbox[TTx]) pause(ctx context.Context, r result) error {
	const longest = time.Hour // a probe is one message, and a service may ask for years
	probeAt := time.Now().Add(max(o.options.SendTimeout, min(r.retryAfter, longest)))
	found, err := o.database.query(ctx, `
		INSERT INTO messaging_pause (queue, problem, probe_at) VALUES ($1, $2, $3)
		ON CONFLICT (queue) DO UPDATE SET problem = excluded.problem, probe_at = excluded.probe_at WHERE messaging_pause.probe_at < $4
		RETURNING queue`,
		o.options.Queue, r.Problem, probeAt.UnixMilli(), probeAt.Add(-o.options.SendTimeout/2).UnixMilli())
	noted, err := collect(found, err, queueColumn)
	if err != nil || len(noted) == 0 {
		return err
	}
	return o.river.QueuePause(ctx, o.options.Queue, nil)
}

func queueColumn(queue *string) []any { return []any{queue} }

// probe sends one message of a queue that was paused because of the account, through the queue for the outbox's own work. Work
// resumes the queue if the account is no longer refused.
func (o *Outbox[TTx]) probe(ctx context.Context) error {
	now := time.Now()
	found, err := o.database.query(ctx, "UPDATE messaging_pause SET probe_at = $1 WHERE queue = $2 AND probe_at <= $3 RETURNING queue",
		now.Add(o.options.SendTimeout).UnixMilli(), o.options.Queue, now.UnixMilli())
	paused, err := collect(found, err, queueColumn)
	if err != nil || len(paused) == 0 {
		return err
	}
	waiting, err := o.database.keys(ctx, `
		SELECT channel, reference FROM messaging_outbox WHERE state = 'waiting' AND due_at <= $1 ORDER BY due_at LIMIT 1`,
		now.Add(o.overdue()).UnixMilli()) // of those whose time has come
	if err != nil {
		return err
	}
	if len(waiting) == 0 {
		return o.resume(ctx)
	}
	return o.wake(ctx, o.tendQueue(), waiting)
}

// resume resumes the queue and then forgets the note, so that a process that ends in between leaves a queue that is probed.
func (o *Outbox[TTx]) resume(ctx context.Context) error {
	if err := o.river.QueueResume(ctx, o.options.Queue, nil); err != nil {
		return err
	}
	return o.database.exec(ctx, "DELETE FROM messaging_pause WHERE queue = $1", o.options.Queue)
}

// deleteOld deletes rows that were kept for their time.
func (o *Outbox[TTx]) deleteOld(ctx context.Context) error {
	return o.database.exec(ctx, `
		DELETE FROM messaging_outbox WHERE (channel, reference) IN (
			SELECT channel, reference FROM messaging_outbox
			WHERE state IN ('accepted', 'refused', 'dropped') AND due_at <= $1 ORDER BY due_at LIMIT $2 UNLOCKED)`,
		time.Now().UnixMilli(), 10*most)
}
