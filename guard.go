package messaging

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/redact"
	"github.com/messaging-service/messaging-go/internal/transport"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// Outgoing describes a message that is about to be sent, for a guard; see WithGuard.
type Outgoing struct {
	// Channel is the channel of the message.
	Channel Channel
	// From is the sender: From of an SMS, ChannelID on chat app 1, and empty on chat app 2, whose messages name none.
	From string
	// To is the recipient: a number or, on chat app 2, the ID of a user if the message names no number.
	To string
	// UserID is the platform's ID of the recipient, if a message of chat app 2 names one. It may equal To.
	UserID string
	// ReferenceID is the reference ID of the message, or empty if it has none.
	ReferenceID string
	// Kind is what the message is: "text" for an SMS; "text", "image", "video", "call_to_action", "template" or "raw" on chat app 1;
	// the platform's type on chat app 2, such as "text", "template" or "interactive".
	Kind string
	// Template is the name of the template on chat app 2, its ID on chat app 1, and empty for other kinds.
	Template string
	// Fallback is the sender of the SMS that may follow a message of a chat app, and empty if the message has no fallback.
	Fallback string
	// Marketing reports whether the message says that it is marketing.
	Marketing bool
}

// WithGuard adds a function that can deny or postpone each message before it is sent, for opt-outs, quiet hours, a conversation window or a
// budget. It applies to Send, SendOnce and SendAll, and to an outbox that sends with this client, but not to lookups and listings.
//
// The guard decides by its result:
//
//   - nil: the message may be sent.
//   - ErrOptedOut, ErrWindowClosed or an error of Deny, wrapped or not: the message is denied. Its verdict is NotSent, and Retryable is false.
//     The *Error matches ErrDenied and the error of the guard, and its text gives the reason.
//   - an error of Postpone: the message is postponed. Its verdict is NotSent, and Retryable returns the wait and true. The *Error matches
//     ErrPostponed.
//   - any other error, such as one of a database: the guard could not decide. The verdict is NotSent, and Retryable is true. The *Error matches
//     ErrPostponed.
//
// After a guard has postponed a message or could not decide, SendAll asks again, for up to RetryPolicy.MaxWait. An outbox keeps the message
// and asks again.
//
// The guard is called once the message is found valid, and again when SendAll resumes a message that waited. It is also called directly before
// a request is written if its last approval is more than five seconds old; time while the machine is suspended may not count. An outbox then
// marks the message in its database, which can take a few seconds more. The guard gets the context of the call, and has no timeout of its own.
// If the context has ended, that is the error of the call, and the guard has not decided.
//
// The text of the *Error shows the reason of a denial, with *** in place of the recipient, the sender, addresses, and numbers of seven digits
// or more. If the guard could not decide, the text shows the type of its error alone. If a guard panics, nothing is sent.
//
// Several guards are called in order, until one returns an error. With adds to the guards of the client. WithGuard(nil) removes all guards, for
// example for one-time codes, which must reach people who have opted out.
//
// A guard can also note in a database that a message may be sent from now on, so that it is settled after a crash. Add that guard last, and let it
// note a message more than once. It runs before the wait for the rate limit, so a noted message may never have left.
//
// A guard is called from many goroutines at once. A message that a guard sends with the same client is guarded, too.
func WithGuard(guard func(ctx context.Context, m Outgoing) error) Option {
	return func(s *settings) {
		if guard == nil {
			s.guards = nil
			return
		}
		s.guards = append(slices.Clip(s.guards), guard)
	}
}

// deniedError is the error that Deny returns.
type deniedError struct{ reason error }

// Deny returns an error for a guard that denies a message, such as because a budget is spent. The error has the text of the reason and wraps
// it. The call of the message then returns an *Error that matches ErrDenied: its verdict is NotSent, and Retryable is false. Only that *Error
// matches ErrDenied, not the error of Deny itself.
func Deny(reason error) error {
	return &deniedError{cmp.Or(reason, errors.New("messaging: denied"))}
}

// Error returns the text of the reason.
func (e *deniedError) Error() string { return e.reason.Error() }

// Unwrap returns the reason.
func (e *deniedError) Unwrap() error { return e.reason }

// postponedError is an error of Postpone.
type postponedError struct{ wait time.Duration }

// Postpone returns an error for a guard that postpones a message, such as during quiet hours. The wait is at least a second. To keep a cause as
// well, use errors.Join.
//
// The call of the message then returns an *Error that matches ErrPostponed: its verdict is NotSent, and Retryable returns the wait and true. An
// outbox keeps the message until then. Only that *Error matches ErrPostponed and is retryable, not the error of Postpone itself: test a guard by
// sending a message with a client that has it.
func Postpone(wait time.Duration) error { return &postponedError{max(wait, time.Second)} }

// Error returns the wait.
func (e *postponedError) Error() string { return "messaging: retry in " + e.wait.String() }

// decisionOf returns what a guard decided by an error: ErrDenied, or ErrPostponed with the wait, which is 0 if the guard could not decide.
func decisionOf(err error) (wait time.Duration, decision error) {
	if _, ok := errors.AsType[*deniedError](err); ok {
		return 0, ErrDenied
	}
	if later, ok := errors.AsType[*postponedError](err); ok {
		return later.wait, ErrPostponed
	}
	for _, denial := range []error{ErrOptedOut, ErrWindowClosed, ErrDenied} {
		if errors.Is(err, denial) {
			return 0, ErrDenied
		}
	}
	return 0, ErrPostponed
}

// guard returns a function that calls the guards of the client for a message, or nil if there are none.
func (c *core) guard(channel Channel, call *wire.Call) transport.Guard {
	guards := c.settings.guards
	if guards == nil {
		return nil
	}
	m := Outgoing{
		Channel:     channel,
		From:        senderOf(call),
		To:          recipientOf(call),
		UserID:      textOf(call, "recipient"),
		ReferenceID: call.ReferenceID,
		Kind:        kindOf(call),
		Template:    templateOf(call),
		Fallback:    textOf(call, "fallbackFrom"),
		Marketing:   call.Marketing,
	}
	return func(ctx context.Context) error {
		for _, guard := range guards {
			if err := guard(ctx, m); err != nil {
				return err
			}
		}
		return nil
	}
}

// addGuard adds the decision of a guard to the error of a send, if the guard stopped the message. guardErr is nil if it did not.
func (e *Error) addGuard(call *wire.Call, guardErr error) {
	if guardErr == nil {
		return
	}
	wait, decision := decisionOf(guardErr)
	e.Verdict = NotSent
	e.classes = []error{decision}
	e.RetryAfter = wait
	e.localWait = wait > 0
	switch {
	case decision == ErrDenied: //nolint:errorlint // decisionOf returns it as it is
		e.guardReason = reasonOf(guardErr, call)
	case wait > 0:
		e.guardReason = "a guard postponed the message"
	default:
		e.guardReason = fmt.Sprintf("a guard could not decide (%T)", innermost(guardErr))
	}
}

// reasonOf returns why a guard denied a message, without personal data.
func reasonOf(err error, call *wire.Call) string {
	var secrets redact.Secrets
	secrets.AddText(senderOf(call))
	for _, concept := range []string{"to", "recipient", "fallbackFrom"} {
		secrets.AddText(textOf(call, concept))
	}
	reason := strings.ReplaceAll(err.Error(), "messaging: ", "")
	return cmp.Or(secrets.Mask(reason), "a guard denied the message")
}

// innermost returns the error at the end of a chain.
func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
