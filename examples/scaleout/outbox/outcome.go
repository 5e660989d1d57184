package outbox

import (
	"errors"
	"fmt"
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

// outcome is what a worker knows when a send has ended.
type outcome struct {
	state      State // Accepted, Refused, Queued (nothing was processed) or Unknown
	messageID  string
	reason     string        // the library's error text, which holds nothing of the message
	retryAfter time.Duration // the wait that the service asked for
}

// newOutcome judges an attempt by the library's verdict, with three exceptions. A message that fails validation would fail again, so it
// is refused. A refusal by rate limit means that nothing was processed, so the message is queued. An SMS that is refused as a duplicate
// on a later attempt was sent earlier, so it is looked up.
func newOutcome(channel Channel, attempt int, messageID string, err error) outcome {
	var invalid *messaging.ValidationError
	switch {
	case err == nil:
		return outcome{state: Accepted, messageID: messageID}
	case errors.As(err, &invalid):
		return outcome{state: Refused, reason: err.Error()}
	}
	o := outcome{reason: err.Error()}
	if e, ok := errors.AsType[*messaging.Error](err); ok {
		o.retryAfter = e.RetryAfter
	}
	switch verdict := messaging.VerdictOf(err); verdict {
	case messaging.Refused:
		switch {
		case errors.Is(err, messaging.ErrRateLimited):
			o.state = Queued
		case errors.Is(err, messaging.ErrDuplicate) && channel == SMS && attempt > 1:
			o.state = Unknown
		default:
			o.state = Refused
		}
	case messaging.NotSent:
		o.state = Queued
	case messaging.Accepted, messaging.Unknown:
		o.state = Unknown
	default:
		o.state, o.reason = Unknown, fmt.Sprintf("%v: %v", verdict, err)
	}
	return o
}
