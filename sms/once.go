package sms

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// SendOnce sends like Send, and where the outcome is unknown finds out by look-ups what became of the message.
//
// It gives the message a reference ID where it has none; it comes back in the Receipt and in messaging.Error.ReferenceID.
// A reference ID must name one message alone: with one that was used before, an older message is taken for this one.
//
// After an unknown outcome the message is looked up every Interval until the Window of the client's SettlePolicy ends
// (messaging.WithSettle):
//
//   - It is listed: the Receipt comes from its row; StatusCode is 0 and Raw nil, since the answer to the send was lost.
//   - Other messages are listed instead: the service does not filter as the contract says. Nothing is known; the outcome
//     stays unknown.
//   - Nothing is listed until the window ends, and Resend is set: the message is sent once more, under the same reference
//     ID. An answer that calls it a duplicate is looked up again.
//   - Nothing is listed, and Resend is not set; or the last look-up failed; or the context ended: the outcome stays unknown,
//     with the error of the send.
//
// What remains is the risk of a service that lists a message later than the window: with Resend such a message is sent
// twice. Without Resend SendOnce never sends twice, whatever the look-ups say.
func (s *Service) SendOnce(ctx context.Context, m Message) (Receipt, error) {
	policy, _ := s.doer.Settle()
	return s.sendOnce(ctx, m, policy)
}

func (s *Service) sendOnce(ctx context.Context, m Message, policy wire.SettlePolicy) (Receipt, error) {
	m = m.withReference()
	receipt, err := s.Send(ctx, m)
	if !errors.Is(err, wire.ErrOutcomeUnknown) {
		return receipt, err
	}
	settled, known := s.settle(ctx, m.ReferenceID, policy)
	if known && settled == nil && policy.Resend {
		again, resent := s.Send(ctx, m)
		switch {
		case resent == nil:
			return again, nil
		case errors.Is(resent, wire.ErrOutcomeUnknown), errors.Is(resent, wire.ErrDuplicate):
			settled, _ = s.settle(ctx, m.ReferenceID, policy)
		default:
			// The second was not taken; of the first nothing more is known than before.
		}
	}
	if settled == nil {
		return Receipt{}, err
	}
	return settled.receipt(), nil
}

// withReference gives the message a reference ID of its own where it has none: 26 random characters.
func (m Message) withReference() Message {
	if m.ReferenceID == "" {
		m.ReferenceID = rand.Text()
	}
	return m
}

// settle looks a message up until it is listed or the window ends. It is known not to be listed only where the last look-up
// succeeded and the window has passed.
func (s *Service) settle(ctx context.Context, referenceID string, policy wire.SettlePolicy) (tx *Transaction, known bool) {
	end := time.Now().Add(policy.Window)
	for {
		found, err := s.Find(ctx, referenceID)
		switch {
		case err == nil:
			return &found, true
		case errors.Is(err, wire.ErrNotFound):
			known = true
		case errors.Is(err, wire.ErrFilterIgnored):
			return nil, false
		default:
			known = false
		}
		left := time.Until(end)
		if left <= 0 {
			return nil, known
		}
		timer := time.NewTimer(min(policy.Interval, left))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, false
		case <-timer.C:
		}
	}
}
