package outbox

import (
	"errors"
	"fmt"
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

// outcome is what a worker knows when a send has ended.
type outcome struct {
	state     State // Accepted, Refused, Queued where nothing was processed, or Unknown
	messageID string
	reason    string
	wait      time.Duration // for which the service asked
}

// outcomeOf judges an attempt by its verdict. It differs from the verdict in three places. A message that the library finds wrong
// will be found wrong again, so it counts as refused. A refusal because of the service's rate limit says that nothing was
// processed, so the message is sent again. And an SMS that is called a duplicate when it is sent again was sent before: it is
// looked up. The reason is what the library prints of an error, which leaves out the message.
func outcomeOf(channel Channel, attempt int, messageID string, err error) outcome {
	var invalid *messaging.ValidationError
	switch {
	case err == nil:
		return outcome{state: Accepted, messageID: messageID}
	case errors.As(err, &invalid):
		return outcome{state: Refused, reason: err.Error()}
	}
	o := outcome{reason: err.Error()}
	if e, ok := errors.AsType[*messaging.Error](err); ok {
		o.wait = e.RetryAfter
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
