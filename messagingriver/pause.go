package messagingriver

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river/riverdriver"
)

// While the service, the account or a rate holds back a channel, its queue is paused in all processes. One message after another goes on in
// a queue for probes, until the service responds to one. The member "pause" in the metadata of the queue has the cause, and the time of the
// pause: with another time it is a person's, and is not ended.
const isHeld = "metadata->'pause'->>'at' = PAUSED_TEXT"

// hold pauses the queue of a channel unless it is paused, and has a message probe after a while.
func (o *Outbox[TTx]) hold(ctx context.Context, channel, cause string, pause time.Duration) {
	queue := queueOf(channel)
	isPaused := false
	err := o.database.inTx(ctx, func(ctx context.Context, tx riverdriver.ExecutorTx) error {
		var name string
		var err error
		isPaused, err = o.database.scan(ctx, tx, []any{&name}, `
			UPDATE QUEUES SET paused_at = NOW, updated_at = NOW, metadata = MERGE(OBJECT('pause', OBJECT('at', NOW_TEXT, 'cause', CAST($2 AS TEXT), 'probes', 0)))
			WHERE name = $1 AND paused_at IS NULL RETURNING name`, queue, cause)
		if err != nil || !isPaused {
			return err
		}
		return o.database.pause(ctx, tx, queue) // tells all processes
	})
	switch {
	case err != nil:
		o.options.Logger.WarnContext(ctx, "messagingriver: a queue cannot be paused", "queue", queue, "error", err)
	case isPaused:
		o.options.Logger.WarnContext(ctx, "messagingriver: the queue is paused", "queue", queue, "cause", cause)
		o.nextProbe(ctx, channel, pause)
	}
}

// release resumes the queue of a channel after a probe, unless a person paused it.
func (o *Outbox[TTx]) release(ctx context.Context, channel string) {
	queue := queueOf(channel)
	isResumed := false
	err := o.database.inTx(ctx, func(ctx context.Context, tx riverdriver.ExecutorTx) error {
		var name string
		var err error
		isResumed, err = o.database.scan(ctx, tx, []any{&name},
			"UPDATE QUEUES SET metadata = WITHOUT_PAUSE WHERE name = $1 AND "+isHeld+" RETURNING name", queue)
		if err != nil || !isResumed {
			return err
		}
		return o.database.resume(ctx, tx, queue) // tells all processes
	})
	switch {
	case err != nil:
		o.options.Logger.WarnContext(ctx, "messagingriver: a queue cannot be resumed", "queue", queue, "error", err)
	case isResumed:
		o.options.Logger.InfoContext(ctx, "messagingriver: the queue is resumed", "queue", queue)
	}
}

// nextProbe has the next message of a held channel probe after a while, unless another one does. Each probe of a pause waits twice as long as
// the one before, for a minute at most if the service asks for no more.
func (o *Outbox[TTx]) nextProbe(ctx context.Context, channel string, after time.Duration) {
	queue, probes := queueOf(channel), probesOf(channel)
	err := o.database.inTx(ctx, func(ctx context.Context, tx riverdriver.ExecutorTx) error {
		var before int
		// This locks the queue, so that two processes do not choose two messages.
		held, err := o.database.scan(ctx, tx, []any{&before},
			"UPDATE QUEUES SET updated_at = NOW WHERE name = $1 AND "+isHeld+" RETURNING CAST(metadata->'pause'->>'probes' AS INTEGER)", queue)
		if err != nil || !held {
			return err
		}
		backoff := min(time.Second<<min(before, 6), time.Minute)
		interval := fmt.Sprintf("+%.3f seconds", max(after, backoff).Seconds())
		var id int64
		chosen, err := o.database.scan(ctx, tx, []any{&id}, `
			UPDATE JOBS SET queue = $2, scheduled_at = LATER
			WHERE id = (SELECT id FROM JOBS WHERE queue = $1 AND state = 'available' ORDER BY priority, scheduled_at, id LIMIT 1 SKIP_LOCKED)
				AND NOT EXISTS (SELECT 1 FROM JOBS WHERE queue = $2 AND state IN ('available', 'running', 'retryable', 'scheduled'))
			RETURNING id`, queue, probes, interval)
		if err != nil || !chosen {
			return err
		}
		return tx.Exec(ctx, o.database.spell.Replace("UPDATE QUEUES SET metadata = WITH_PROBES WHERE name = $1"), queue, before+1)
	})
	if err != nil {
		o.options.Logger.WarnContext(ctx, "messagingriver: no message can probe", "channel", channel, "error", err)
	}
}
