package messagingriver

import (
	"context"
	"errors"
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

// inTrouble reports whether the service is in trouble with a channel, so that a message that was not sent is not to blame.
func (o *Outbox[TTx]) inTrouble(channel messaging.Channel) bool {
	return o.client.Breaker(channel).Open
}

// holdUp is how long a job waits for a circuit breaker before it hands its messages back. A stop waits for the jobs, too.
const holdUp = 5 * time.Second

// passes waits while the circuit breaker of a channel is open, before a message is claimed, and returns how many of n may be sent:
// all, or one as a probe, which ends with the call of release. It returns 0 if the wait is too long.
func (o *Outbox[TTx]) passes(ctx context.Context, known channel, n int) (allowed int, release func()) {
	began := time.Now()
	for {
		state := o.client.Breaker(known.channel)
		if !state.Open {
			return n, func() {}
		}
		o.noteBreaker(ctx, known, state.Cause)
		if !time.Now().Before(state.Until) && known.probing.TryAcquire(1) {
			return 1, func() { known.probing.Release(1) }
		}
		wait := min(max(time.Until(state.Until), 20*time.Millisecond), time.Second)
		if time.Since(began)+wait > holdUp || sleepUntil(ctx, time.Now().Add(wait)) != nil {
			return 0, func() {}
		}
	}
}

// noteBreaker has Status see that the breaker of this process is open, once a second. What is not noted is only not shown.
func (o *Outbox[TTx]) noteBreaker(ctx context.Context, known channel, cause error) {
	now, last := time.Now().UnixNano(), known.noted.Load()
	if now-last < int64(time.Second) || !known.noted.CompareAndSwap(last, now) {
		return
	}
	text := "the service is in trouble"
	if cause != nil {
		text = problemOf(cause)
	}
	_ = o.database.exec(ctx, `
		INSERT INTO messaging_breaker (channel, cause, seen_at) VALUES ($1, $2, CLOCK)
		ON CONFLICT (channel) DO UPDATE SET cause = excluded.cause, seen_at = excluded.seen_at`, known.channel.String(), text)
}

// retryAfter returns how long the service asked to wait.
func retryAfter(err error) time.Duration {
	if after, ok := messaging.Retryable(err); ok {
		return after
	}
	if e, ok := errors.AsType[*messaging.Error](err); ok {
		return e.RetryAfter
	}
	return 0
}
