package messagingriver

import (
	"context"
	"fmt"
	"strings"

	"github.com/riverqueue/river/riverdriver"
)

// PauseChannel pauses a channel, such as "sms", in all processes until ResumeChannel, or until a person resumes its queue in River UI. The
// outbox does not resume it, even if the outbox itself had paused the channel before. Messages can be enqueued meanwhile; they wait.
// A message with InsertOptions.Expire can expire during the pause: it is cancelled, and Options.OnOutcome is called, which may send a fallback.
// Requests that have begun finish. On PostgreSQL each attempt checks for a pause directly before its request; on SQLite the process stops
// within 2 seconds. Lookups of messages that were sent before go on. Pausing a paused channel changes nothing. An unknown channel is an error.
func (o *Outbox[TTx]) PauseChannel(ctx context.Context, channel string) error {
	return o.changeChannel(ctx, channel, func(ctx context.Context, tx riverdriver.ExecutorTx) error {
		p := o.pauseOf(channel)
		// If the outbox had paused the channel, the pause is a person's from now on, and no probe ends it.
		if _, err := o.database.changeOne(ctx, tx, o.database.statements.forgetPause, p.queue); err != nil {
			return err
		}
		if err := o.database.execOn(ctx, tx, o.database.statements.releaseProbes, p.queue, p.probes); err != nil {
			return err
		}
		return o.database.pause(ctx, tx, p.queue)
	})
}

// ResumeChannel ends the pause of a channel, such as "sms", as River UI does: a pause by PauseChannel, by River UI or by the outbox.
// Resuming a channel that is not paused changes nothing. An unknown channel is an error.
func (o *Outbox[TTx]) ResumeChannel(ctx context.Context, channel string) error {
	return o.changeChannel(ctx, channel, func(ctx context.Context, tx riverdriver.ExecutorTx) error {
		err := o.database.execOn(ctx, tx, o.database.statements.releaseProbes, queueOf(channel), probesOf(channel))
		if err != nil {
			return err
		}
		return o.database.resume(ctx, tx, queueOf(channel))
	})
}

// changeChannel runs a function in a transaction in which the row of the channel's queue exists.
func (o *Outbox[TTx]) changeChannel(
	ctx context.Context, channel string, change func(ctx context.Context, tx riverdriver.ExecutorTx) error,
) error {
	if _, isKnown := o.channels[channel]; !isKnown {
		return fmt.Errorf("messagingriver: the channel is %q; want one of %s", channel, strings.Join(o.channelNames(), ", "))
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("messagingriver: %w", err)
	}
	return o.database.inTx(ctx, func(ctx context.Context, tx riverdriver.ExecutorTx) error {
		if err := o.database.createQueue(ctx, tx, queueOf(channel)); err != nil { // no process may have started yet
			return err
		}
		return change(ctx, tx)
	})
}
