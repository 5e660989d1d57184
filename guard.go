package messaging

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/messaging-service/messaging-go/internal/transport"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// Outgoing is a message that is about to be sent, as a guard sees it; see WithGuard.
type Outgoing struct {
	Channel Channel
	// From is the sender: From of an SMS, ChannelID on chat app 1, and empty on chat app 2, whose messages name none.
	From string
	// To is the recipient: a number or, on chat app 2, the ID of a user.
	To          string
	ReferenceID string
	// Kind is what the message is: "text" for an SMS; "text", "image", "video", "call_to_action", "template" or "raw" on chat app 1;
	// the platform's type on chat app 2, such as "text", "template" or "interactive".
	Kind string
	// Template is the name of the template on chat app 2, its ID on chat app 1, and empty for other kinds.
	Template string
}

// WithGuard has a function decide before each message goes, for opt-outs, quiet hours, a conversation window or a budget. It holds for
// Send, SendOnce and SendAll, and for an outbox that sends by this client. Lookups and listings ask no guard.
//
// The guard is asked once the message is found valid, again when SendAll takes a message up that waited, and again directly before a
// request is written if its last yes is more than five seconds old. It gets the context of the call, and has no timeout of its own. The
// time for which a machine was suspended may not count.
//
// An error ends the message with the verdict NotSent. The *Error matches ErrGuarded and the error of the guard, which its text does
// not repeat. Retryable is false for it, unless it is one of RetryLater. If the context has ended, that is the error, and the guard has not
// decided. A panic of a guard is treated like one of an Observer, and nothing is sent.
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

// retryLaterError is an error of RetryLater.
type retryLaterError struct{ wait time.Duration }

// RetryLater returns an error for a guard that does not let a message go yet, such as in quiet hours: it may be sent after the wait, which
// is at least a second. The message ends not sent, and Retryable returns the wait and true. An outbox keeps the message until then. To
// keep a cause as well, use errors.Join.
func RetryLater(wait time.Duration) error { return &retryLaterError{max(wait, time.Second)} }

// Error returns the wait.
func (e *retryLaterError) Error() string { return "messaging: retry in " + e.wait.String() }

// guard returns what asks the guards of the client about a message, or nil if there are none.
func (c *core) guard(channel Channel, call *wire.Call) transport.Guard {
	guards := c.settings.guards
	if guards == nil {
		return nil
	}
	m := Outgoing{
		Channel: channel, From: cmp.Or(textOf(call, "from"), textOf(call, "channel")), To: recipientOf(call),
		ReferenceID: call.ReferenceID, Kind: kindOf(call), Template: templateOf(call),
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

// addGuard adds to an error that a guard stopped the message.
func (e *Error) addGuard() {
	if _, ok := errors.AsType[transport.GuardError](e.cause); !ok {
		return
	}
	e.Verdict, e.classes, e.RetryAfter, e.paused = NotSent, []error{ErrGuarded}, 0, false
	if later, ok := errors.AsType[*retryLaterError](e.cause); ok {
		e.RetryAfter, e.paused = later.wait, true
	}
}

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
