package messaging

import (
	"context"
	"iter"

	"github.com/messaging-service/messaging-go/internal/describe"
	"github.com/messaging-service/messaging-go/sms"
)

// SMSService sends SMS and reads them back. It is the field SMS of a Client and safe for concurrent use.
type SMSService struct {
	core *core
}

// Send sends one SMS to one recipient (POST /sms/send).
//
// A nil error means that the service accepted the message, not that it was delivered. Any other outcome is an error:
//
//   - *ValidationError: this library rejected the message and lists every problem; nothing was sent.
//   - *Error with the verdict Refused: the service responded and did not take the message. Sending it again does not help, or,
//     after HTTP 429, may help later.
//   - *Error with the verdict NotSent: no request reached the service. Sending again is safe.
//   - *Error with the verdict Unknown: the service may have accepted the message. Sending again may send it twice; see SendOnce.
//
// Send retries only if the service provably did not process the request, within the client's RetryPolicy, and backs off while the circuit
// breaker is open. The context bounds the whole call, its waits included. If it ends while a response is awaited, the outcome is unknown; if it ends before
// anything was written, the message was not sent.
func (s *SMSService) Send(ctx context.Context, m sms.Message) (Receipt, error) {
	return s.core.send(ctx, &sending{endpoint: s.core.smsSend(), call: describe.SMS(m)}, sendMode{})
}

// Validate returns what Send would reject, by the contract and the limits of this client: a *ValidationError with every problem, or
// nil. It sends nothing.
func (s *SMSService) Validate(m sms.Message) error {
	return s.core.validate(s.core.smsSend(), describe.SMS(m))
}

// SendAll sends many messages, concurrency of them at once, and yields the outcome of each as it ends, in any order, each exactly
// once.
//
//	for out := range client.SMS.SendAll(ctx, messages, 32) {
//		record(out.Message.ReferenceID, messaging.VerdictOf(out.Err), out.Receipt.ID)
//	}
//
// The messages are ranged in the caller's goroutine. Those that wait to be tried again let others go on: up to 4,096 of them, a message and
// some hundred bytes each. So at most concurrency and 4,096 messages are taken whose outcomes were not yielded. While the service or the
// account is in trouble only a probe begins, and while the service throttles messages go at the rate that it takes. While the sequence
// blocks, no outcome is yielded and a cancelled context goes unnoticed. With WithSettle each unknown outcome is settled as by SendOnce,
// which counts as one of the concurrent sends.
//
// To stop and still account for every message, cancel the context and keep ranging: no more messages are taken, and each that was taken
// has its outcome. After a break the loop ends when the sends under way have ended, whose outcomes are lost. No goroutine is left.
//
// If a function of yours panics, such as a guard or an observer, the panic becomes the error of its message, which says where it happened.
// The verdict is Unknown if something may have been written, and NotSent otherwise.
//
// A concurrency below 1 or a nil sequence is one Outcome with a *ValidationError and the Index -1.
func (s *SMSService) SendAll(ctx context.Context, messages iter.Seq[sms.Message], concurrency int) iter.Seq[Outcome[sms.Message]] {
	sender := newSender(s.core, ChannelSMS, describe.SMS)
	if policy := s.core.settings.settle; policy != nil {
		sender.send = func(ctx context.Context, out *Outcome[sms.Message], o *observation, mode sendMode) {
			out.Message = withReference(out.Message)
			out.Receipt, out.Err = s.deliverOnce(ctx, out.Message, policy.withDefaults(), o, mode)
		}
	}
	return sender.sendAll(ctx, messages, concurrency)
}
