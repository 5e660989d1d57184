package messagingriver

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river/riverdriver"
)

// While the service, the account or a rate limit holds back a channel, its queue is paused in all processes, and one message at a time
// probes, in a queue for probes, until the service responds to one. A message that ends without a request, because it has expired or a guard
// denies it, is replaced by the next one at once.
//
// The member "pause" in the metadata of the queue has the cause and the time of the pause, how many requests have probed, and when the next one
// may begin. A pause at another time is a person's, and is never ended.

// pausedByOutbox is the condition that the outbox paused a queue.
const pausedByOutbox = "metadata->'pause'->>'at' = PAUSED_TEXT"

// pauseChannel pauses the queue of a channel unless it is paused, and chooses a message to probe after the pause.
func (o *Outbox[TTx]) pauseChannel(ctx context.Context, channel, cause string, pause time.Duration) {
	const statement = `
		UPDATE QUEUES SET paused_at = NOW, updated_at = NOW,
			metadata = MERGE(OBJECT('pause', OBJECT('at', NOW_TEXT, 'cause', CAST($2 AS TEXT), 'probes', 0, 'next', CAST($3 AS TEXT))))
		WHERE name = $1 AND paused_at IS NULL RETURNING name`
	queue := queueOf(channel)
	hasPaused := false
	err := o.database.inTx(ctx, func(ctx context.Context, tx riverdriver.ExecutorTx) error {
		var name string
		var err error
		next := o.options.now().Add(max(pause, probeBackoff(0)))
		hasPaused, err = o.database.scan(ctx, tx, []any{&name}, statement, queue, cause, next.Format(time.RFC3339Nano))
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
		o.nextProbe(ctx, channel)
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

const (
	// lockPause locks a queue that the outbox paused, so that two processes do not choose two messages.
	lockPause = "UPDATE QUEUES SET updated_at = NOW WHERE name = $1 AND " + pausedByOutbox +
		" RETURNING CAST(metadata->'pause'->>'probes' AS INTEGER), COALESCE(metadata->'pause'->>'next', '')"
	// chooseProbe moves the first message of a queue to the queue for probes, if that is empty.
	chooseProbe = `
		UPDATE JOBS SET queue = $2, scheduled_at = LATER
		WHERE id = (SELECT id FROM JOBS WHERE queue = $1 AND state = 'available' ORDER BY priority, scheduled_at, id LIMIT 1 SKIP_LOCKED)
			AND NOT EXISTS (SELECT 1 FROM JOBS WHERE queue = $2 AND state IN ('available', 'running', 'retryable', 'scheduled'))
		RETURNING id`
	setProbes = "UPDATE QUEUES SET metadata = WITH_PROBES WHERE name = $1"
)

// nextProbe makes the next message of a paused channel its probe, unless there is one. The probe is due when the next request may begin.
func (o *Outbox[TTx]) nextProbe(ctx context.Context, channel string) {
	queue := queueOf(channel)
	err := o.database.inTx(ctx, func(ctx context.Context, tx riverdriver.ExecutorTx) error {
		var probes int
		var next string
		isPaused, err := o.database.scan(ctx, tx, []any{&probes, &next}, lockPause, queue)
		if err != nil || !isPaused {
			return err
		}
		begin, _ := time.Parse(time.RFC3339Nano, next) // a pause by an earlier version has none: at once
		wait := max(0, begin.Sub(o.options.now()))
		interval := fmt.Sprintf("+%.3f seconds", wait.Seconds())
		var id int64
		_, err = o.database.scan(ctx, tx, []any{&id}, chooseProbe, queue, probesOf(channel), interval)
		return err
	})
	if err != nil {
		o.options.Logger.WarnContext(ctx, "messagingriver: no message can probe", "channel", channel, "error", err)
	}
}

// countProbe counts a request of a probe, and returns how long the next one waits: at least for the pause.
func (o *Outbox[TTx]) countProbe(ctx context.Context, channel string, pause time.Duration) time.Duration {
	queue := queueOf(channel)
	wait := max(pause, probeBackoff(0))
	err := o.database.inTx(ctx, func(ctx context.Context, tx riverdriver.ExecutorTx) error {
		var probes int
		var next string
		isPaused, err := o.database.scan(ctx, tx, []any{&probes, &next}, lockPause, queue)
		if err != nil || !isPaused {
			return err
		}
		probes++
		wait = max(pause, probeBackoff(probes))
		next = o.options.now().Add(wait).Format(time.RFC3339Nano)
		return o.database.explain(tx.Exec(ctx, o.database.dialect.Replace(setProbes), queue, probes, next))
	})
	if err != nil {
		o.options.Logger.WarnContext(ctx, "messagingriver: a probe cannot be counted", "channel", channel, "error", err)
	}
	return wait
}

// probeBackoff is how long the next request waits at least after n requests of the same pause: twice as long as the one before, up to a
// minute.
func probeBackoff(n int) time.Duration {
	const doublings = 6
	return min(time.Second<<min(n, doublings), time.Minute)
}
