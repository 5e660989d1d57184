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
	return []Channel{smsChannel().channel(), chatApp1Channel().channel(), chatApp2Channel().channel()}
}

func smsChannel() service[sms.Message] {
	return service[sms.Message]{
		name:     "sms",
		isListed: true,
		senderOf: func(c *messaging.Client) sender[sms.Message] { return c.SMS },
		message: func(d Draft) sms.Message {
			return sms.Message{From: "ACME", To: d.To, Text: d.Text, ReferenceID: d.Reference}
		},
		reference: func(m sms.Message) string { return m.ReferenceID },
	}
}

func chatApp1Channel() service[chatapp1.Message] {
	return service[chatapp1.Message]{
		name:     "chatapp1",
		senderOf: func(c *messaging.Client) sender[chatapp1.Message] { return c.ChatApp1 },
		message: func(d Draft) chatapp1.Message {
			return chatapp1.New("channel-1", d.To).Text(d.Text).WithReference(d.Reference)
		},
		reference: func(m chatapp1.Message) string { return m.ReferenceID },
	}
}

func chatApp2Channel() service[chatapp2.Message] {
	return service[chatapp2.Message]{
		name:     "chatapp2",
		senderOf: func(c *messaging.Client) sender[chatapp2.Message] { return c.ChatApp2 },
		message: func(d Draft) chatapp2.Message {
			return chatapp2.Message{To: d.To, Content: chatapp2.Text{Body: d.Text}, ReferenceID: d.Reference}
		},
		reference: func(m chatapp2.Message) string { return m.ReferenceID },
	}
}

// A service describes a service of Client for messages of type M.
type service[M any] struct {
	name      string
	isListed  bool
	senderOf  func(*messaging.Client) sender[M]
	message   func(Draft) M
	reference func(M) string // of a message
}

// A sender sends messages of type M.
type sender[M any] interface {
	Send(ctx context.Context, m M) (messaging.Receipt, error)
	SendAll(ctx context.Context, messages iter.Seq[M], concurrency int) iter.Seq[messaging.Outcome[M]]
}

// channel returns the service without the type of its messages.
func (s service[M]) channel() Channel {
	message := func(to, text, reference string) M {
		return s.message(Draft{To: to, Text: text, Reference: reference})
	}
	return Channel{
		Name:    s.name,
		Listed:  s.isListed,
		Message: func(to, text, reference string) any { return message(to, text, reference) },
		Send: func(ctx context.Context, client *messaging.Client, to, text, reference string) (string, error) {
			return s.send(ctx, client, message(to, text, reference))
		},
		SendMessage: func(ctx context.Context, client *messaging.Client, m any) (string, error) {
			return s.send(ctx, client, m.(M))
		},
		SendAll: s.sendAll,
	}
}

func (s service[M]) send(ctx context.Context, client *messaging.Client, m M) (id string, err error) {
	receipt, err := s.senderOf(client).Send(ctx, m)
	return receipt.ID, err
}

func (s service[M]) sendAll(ctx context.Context, client *messaging.Client, drafts iter.Seq[Draft], concurrency int) iter.Seq[Result] {
	outcomes := s.senderOf(client).SendAll(ctx, convert(drafts, s.message), concurrency)
	return convert(outcomes, func(o messaging.Outcome[M]) Result {
		return Result{Index: o.Index, Reference: s.reference(o.Message), ID: o.Receipt.ID, Err: o.Err}
	})
}

// convert returns a sequence of the elements of another, each converted by a function, or nil for nil.
func convert[From, To any](elements iter.Seq[From], to func(From) To) iter.Seq[To] {
	if elements == nil {
		return nil
	}
	return func(yield func(To) bool) {
		for element := range elements {
			if !yield(to(element)) {
				return
			}
		}
	}
}
