package messaging

import (
	"context"
	"iter"

	"github.com/messaging-service/messaging-go/internal/describe"
	"github.com/messaging-service/messaging-go/sms"
)

// SMSService sends SMS and reads them back. It is the field SMS of a Client. It is safe for concurrent use.
type SMSService struct {
	core *core
}

// Send sends one SMS to one recipient (POST /sms/send).
//
// A nil error means that the service accepted the message, not that it was delivered. Any other outcome is an error:
//
//   - *ValidationError: this library rejected the message and lists every problem; nothing was sent.
//   - *Error with the verdict Refused: the service responded that it did not take the message. Sending it again does not help, or may help later
//     (HTTP 429); see Retryable. If the message is a duplicate, or the response names a message, it may have been sent; see MayHaveBeenSent.
//   - *Error with the verdict NotSent: no request reached the service. Sending again is safe.
//   - *Error with the verdict Unknown: the service may have accepted the message. Sending again may send it twice; see SendOnce.
//
// Send retries only if the service provably did not process the request, within the client's RetryPolicy, and backs off while the circuit breaker
// is open. The context bounds the whole call with its waits. If it ends before anything was written, the message was not sent. If it ends while
// the response is awaited, the outcome is unknown.
func (s *SMSService) Send(ctx context.Context, m sms.Message) (Receipt, error) {
	return s.core.send(ctx, &sending{endpoint: s.core.smsSend(), call: describe.SMS(m)}, sendMode{})
}

// Validate returns the *ValidationError that Send would return for the message, with every problem, or nil. It sends nothing.
func (s *SMSService) Validate(m sms.Message) error {
	return s.core.validate(s.core.smsSend(), describe.SMS(m))
}

// SendAll sends many messages, concurrency of them at once, and yields the outcome of each message exactly once, in the order in which they end.
//
//	for out := range client.SMS.SendAll(ctx, messages, 32) {
//		record(out.Message.ReferenceID, messaging.VerdictOf(out.Err), out.Receipt.ID)
//	}
//
// SendAll ranges over the messages in the caller's goroutine. A message that waits to be tried again does not block others; up to 4,096 of them
// wait, so at most concurrency + 4,096 messages are taken whose outcomes were not yielded. While the service or the account is in trouble, only
// a probe is sent. While the service throttles, messages are sent at the rate that it accepts. While the sequence blocks, no outcome is yielded
// and a cancelled context goes unnoticed.
//
// With the library's own transport at most 256 requests are in flight for an account and channel, so a concurrency above 256 sends no faster.
//
// With WithSettle, a message without a reference ID gets one, which is in Outcome.Message, and each unknown outcome is settled like SendOnce does,
// as one of the concurrent sends.
//
// To stop early, end the sequence and keep ranging: the messages already taken are still sent, and each has its outcome. Cancelling the context
// also ends the sequence, but it aborts the requests in flight, whose outcomes are then unknown. After a break, the loop ends when the sends
// under way have ended; their outcomes are lost. No goroutine is left.
//
// If one of your functions panics, such as a guard or an observer, the panic becomes the error of its message, which says where it happened.
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
