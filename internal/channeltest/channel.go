// Package channeltest sends messages over any channel by the same functions, for tests that range over channels.
package channeltest

import (
	"context"
	"iter"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/sms"
)

// A Channel is a service of the client that sends.
type Channel struct {
	Name        string // as in its operation, "sms.send"
	Listed      bool   // the service lists its messages, so that an unknown outcome can be settled
	Message     func(to, text, reference string) any
	Send        func(ctx context.Context, client *messaging.Client, to, text, reference string) (id string, err error)
	SendMessage func(ctx context.Context, client *messaging.Client, message any) (id string, err error) // of the type that Message returns
	SendAll     func(ctx context.Context, client *messaging.Client, messages iter.Seq[Draft], concurrency int) iter.Seq[Result]
}

// A Draft holds the values of a message of any channel.
type Draft struct{ To, Text, Reference string }

// A Result is the outcome of a message in SendAll, on any channel.
type Result struct {
	Index         int
	Reference, ID string
	Err           error
}

// Channels returns a channel for each service of Client that sends, SMS first. A new one needs a line here, and is then part of every test
// that ranges over them.
func Channels() []Channel {
	return []Channel{
		channel("sms", true, func(c *messaging.Client) sender[sms.Message] { return c.SMS }, func(to, text, reference string) sms.Message {
			return sms.Message{From: "ACME", To: to, Text: text, ReferenceID: reference}
		}, func(m sms.Message) string { return m.ReferenceID }),
		channel("chatapp1", false, func(c *messaging.Client) sender[chatapp1.Message] { return c.ChatApp1 }, func(to, text, reference string) chatapp1.Message {
			return chatapp1.New("channel-1", to).Text(text).WithReference(reference)
		}, func(m chatapp1.Message) string { return m.ReferenceID }),
		channel("chatapp2", false, func(c *messaging.Client) sender[chatapp2.Message] { return c.ChatApp2 }, func(to, text, reference string) chatapp2.Message {
			return chatapp2.Message{To: to, Content: chatapp2.Text{Body: text}, ReferenceID: reference}
		}, func(m chatapp2.Message) string { return m.ReferenceID }),
	}
}

// A sender is a service for messages of type M.
type sender[M any] interface {
	Send(ctx context.Context, m M) (messaging.Receipt, error)
	SendAll(ctx context.Context, messages iter.Seq[M], concurrency int) iter.Seq[messaging.Outcome[M]]
}

func channel[M any](
	name string, listed bool, of func(*messaging.Client) sender[M], message func(to, text, reference string) M, reference func(M) string,
) Channel {
	send := func(ctx context.Context, client *messaging.Client, m any) (string, error) {
		receipt, err := of(client).Send(ctx, m.(M))
		return receipt.ID, err
	}
	return Channel{
		Name: name, Listed: listed, SendMessage: send,
		Message: func(to, text, reference string) any { return message(to, text, reference) },
		Send: func(ctx context.Context, client *messaging.Client, to, text, reference string) (string, error) {
			return send(ctx, client, message(to, text, reference))
		},
		SendAll: func(ctx context.Context, client *messaging.Client, messages iter.Seq[Draft], concurrency int) iter.Seq[Result] {
			all := each(messages, func(d Draft) M { return message(d.To, d.Text, d.Reference) })
			return each(of(client).SendAll(ctx, all, concurrency), func(o messaging.Outcome[M]) Result {
				return Result{o.Index, reference(o.Message), o.Receipt.ID, o.Err}
			})
		},
	}
}

// each returns a sequence with do applied to each element, or nil for nil.
func each[A, B any](all iter.Seq[A], do func(A) B) iter.Seq[B] {
	if all == nil {
		return nil
	}
	return func(yield func(B) bool) {
		for one := range all {
			if !yield(do(one)) {
				return
			}
		}
	}
}
