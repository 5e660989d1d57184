package sms

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// SendOnce sends like Send, and where the outcome is unknown finds out by look-ups what became of the message.
//
// It gives the message a reference ID where it has none; it comes back in the Receipt and in messaging.Error.ReferenceID.
// A reference ID must name one message alone: with one that was used before, an older message to the same number is taken
// for this one.
//
// After an unknown outcome the message is looked up every Interval until the Window of the client's SettlePolicy ends
// (messaging.WithSettle):
//
//   - It is listed: the Receipt comes from its row; StatusCode is 0 and Raw nil, since the answer to the send was lost.
//   - Other messages are listed instead, or the row names another number or no ID: the service does not filter as the contract says,
//     or the reference ID was used before. Nothing is known; the outcome stays unknown.
//   - Nothing is listed until the window ends, and Resend is set: the message is sent once more, under the same reference
//     ID. An answer that calls it a duplicate is looked up again.
//   - Nothing is listed, and Resend is not set; or the last look-up failed; or the context ended: the outcome stays unknown,
//     with the error of the send.
//
// Give the context more time than the attempts and the window together: when it has ended, nothing is looked up. A look-up
// that began within the window may last up to five seconds longer.
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
	settled, known := s.settle(ctx, m, policy)
	if known && settled == nil && policy.Resend {
		again, resent := s.Send(ctx, m)
		switch {
		case resent == nil:
			return again, nil
		case errors.Is(resent, wire.ErrOutcomeUnknown), errors.Is(resent, wire.ErrDuplicate):
			settled, _ = s.settle(ctx, m, policy)
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

// lastLookup is how much longer than the window a look-up may take that began within it.
const lastLookup = 5 * time.Second

// settle looks a message up until it is listed or the window ends. It is known not to be listed only where the last look-up
// began when the window had passed, and was answered with no row: a slow answer says what was listed when it was asked for.
func (s *Service) settle(ctx context.Context, m Message, policy wire.SettlePolicy) (tx *Transaction, known bool) {
	end := time.Now().Add(policy.Window)
	bounded, cancel := context.WithDeadline(ctx, end.Add(lastLookup))
	defer cancel()
	for {
		last := time.Until(end) <= 0
		found, err := s.Find(bounded, m.ReferenceID)
		switch {
		case err == nil && found.ID != "" && sameNumber(found.To, m.To):
			return &found, true
		case err == nil, errors.Is(err, wire.ErrFilterIgnored):
			return nil, false
		default:
			known = errors.Is(err, wire.ErrNotListed)
		}
		if last {
			return nil, known
		}
		timer := time.NewTimer(min(policy.Interval, time.Until(end)))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, false
		case <-timer.C:
		}
	}
}

// sameNumber tells whether two numbers may be one, written with and without a country or trunk prefix. A row that names no
// recipient may be anybody's.
func sameNumber(listed, sent string) bool {
	const subscriber = 7
	a, b := digits(listed), digits(sent)
	n := min(len(a), len(b), subscriber)
	return a[len(a)-n:] == b[len(b)-n:]
}

func digits(number string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, number)
}
