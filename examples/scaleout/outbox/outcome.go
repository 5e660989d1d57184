package outbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

// outcome is what a worker knows when a send has ended.
type outcome struct {
	state      State // Accepted, Refused, Queued (nothing was processed) or Unknown
	messageID  string
	reason     string        // the library's error text, which holds nothing of the message
	retryAfter time.Duration // the wait that the service asked for
	account    bool          // every other message would fail, too
	untried    bool          // the service was not asked
}

// newOutcome judges an attempt by the library's verdict, with these exceptions. A message that fails validation would fail again, so it
// is refused. A refusal of the account (credentials, balance, rate limit) says nothing of the message, so it stays queued. An SMS that
// is refused as a duplicate on a later attempt was sent earlier, so it is looked up.
func newOutcome(channel Channel, attempt int, messageID string, err error) outcome {
	var invalid *messaging.ValidationError
	switch {
	case err == nil:
		return outcome{state: Accepted, messageID: messageID}
	case errors.As(err, &invalid):
		return outcome{state: Refused, reason: err.Error(), untried: true}
	}
	o := outcome{reason: err.Error()}
	status := 0
	if e, ok := errors.AsType[*messaging.Error](err); ok {
		o.retryAfter, status = e.RetryAfter, e.StatusCode
	}
	o.account = status == http.StatusServiceUnavailable
	for _, of := range []error{messaging.ErrUnauthorized, messaging.ErrInsufficientBalance, messaging.ErrRateLimited} {
		o.account = o.account || errors.Is(err, of)
	}
	switch verdict := messaging.VerdictOf(err); verdict {
	case messaging.Refused:
		switch {
		case o.account:
			o.state = Queued
		case errors.Is(err, messaging.ErrDuplicate) && channel == SMS && attempt > 1:
			o.state = Unknown
		default:
			o.state = Refused
		}
	case messaging.NotSent: // the service cannot be reached, or this process was stopped
		o.state, o.account = Queued, !errors.Is(err, context.DeadlineExceeded)
	case messaging.Accepted, messaging.Unknown:
		o.state = Unknown
	default:
		o.state, o.reason = Unknown, fmt.Sprintf("%v: %v", verdict, err)
	}
	return o
}

// notWritten is the outcome of an attempt of which no request was written.
func notWritten(reason string) outcome {
	return outcome{state: Queued, reason: "not sent: " + reason, untried: true}
}
