package chatapp1

import (
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"

	"github.com/messaging-service/messaging-go/internal/fanout"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// Outcome is what became of one message of SendAll.
type Outcome struct {
	// Index counts the messages from 0 in the order in which they were taken.
	Index int
	// Message is the message as it was taken.
	Message Message
	// Receipt is the service's, where Err is nil.
	Receipt Receipt
	// Err is as from Send.
	Err error
}

// Format prints what identifies nobody, in every verb.
func (o Outcome) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, o.summary()) }

// LogValue logs what Format prints.
func (o Outcome) LogValue() slog.Value { return slog.StringValue(o.summary()) }

func (o Outcome) summary() string {
	return fmt.Sprintf("chatapp1.Outcome{Index: %d, Message: %v, Receipt: %v, Err: %v}", o.Index, o.Message, o.Receipt, o.Err)
}

// SendAll sends many messages, concurrency of them at once, and yields what became of each as it ends, in any order, each
// exactly once.
//
//	for out := range client.ChatApp1.SendAll(ctx, messages, 32) {
//		record(out.Message.ReferenceID, messaging.VerdictOf(out.Err), out.Receipt.ID)
//	}
//
// The messages are ranged in the caller's goroutine, only a few ahead of the outcomes, so that a million of them take no more
// memory than a few. While the sequence blocks, no outcome is yielded and a cancelled context goes unnoticed: end a
// sequence that waits for something when its context ends. The client's rate limit holds for all messages together.
// messaging.WithSettle has no part in it: no listing exists for this channel, and an unknown outcome stays unknown.
//
// To stop and still account for every message, cancel the context and keep ranging: no more messages are taken, and every message that was
// taken has its outcome, one that was not begun with the verdict NotSent. A break stops too: nothing more begins, and the
// loop ends when the messages under way have ended, whose outcomes are then not seen. No goroutine is left either way.
//
// A concurrency below 1, or a nil sequence, is one Outcome with a *messaging.ValidationError, whose Index is -1.
func (s *Service) SendAll(ctx context.Context, messages iter.Seq[Message], concurrency int) iter.Seq[Outcome] {
	return func(yield func(Outcome) bool) {
		if problems := wire.CheckBulk(ctx, messages == nil, concurrency); problems != nil {
			yield(Outcome{Index: -1, Err: s.doer.Refuse(wire.ChatApp1Send, problems)})
			return
		}
		send := func(ctx context.Context, m Message) Outcome {
			receipt, err := s.Send(ctx, m)
			return Outcome{Message: m, Receipt: receipt, Err: err}
		}
		// A message that is taken when the context has ended is sent under that context: it ends not sent by itself.
		for result := range fanout.Run(ctx, messages, concurrency, send, send) {
			result.Out.Index = result.Index
			if !yield(result.Out) {
				return
			}
		}
	}
}
