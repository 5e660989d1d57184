package chatapp1

import (
	"context"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// Service sends over chat app 1. It is the field ChatApp1 of a messaging.Client, which is the only way to get a usable one.
// It is safe for concurrent use.
type Service struct {
	doer wire.Doer
}

// NewService is called by package messaging; a program takes the field ChatApp1 of its client instead.
func NewService(doer wire.Doer) *Service { return &Service{doer: doer} }

// Send sends one message to one recipient (POST /chatapp1/send, as the specification says) and returns what the service
// said of it.
//
// A nil error means that the service accepted the message; it does not mean that it was delivered, nor whether a fallback
// went out. Any other outcome is an error that says what is known:
//
//   - *messaging.ValidationError: the message was refused by this library, all problems at once; nothing was sent.
//   - *messaging.Error with verdict Refused: the service answered and did not take the message. Sending it again as it is
//     does not help, or, after HTTP 429, may help later.
//   - *messaging.Error with verdict NotSent: no request reached the service. Sending again is safe.
//   - *messaging.Error with verdict Unknown: the service may have accepted the message. Sending again may send it twice.
//
// An unknown outcome stays unknown: the service lists SMS transactions and no others, so there is nothing to look the message
// up in. Give the message a ReferenceID and a CallbackURL: a delivery report that brings the reference is what can tell.
//
// messaging.VerdictOf(err) gives the verdict for a switch. Send repeats a request by itself only where the service
// provably did not process it, within the client's RetryPolicy.
//
// The context bounds the whole call, waits between attempts included. A context that ends while an answer is awaited
// leaves the outcome unknown; one that ends before anything was written leaves it not sent.
func (s *Service) Send(ctx context.Context, m Message) (Receipt, error) {
	receipt, err := s.doer.Send(ctx, m.call())
	return Receipt(receipt), err
}
