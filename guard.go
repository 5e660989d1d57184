package messaging

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/redact"
	"github.com/messaging-service/messaging-go/internal/transport"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// Outgoing is a message that is about to be sent, as a guard sees it; see WithGuard.
type Outgoing struct {
	Channel Channel
	// From is the sender: From of an SMS, ChannelID on chat app 1, and empty on chat app 2, whose messages name none.
	From string
	// To is the recipient: a number or, on chat app 2, the ID of a user if the message names no number.
	To string
	// UserID is the platform's ID of the recipient, if a message of chat app 2 names one. It may equal To.
	UserID      string
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

// WithGuard has a function decide before each message goes, for opt-outs, quiet hours, a conversation window or a budget. It holds for
// Send, SendOnce and SendAll, and for an outbox that sends by this client. Lookups and listings ask no guard.
//
// What the guard returns decides:
//
//   - nil: the message may go.
//   - ErrOptedOut, ErrWindowClosed or an error of Deny, wrapped or not: no. The message ends with the verdict NotSent. The *Error matches
//     ErrDenied and the error of the guard, and its text gives the reason. Retryable is false.
//   - an error of Postpone: later. The message ends with the verdict NotSent, and Retryable returns the wait and true. The *Error
//     matches ErrPostponed.
//   - any other error, such as one of a database: the guard could not decide. The message ends with the verdict NotSent, and Retryable
//     is true. The *Error matches ErrPostponed.
//
// After a guard said later or could not decide, SendAll asks again, for up to RetryPolicy.MaxWait. An outbox keeps the message and asks
// again.
//
// The guard is asked once the message is found valid, again when SendAll takes a message up that waited, and again directly before a
// request is written if its last yes is more than five seconds old. It gets the context of the call, and has no timeout of its own. The
// time for which a machine was suspended may not count.
// If the context has ended, that is the error of the call, and the guard has not decided.
//
// The text of an *Error shows what a no says, with *** in place of the recipient, the sender, addresses and numbers of seven digits or
// more. Of an error that decided nothing it shows the type alone. A panic of a guard is treated like one of an Observer, and nothing is sent.
//
// Given more than once, the guards are asked in order, until one of them returns an error. With adds to the guards of the client. Nil
// drops those that were given or inherited before, such as for codes, which must also reach people who opted out.
//
// A guard is used from many goroutines at once. One that sends by the same client is asked about that message, too.
func WithGuard(guard func(ctx context.Context, m Outgoing) error) Option {
	return func(s *settings) {
		if guard == nil {
			s.guards = nil
			return
		}
		s.guards = append(slices.Clip(s.guards), guard)
	}
}

// deniedError is an error of Deny.
type deniedError struct{ reason error }

// Deny returns an error for a guard that does not let a message go, such as for a budget that is spent. It says why, and wraps the reason.
// The message ends not sent, and Retryable is false for it.
func Deny(reason error) error {
	return &deniedError{cmp.Or(reason, ErrDenied)}
}

// Error returns the text of the reason.
func (e *deniedError) Error() string { return e.reason.Error() }

// Unwrap returns the reason.
func (e *deniedError) Unwrap() error { return e.reason }

// postponedError is an error of Postpone.
type postponedError struct{ wait time.Duration }

// Postpone returns an error for a guard that does not let a message go yet, such as in quiet hours: it may be sent after the wait, which
// is at least a second. The message ends not sent, and Retryable returns the wait and true. An outbox keeps the message until then. To
// keep a cause as well, use errors.Join.
func Postpone(wait time.Duration) error { return &postponedError{max(wait, time.Second)} }

// Error returns the wait.
func (e *postponedError) Error() string { return "messaging: retry in " + e.wait.String() }

// decisionOf returns what a guard decided with an error: ErrDenied for a no, and ErrPostponed for later, with the wait, or without one if
// it could not decide.
func decisionOf(err error) (wait time.Duration, decision error) {
	if _, ok := errors.AsType[*deniedError](err); ok {
		return 0, ErrDenied
	}
	if later, ok := errors.AsType[*postponedError](err); ok {
		return later.wait, ErrPostponed
	}
	for _, no := range []error{ErrOptedOut, ErrWindowClosed, ErrDenied} {
		if errors.Is(err, no) {
			return 0, ErrDenied
		}
	}
	return 0, ErrPostponed
}

// guard returns what asks the guards of the client about a message, or nil if there are none.
func (c *core) guard(channel Channel, call *wire.Call) transport.Guard {
	guards := c.settings.guards
	if guards == nil {
		return nil
	}
	m := Outgoing{
		Channel: channel, From: senderOf(call), To: recipientOf(call), UserID: textOf(call, "recipient"),
		ReferenceID: call.ReferenceID, Kind: kindOf(call), Template: templateOf(call), Fallback: textOf(call, "fallbackFrom"),
		Marketing: call.Marketing,
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

// addGuard adds to the error of a send what its guard decided, if a guard stopped the message.
func (e *Error) addGuard(call *wire.Call) {
	stopped, ok := errors.AsType[transport.GuardError](e.cause)
	if !ok {
		return
	}
	wait, decision := decisionOf(stopped.Unwrap())
	e.Verdict = NotSent
	e.classes = []error{decision}
	e.RetryAfter = wait
	e.localWait = wait > 0
	switch {
	case decision == ErrDenied: //nolint:errorlint // decisionOf returns it as it is
		e.guardReason = reasonOf(stopped.Unwrap(), call)
	case wait > 0:
		e.guardReason = "a guard postponed the message"
	default:
		e.guardReason = fmt.Sprintf("a guard could not decide (%T)", innermost(stopped.Unwrap()))
	}
}

// reasonOf returns why a guard said no, without what it repeats of the message.
func reasonOf(err error, call *wire.Call) string {
	var secrets redact.Secrets
	for _, text := range []string{senderOf(call), textOf(call, "to"), textOf(call, "recipient"), textOf(call, "fallbackFrom")} {
		secrets.AddText(text)
	}
	reason := strings.ReplaceAll(err.Error(), "messaging: ", "")
	return cmp.Or(secrets.Mask(reason), "a guard said no")
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

func senderOf(call *wire.Call) string { return cmp.Or(textOf(call, "from"), textOf(call, "channel")) }

func kindOf(call *wire.Call) string {
	if kind := textOf(call, "type"); kind != "" { // chat app 2
		return kind
	}
	for _, payload := range [...]struct{ concept, kind string }{
		{"template", "template"}, {"url", "call_to_action"}, {"video", "video"}, {"image", "image"}, {"text", "text"},
	} {
		if textOf(call, payload.concept) != "" {
			return payload.kind
		}
	}
	return "raw"
}

func templateOf(call *wire.Call) string {
	for _, m := range call.Members {
		var template struct{ Name string }
		if m.Name == "template" && json.Unmarshal(m.Value, &template) == nil {
			return template.Name
		}
	}
	return textOf(call, "template")
}
