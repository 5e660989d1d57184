package messaging_test

import (
	"context"
	"iter"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/sms"
)

// A channel is a way to send texts, for what must hold in all of them alike.
type channel struct {
	name    string // its folder at the service
	send    func(ctx context.Context, client *messaging.Client, to, text, reference string) (id string, err error)
	sendAll func(ctx context.Context, client *messaging.Client, references iter.Seq[string], concurrency int) iter.Seq[sent]
}

// sent is an Outcome of any channel.
type sent struct {
	index         int
	reference, id string
	err           error
}

// operation is the contract's name for sending.
func (c channel) operation() string { return c.name + ".send" }

var channels = []channel{
	{
		"sms",
		func(ctx context.Context, client *messaging.Client, to, text, reference string) (string, error) {
			receipt, err := client.SMS.Send(ctx, sms.Message{From: "ACME", To: to, Text: text, ReferenceID: reference})
			return receipt.ID, err
		},
		func(ctx context.Context, client *messaging.Client, references iter.Seq[string], concurrency int) iter.Seq[sent] {
			messages := each(references, func(reference string) sms.Message {
				return sms.Message{From: "ACME", To: chatNumber, Text: "x", ReferenceID: reference}
			})
			return each(client.SMS.SendAll(ctx, messages, concurrency), func(o messaging.Outcome[sms.Message]) sent {
				return sent{o.Index, o.Message.ReferenceID, o.Receipt.ID, o.Err}
			})
		},
	},
	{
		"chatapp1",
		func(ctx context.Context, client *messaging.Client, to, text, reference string) (string, error) {
			receipt, err := client.ChatApp1.Send(ctx, chatapp1.New("channel-1", to).Text(text).WithReference(reference))
			return receipt.ID, err
		},
		func(ctx context.Context, client *messaging.Client, references iter.Seq[string], concurrency int) iter.Seq[sent] {
			messages := each(references, func(reference string) chatapp1.Message {
				return chatapp1.New("channel-1", chatNumber).Text("x").WithReference(reference)
			})
			return each(client.ChatApp1.SendAll(ctx, messages, concurrency), func(o messaging.Outcome[chatapp1.Message]) sent {
				return sent{o.Index, o.Message.ReferenceID, o.Receipt.ID, o.Err}
			})
		},
	},
	{
		"chatapp2",
		func(ctx context.Context, client *messaging.Client, to, text, reference string) (string, error) {
			receipt, err := client.ChatApp2.Send(ctx, chatapp2.Message{To: to, Content: chatapp2.Text{Body: text}, ReferenceID: reference})
			return receipt.ID, err
		},
		func(ctx context.Context, client *messaging.Client, references iter.Seq[string], concurrency int) iter.Seq[sent] {
			messages := each(references, func(reference string) chatapp2.Message {
				return chatapp2.Message{To: chatNumber, Content: chatapp2.Text{Body: "x"}, ReferenceID: reference}
			})
			return each(client.ChatApp2.SendAll(ctx, messages, concurrency), func(o messaging.Outcome[chatapp2.Message]) sent {
				return sent{o.Index, o.Message.ReferenceID, o.Receipt.ID, o.Err}
			})
		},
	},
}

// chatApps are the channels that no listing exists for.
var chatApps = channels[1:]

// each makes another sequence of one; of nil, nil.
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
