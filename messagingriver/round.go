package messagingriver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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

// Hooks has the database's clock say when a round begins. River takes the leader's, and one that is fast would put rounds off.
func (round) Hooks() []rivertype.Hook {
	return []rivertype.Hook{river.HookInsertBeginFunc(func(_ context.Context, job *rivertype.JobInsertParams) error {
		job.ScheduledAt = nil
		return nil
	})}
}

type tender[TTx any] struct {
	river.WorkerDefaults[round]

	outbox *Outbox[TTx]
}

// Timeout is longer than a round should take.
func (t *tender[TTx]) Timeout(*river.Job[round]) time.Duration { return t.outbox.overdue() }

// Work does one round. A part that fails does not keep the others from being done. Lookups come last, because they wait for
// the service.
func (t *tender[TTx]) Work(ctx context.Context, _ *river.Job[round]) error {
	o := t.outbox
	return errors.Join(o.noteRate(ctx), o.dropCancelled(ctx), o.takeBack(ctx), o.wakeOverdue(ctx), o.probe(ctx), o.resumeAgain(ctx), o.deleteOld(ctx), o.settleDue(ctx))
}

// batch is how many rows a statement of a round takes.
const batch = 1000

// settleDue finds out about messages whose outcome is unknown. An attempt that recorded none within its lease is one of them:
// its process was killed, is frozen, or could not reach the database. It ends after the time of a round, so that the next one
// begins in time, and goes on there.
func (o *Outbox[TTx]) settleDue(ctx context.Context) error {
	const atOnce = 32
	began := time.Now()
	for {
		unknown, err := o.database.attempts(ctx, `UPDATE messaging_outbox SET state = 'unknown', due_at = CLOCK + CAST($2 AS BIGINT) WHERE `+
			dueIn("'sending', 'unknown'"), 4*atOnce, (2 * o.options.SendTimeout).Milliseconds())
		if err != nil || len(unknown) == 0 {
			return err
		}
		var lookups errgroup.Group
		lookups.SetLimit(atOnce)
		for _, a := range unknown {
			lookups.Go(func() error {
				found := time.Now()
				return o.recordUntil(ctx, found.Add(o.round()), []result{o.lookUp(ctx, &a)})
			})
		}
		if err := lookups.Wait(); err != nil || time.Since(began) > o.round() {
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
	age := time.Duration(a.age) * time.Millisecond
	limit := o.options.SettleFor
	again := func() { // unless it was looked up for long enough
		if age < limit {
			r.State = Unknown
			r.wait(max(o.round(), min(age/2, 10*time.Minute)))
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
		return o.judge(a, receipt, nil)
	}
	r.Problem = problemOf(err)
	if !errors.Is(err, messaging.ErrNotListed) && !errors.Is(err, messaging.ErrFilterIgnored) {
		limit += 24 * time.Hour // the lookup itself failed, so wait for the service
	}
	again()
	return r
}

// dropCancelled drops the messages of jobs that a person cancelled in River's page, unless the person decided otherwise since, or
// the message was enqueued since, under the reference ID of one that was forgotten.
func (o *Outbox[TTx]) dropCancelled(ctx context.Context) error {
	return o.database.exec(ctx, `
		UPDATE messaging_outbox
		SET state = 'dropped', problem = 'its job was cancelled in River', message = NULL, recipient = NULL, due_at = CLOCK + CAST($1 AS BIGINT)
		FROM river_job j, MESSAGES
		WHERE j.kind = 'messaging_send' AND j.state = 'cancelled' AND FINALIZED >= LATER(decided_at, messaging_outbox.created_at)
			AND channel = value->>'channel' AND reference = value->>'reference' AND messaging_outbox.state || '' = 'waiting'`,
		o.options.Keep.Milliseconds())
}

// takeBack has messages looked after whose jobs ended with their process. A round had put them off while these queued.
func (o *Outbox[TTx]) takeBack(ctx context.Context) error {
	return o.database.exec(ctx, `
		UPDATE messaging_outbox SET due_at = LATER(not_before, CLOCK) FROM river_job j, MESSAGES
		WHERE j.kind = 'messaging_send' AND j.state = 'running' AND ATTEMPTED <= CLOCK - CAST($1 AS BIGINT)
			AND channel = value->>'channel' AND reference = value->>'reference' AND messaging_outbox.state || '' = 'waiting'
			AND due_at > LATER(not_before, CLOCK) AND due_at <= ATTEMPTED + CAST($2 AS BIGINT)`,
		o.overdue().Milliseconds(), o.muchLater().Milliseconds())
}

// muchLater is how long a message waits for a job that a round made before it gets another.
func (o *Outbox[TTx]) muchLater() time.Duration { return 12 * o.overdue() }

// wakeOverdue makes another job for each message that waits beyond its time: its job may have ended with a process, been
// deleted, or handed it back. It may also still queue, and so may the new one, so the next comes much later. What gets two jobs
// is sent once.
func (o *Outbox[TTx]) wakeOverdue(ctx context.Context) error {
	type job struct{ priority, most int }
	type late struct {
		Key
		job
	}
	for {
		waiting, err := fetch(ctx, o.database, func(l *late) []any { return []any{&l.Channel, &l.Reference, &l.priority, &l.most} }, `
			SELECT channel, reference, priority, max_attempts FROM messaging_outbox
			WHERE state = 'waiting' AND due_at <= CLOCK AND channel IN `+knownChannels()+` ORDER BY due_at LIMIT $1`, batch)
		if err != nil || len(waiting) == 0 {
			return err
		}
		like := map[job][]Key{}
		var keys list[Key]
		for _, l := range waiting {
			like[l.job] = append(like[l.job], l.Key)
			keys = append(keys, l.Key)
		}
		if err := o.inTx(ctx, func(tx TTx) error { // so that a job begins after its messages were put off
			for job, some := range like {
				options := river.InsertOpts{Priority: job.priority, MaxAttempts: job.most}
				if _, err := o.river.InsertManyFastTx(ctx, tx, jobsOf(some, options)); err != nil {
					return err
				}
			}
			found, err := o.database.queryIn(ctx, tx, o.database.spell.Replace(putOff), keys, o.muchLater().Milliseconds())
			_, err = collect(found, err, func(*struct{}) []any { return nil })
			return err
		}); err != nil || len(waiting) < batch {
			return err
		}
	}
}

// inTx runs a function in a transaction, and commits it unless the function fails.
func (o *Outbox[TTx]) inTx(ctx context.Context, run func(tx TTx) error) error {
	executor, err := o.database.driver.GetExecutor().Begin(ctx)
	if err != nil {
		return err
	}
	defer executor.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // nothing after the commit
	if err = run(o.database.driver.UnwrapTx(executor)); err != nil {
		return err
	}
	return executor.Commit(ctx)
}

// pauseForAccount pauses the queue of a channel because of the account. It takes a note first: a queue without one was paused
// by a person.
func (o *Outbox[TTx]) pauseForAccount(ctx context.Context, channel string, problem error) error {
	ctx = context.WithoutCancel(ctx)
	wait := max(o.options.SendTimeout, min(retryAfter(problem), time.Hour)) // a service may ask for years
	if err := o.database.exec(ctx, `
		INSERT INTO messaging_pause (queue, problem, probe_at) VALUES ($1, $2, CLOCK + CAST($3 AS BIGINT))
		ON CONFLICT (queue) DO UPDATE SET problem = excluded.problem, probe_at = excluded.probe_at`,
		queueOf(channel), problemOf(problem), wait.Milliseconds()); err != nil {
		return err
	}
	return o.river.QueuePause(ctx, queueOf(channel), nil)
}

// probe sends one message of each queue that was paused because of the account, and resumes the queue if that is no longer
// refused.
func (o *Outbox[TTx]) probe(ctx context.Context) error {
	queues, err := fetch(ctx, o.database, func(queue *string) []any { return []any{queue} },
		"SELECT queue FROM messaging_pause WHERE probe_at <= CLOCK")
	for _, name := range queues {
		err = errors.Join(err, o.probeQueue(ctx, name))
	}
	return err
}

func (o *Outbox[TTx]) probeQueue(ctx context.Context, queue string) error {
	channel := slices.IndexFunc(o.names(), func(name string) bool { return queueOf(name) == queue })
	if channel < 0 {
		return nil // of a channel that another version knows
	}
	name := o.names()[channel]
	waiting, err := o.database.keys(ctx, `SELECT channel, reference FROM messaging_outbox
		WHERE state = 'waiting' AND not_before <= CLOCK AND channel = $1`+o.itsTurn()+" ORDER BY due_at LIMIT 1", name)
	if err != nil || len(waiting) == 0 {
		return err
	}
	sending, given, err := o.rate.wait(ctx, 1)
	if err != nil {
		return err
	}
	claimed, err := o.claim(ctx, name, waiting, true)
	if err != nil || len(claimed) == 0 {
		return err
	}
	// If it is refused, the pause begins anew.
	if err = o.attempt(sending, claimed, given, river.MaxAttemptsDefault); err != nil {
		return err
	}
	over, err := fetch(ctx, o.database, func(name *string) []any { return []any{name} },
		"DELETE FROM messaging_pause WHERE queue = $1 AND probe_at <= CLOCK RETURNING queue", queue)
	if err != nil || len(over) == 0 {
		return err
	}
	return o.river.QueueResume(ctx, queue, nil)
}

// resumeAgain notifies workers once more of the queues that are not paused. One that lost this notification would look again after a minute.
func (o *Outbox[TTx]) resumeAgain(ctx context.Context) error {
	var err error
	for _, name := range o.names() {
		err = errors.Join(err, o.resumeQueueAgain(ctx, queueOf(name)))
	}
	return err
}

func (o *Outbox[TTx]) resumeQueueAgain(ctx context.Context, name string) error {
	return o.inTx(ctx, func(tx TTx) error {
		// The lock has a pause that begins now wait, so that it is not undone.
		found, err := o.database.queryIn(ctx, tx,
			o.database.spell.Replace("SELECT name FROM river_queue WHERE name = $1 AND paused_at IS NULL UNLOCKED"), name)
		running, err := collect(found, err, func(name *string) []any { return []any{name} })
		if err != nil || len(running) == 0 {
			return err
		}
		return o.river.QueueResumeTx(ctx, tx, name, nil)
	})
}

// deleteOld deletes rows that were kept for their time, and the content of refused messages. What is left of their time is
// that of the others.
func (o *Outbox[TTx]) deleteOld(ctx context.Context) error {
	for {
		emptied, err := o.database.keys(ctx, `
			UPDATE messaging_outbox SET message = NULL, due_at = CLOCK + CAST($2 AS BIGINT)
			WHERE message IS NOT NULL AND `+dueIn("'refused'")+" RETURNING channel, reference",
			batch, max(0, o.options.Keep-o.options.KeepRefused).Milliseconds())
		if err != nil {
			return err
		}
		deleted, err := o.database.keys(ctx, "DELETE FROM messaging_outbox WHERE (message IS NULL OR state <> 'refused') AND "+
			dueIn("'accepted', 'refused', 'dropped'")+" RETURNING channel, reference", batch)
		if err != nil || len(emptied)+len(deleted) == 0 {
			return err
		}
	}
}
