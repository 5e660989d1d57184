package messagingriver

import (
	"context"
	"errors"
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

// inTrouble reports whether the service is in trouble with a channel, so that a message that was not sent is not to blame.
func (o *Outbox[TTx]) inTrouble(messaging.Channel) bool { return false }

// passes waits until messages of a channel can be sent, and reports whether they can.
func (o *Outbox[TTx]) passes(ctx context.Context, _ messaging.Channel) bool { return ctx.Err() == nil }

// retryAfter returns how long the service asked to wait.
func retryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*messaging.Error](err); ok {
		return e.RetryAfter
	}
	return 0
}
