package messaging

import (
	"errors"
	"fmt"
)

// Verdict is what is known of a message when a send has ended. The zero value is Unknown, the one that promises nothing.
type Verdict uint8

const (
	// Unknown: the service may have accepted the message, or not. Sending it again may send it twice; settle it by its
	// reference ID.
	Unknown Verdict = iota
	// Accepted: the service took the message and named it.
	Accepted
	// Refused: the service answered and did not take the message.
	Refused
	// NotSent: the service got no request that it could have processed. Sending again is safe, but a message that was found
	// invalid (*ValidationError) is so the next time as well: a queue takes it for refused.
	NotSent
)

// String gives the verdict in words: "unknown", "accepted", "refused", "not sent".
func (v Verdict) String() string {
	switch v {
	case Unknown:
		return "unknown"
	case Accepted:
		return "accepted"
	case Refused:
		return "refused"
	case NotSent:
		return "not sent"
	default:
		return fmt.Sprintf("verdict %d", uint8(v))
	}
}

// VerdictOf gives the verdict that the error of a send carries, however deep it is wrapped: Accepted for nil, NotSent for
// a *ValidationError, the Verdict of an *Error. An error from elsewhere is Unknown.
func VerdictOf(err error) Verdict {
	if err == nil {
		return Accepted
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Verdict
	}
	if _, ok := errors.AsType[*ValidationError](err); ok {
		return NotSent
	}
	return Unknown
}
