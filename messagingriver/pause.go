package messagingriver

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river/riverdriver"
)

// While the service, the account or a rate limit holds back a channel, its queue is paused in all processes, and one message at a time
// probes, in a queue for probes, until the service responds to one. The member "pause" in the metadata of the queue has the cause and the
// time of the pause. A pause at another time is a person's, and is never ended.

// pausedByOutbox is the condition that the outbox paused a queue.
const pausedByOutbox = "metadata->'pause'->>'at' = PAUSED_TEXT"

// pauseChannel pauses the queue of a channel unless it is paused, and has a message probe after a while.
func (o *Outbox[TTx]) pauseChannel(ctx context.Context, channel, cause string, pause time.Duration) {
	const statement = `
		UPDATE QUEUES SET paused_at = NOW, updated_at = NOW,
			metadata = MERGE(OBJECT('pause', OBJECT('at', NOW_TEXT, 'cause', CAST($2 AS TEXT), 'probes', 0)))
		WHERE name = $1 AND paused_at IS NULL RETURNING name`
	queue := queueOf(channel)
	hasPaused := false
	err := o.database.inTx(ctx, func(ctx context.Context, tx riverdriver.ExecutorTx) error {
		var name string
		var err error
		hasPaused, err = o.database.scan(ctx, tx, []any{&name}, statement, queue, cause)
		if err != nil || !hasPaused {
			return err
		}
		return o.database.explain(o.database.pause(ctx, tx, queue)) // notifies all processes
	})
	if err != nil {
		o.options.Logger.WarnContext(ctx, "messagingriver: a queue cannot be paused", "queue", queue, "error", err)
		return
	}
	if hasPaused {
		o.options.Logger.WarnContext(ctx, "messagingriver: the queue is paused", "queue", queue, "cause", cause)
		o.nextProbe(ctx, channel, pause)
	}
}

// resumeChannel resumes the queue of a channel after a probe, unless a person paused it.
func (o *Outbox[TTx]) resumeChannel(ctx context.Context, channel string) {
	const statement = "UPDATE QUEUES SET metadata = WITHOUT_PAUSE WHERE name = $1 AND " + pausedByOutbox + " RETURNING name"
	queue := queueOf(channel)
	hasResumed := false
	err := o.database.inTx(ctx, func(ctx context.Context, tx riverdriver.ExecutorTx) error {
		var name string
		var err error
		hasResumed, err = o.database.scan(ctx, tx, []any{&name}, statement, queue)
		if err != nil || !hasResumed {
			return err
		}
		return o.database.explain(o.database.resume(ctx, tx, queue)) // notifies all processes
	})
	if err != nil {
		o.options.Logger.WarnContext(ctx, "messagingriver: a queue cannot be resumed", "queue", queue, "error", err)
		return
	}
	if hasResumed {
		o.options.Logger.InfoContext(ctx, "messagingriver: the queue is resumed", "queue", queue)
	}
}

// The statements of nextProbe.
const (
	// lockPause locks a queue that the outbox paused, so that two processes do not choose two messages, and returns how many messages
	// have probed.
	lockPause = "UPDATE QUEUES SET updated_at = NOW WHERE name = $1 AND " + pausedByOutbox +
		" RETURNING CAST(metadata->'pause'->>'probes' AS INTEGER)"
	// chooseProbe moves the first message of a queue to the queue for probes, if that is empty.
	chooseProbe = `
		UPDATE JOBS SET queue = $2, scheduled_at = LATER
		WHERE id = (SELECT id FROM JOBS WHERE queue = $1 AND state = 'available' ORDER BY priority, scheduled_at, id LIMIT 1 SKIP_LOCKED)
			AND NOT EXISTS (SELECT 1 FROM JOBS WHERE queue = $2 AND state IN ('available', 'running', 'retryable', 'scheduled'))
		RETURNING id`
	setProbes = "UPDATE QUEUES SET metadata = WITH_PROBES WHERE name = $1"
)

// nextProbe schedules the next message of a paused channel as a probe, unless there is a probe already.
func (o *Outbox[TTx]) nextProbe(ctx context.Context, channel string, after time.Duration) {
	queue := queueOf(channel)
	err := o.database.inTx(ctx, func(ctx context.Context, tx riverdriver.ExecutorTx) error {
		var probes int
		isPaused, err := o.database.scan(ctx, tx, []any{&probes}, lockPause, queue)
		if err != nil || !isPaused {
			return err
		}
		wait := max(after, probeBackoff(probes))
		interval := fmt.Sprintf("+%.3f seconds", wait.Seconds())
		var id int64
		hasChosen, err := o.database.scan(ctx, tx, []any{&id}, chooseProbe, queue, probesOf(channel), interval)
		if err != nil || !hasChosen {
			return err
		}
		return o.setProbes(ctx, tx, queue, probes+1)
	})
	if err != nil {
		o.options.Logger.WarnContext(ctx, "messagingriver: no message can probe", "channel", channel, "error", err)
	}
}

// countProbe counts a message that probes again, and returns how long it waits at least.
func (o *Outbox[TTx]) countProbe(ctx context.Context, channel string) time.Duration {
	queue := queueOf(channel)
	probes := 0
	err := o.database.inTx(ctx, func(ctx context.Context, tx riverdriver.ExecutorTx) error {
		isPaused, err := o.database.scan(ctx, tx, []any{&probes}, lockPause, queue)
		if err != nil || !isPaused {
			return err
		}
		return o.setProbes(ctx, tx, queue, probes+1)
	})
	if err != nil {
		o.options.Logger.WarnContext(ctx, "messagingriver: a probe cannot be counted", "channel", channel, "error", err)
	}
	return probeBackoff(probes)
}

// setProbes sets how many messages have probed in the pause of a queue.
func (o *Outbox[TTx]) setProbes(ctx context.Context, tx riverdriver.ExecutorTx, queue string, probes int) error {
	return o.database.explain(tx.Exec(ctx, o.database.dialect.Replace(setProbes), queue, probes))
}

// probeBackoff is how long a probe waits at least after n probes of the same pause: twice as long as the one before, up to a minute.
func probeBackoff(n int) time.Duration {
	const doublings = 6
	return min(time.Second<<min(n, doublings), time.Minute)
}
