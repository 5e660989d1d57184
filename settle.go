package messaging

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/messaging-service/messaging-go/internal/redact"
	"github.com/messaging-service/messaging-go/sms"
)

// SendOnce sends like Send, and settles an unknown outcome by looking the message up.
//
// It adds a reference ID if the message has none; the ID comes back in the Receipt and in Error.ReferenceID. A reference ID
// must name one message: with one that was used before, an older message to the same number is taken for this one.
//
// After an unknown outcome SendOnce looks the message up every Interval until the Window of the client's SettlePolicy ends:
//
//   - The message is listed: the Receipt comes from its row. StatusCode is 0 and Raw is nil, because the response was lost.
//   - Other messages are listed, or the row has another number or no ID: the service does not filter as the contract says, or
//     the reference ID was used before. The outcome stays unknown.
//   - Nothing is listed until the window ends, and Resend is set: the message is sent once more, under the same reference ID. A
//     response that calls it a duplicate leads to another round of lookups.
//   - Nothing is listed and Resend is not set, or the last lookup proves nothing (it failed, or came from a cache), or the
//     context ended: the outcome stays unknown, with the error of the send.
//
// Give the context more time than the attempts and the window take together: nothing is looked up once it has ended. A lookup
// that began within the window may take up to five seconds longer.
//
// With Resend a message can be sent twice if the service lists it only after the window. Without Resend SendOnce never sends
// twice.
func (s *SMSService) SendOnce(ctx context.Context, m sms.Message) (Receipt, error) {
	policy := cmp.Or(s.core.settings.settle, new(SettlePolicy))
	return s.sendOnce(ctx, withReference(m), policy.withDefaults())
}

func (s *SMSService) sendOnce(ctx context.Context, m sms.Message, policy SettlePolicy) (Receipt, error) {
	o := s.core.observation(&s.send.endpoint)
	ctx, end := o.call(ctx)
	receipt, err := s.deliverOnce(ctx, m, policy, o)
	end(o.outcome(receipt, err))
	return receipt, err
}

// deliverOnce is sendOnce within a step that o observes.
func (s *SMSService) deliverOnce(ctx context.Context, m sms.Message, policy SettlePolicy, o *observation) (Receipt, error) {
	receipt, err := s.core.deliver(ctx, s.send, m.Call(), o)
	if !errors.Is(err, ErrOutcomeUnknown) {
		return receipt, err
	}
	attempts := 0
	if e, ok := errors.AsType[*Error](err); ok {
		attempts = e.Attempts
	}
	found, absent := s.settle(ctx, m, policy)
	if absent && policy.Resend {
		again, resendErr := s.core.deliver(ctx, s.send, m.Call(), o)
		if resendErr == nil {
			again.Attempts += attempts
			return again, nil
		}
		if errors.Is(resendErr, ErrOutcomeUnknown) || errors.Is(resendErr, ErrDuplicate) {
			found, _ = s.settle(ctx, m, policy)
		}
		// Otherwise the second was not taken, and nothing more is known of the first.
	}
	if found == nil {
		return Receipt{}, err
	}
	return Receipt{
		ID: found.ID, RequestID: found.RequestID, ReferenceID: found.ReferenceID, Parts: found.Parts, Cost: found.Price,
		Operator: found.Operator, Attempts: attempts,
	}, nil
}

// withReference returns the message with a random reference ID if it has none.
func withReference(m sms.Message) sms.Message {
	if m.ReferenceID == "" {
		m.ReferenceID = rand.Text()
	}
	return m
}

// settle looks a message up until it is listed or the window ends. Without a row, absent reports whether the message is provably
// not listed: the last lookup began after the window, and the service itself responded in time and without a row. An earlier
// lookup, however late its response, says what was listed when it was made; and a cache says what was listed before.
func (s *SMSService) settle(ctx context.Context, m sms.Message, policy SettlePolicy) (found *sms.Transaction, absent bool) {
	const lastLookup = 5 * time.Second // for a lookup that begins when the window ends
	end := time.Now().Add(policy.Window)
	bounded, cancel := context.WithDeadline(ctx, end.Add(lastLookup))
	defer cancel()
	for {
		last := time.Until(end) <= 0
		row, fresh, err := s.find(bounded, m.ReferenceID)
		switch {
		case err == nil && row.ID != "" && sameNumber(row.To, m.To):
			return &row, false
		case err == nil, errors.Is(err, ErrFilterIgnored):
			return nil, false
		case last:
			return nil, fresh && errors.Is(err, ErrNotListed)
		}
		if !s.waitForLookup(ctx, min(policy.Interval, time.Until(end))) {
			return nil, false
		}
	}
}

// waitForLookup waits until the next lookup. It reports whether the context allows one.
func (s *SMSService) waitForLookup(ctx context.Context, wait time.Duration) bool {
	o := s.core.observation(&s.list.endpoint)
	ctx, end := o.begin(ctx, StepBackoff, 0)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	end(o.failure(ctx.Err()))
	return ctx.Err() == nil
}

// sameNumber reports whether two numbers may be the same, written with and without a country or trunk prefix. A row without a
// number may be the message's.
func sameNumber(listed, sent string) bool {
	const subscriber = 7
	a, b := redact.Digits(listed), redact.Digits(sent)
	n := min(len(a), len(b), subscriber)
	return a[len(a)-n:] == b[len(b)-n:]
}
