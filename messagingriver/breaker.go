package messagingriver

import (
	"context"
	"errors"
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

// heed opens or closes the shared breaker after an attempt: while a channel has a row in messaging_breaker, nobody claims its messages
// but for a probe. Only an accepted probe closes it.
func (o *Outbox[TTx]) heed(ctx context.Context, c channel, r result, probe bool) error {
	state := o.client.Breaker(c.channel)
	name, cause, pause := c.channel.String(), r.account, time.Until(state.Until)
	switch {
	case probe && r.State == Accepted:
		return o.database.exec(context.WithoutCancel(ctx), "DELETE FROM messaging_breaker WHERE channel = $1", name)
	case r.account != nil:
		pause = max(o.options.SendTimeout, retryAfter(r.account))
	case state.Open:
		cause = state.Cause
	case probe: // it proves neither: another one does
		return o.database.exec(context.WithoutCancel(ctx), "UPDATE messaging_breaker SET probe_at = CLOCK + pause WHERE channel = $1", name)
	default:
		return nil
	}
	problem := "the service is in trouble"
	if cause != nil {
		problem = problemOf(cause)
	}
	return o.database.exec(context.WithoutCancel(ctx), `
		INSERT INTO messaging_breaker (channel, cause, account, pause, probe_at)
		VALUES ($1, $2, CAST($3 AS BIGINT), CAST($4 AS BIGINT), CLOCK + CAST($4 AS BIGINT))
		ON CONFLICT (channel) DO UPDATE SET cause = excluded.cause, account = excluded.account,
			pause = LATER(excluded.pause, EARLIER(60000, 2 * messaging_breaker.pause)),
			probe_at = CLOCK + LATER(excluded.pause, EARLIER(60000, 2 * messaging_breaker.pause))
		WHERE CAST($5 AS BIGINT) = 1 OR messaging_breaker.probe_at <= CLOCK`,
		name, problem, oneIf(r.account != nil || state.Account), max(pause, time.Second).Milliseconds(), oneIf(probe))
}

// takeProbe reports whether this worker may claim one message as a probe. If the worker dies, another one may.
func (o *Outbox[TTx]) takeProbe(ctx context.Context, c channel) (bool, error) {
	if state := o.client.Breaker(c.channel); state.Open && time.Now().Before(state.Until) {
		return false, nil // it would wait in this process
	}
	taken, err := o.database.keys(ctx, `UPDATE messaging_breaker SET probe_at = CLOCK + CAST($3 AS BIGINT)
		WHERE channel = $2 AND probe_at <= CLOCK AND EXISTS (`+o.next("", true)+") RETURNING channel, ''",
		1, c.channel.String(), lifetime.Milliseconds())
	return len(taken) > 0, err
}

// retryAfter returns how long the service asked to wait: an hour if it asked for years.
func retryAfter(err error) time.Duration {
	after, ok := messaging.Retryable(err)
	if e, is := errors.AsType[*messaging.Error](err); is && !ok {
		after = e.RetryAfter
	}
	return min(after, time.Hour)
}
