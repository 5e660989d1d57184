package account

import (
	"context"
	"errors"
	"net/http"

	"github.com/spf13/cobra"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

// sender sends the messages of one channel.
type sender[M any] struct {
	channel, about string
	// long is the help about the command, without what all channels have.
	long string
	// from is the help for --from, and example a sender; both are empty if a message has none. to is the help for --to.
	from, example, to string
	// fallback reports whether a message can fall back to SMS.
	fallback bool
	build    func(*message) M
	// checkFile names in the words of JSON what the JSON of a message lacks. Other errors come from Validate.
	checkFile func(M) error
	service   func(*messaging.Client) service[M]
}

type service[M any] interface {
	Validate(m M) error
	Send(ctx context.Context, m M) (messaging.Receipt, error)
}

// senders are the commands below send, one for each channel.
func senders(console cli.Console) []*cobra.Command {
	return []*cobra.Command{
		newSender(console, sender[sms.Message]{
			channel: "sms", about: "an SMS",
			from: "the `sender`", example: "ACME", to: "the recipient's `number`",
			long: `Send an SMS. The flags describe a text message. For other messages, -f reads JSON from a file or standard input: the
encoding of the Go type sms.Message, such as

  {"from": "ACME", "to": "+639171234567", "text": "Your order is ready", "referenceID": "order-17"}

with the additional members callbackURL, marketing and extra.`,
			build: func(m *message) sms.Message {
				return sms.Message{From: m.from, To: m.to, Text: m.text, ReferenceID: m.reference, CallbackURL: m.callback}
			},
			checkFile: func(sms.Message) error { return nil },
			service:   func(c *messaging.Client) service[sms.Message] { return c.SMS },
		}),
		newSender(console, sender[chatapp1.Message]{
			channel: "chatapp1", about: "a message over chat app 1", fallback: true,
			from: "the `ID` of the chat-app-1 channel that sends", example: "CHANNEL", to: "the recipient's `number`",
			long: `Send a message over chat app 1. The flags describe a text message. For other messages, -f reads JSON from a file or standard input: the
encoding of the Go type chatapp1.Message, such as

  {"channelID": "CHANNEL", "to": "+639171234567", "payload": {"type": "text", "body": "Hi"}, "referenceID": "order-17"}

with the additional members ttl (10m), fallback ({"from": …, "text": …}), callbackURL, marketing and extra.`,
			build: func(m *message) chatapp1.Message {
				return chatapp1.Message{
					ChannelID: m.from, To: m.to, Payload: chatapp1.Text{Body: m.text}, TTL: m.ttl, Fallback: m.fallback(),
					ReferenceID: m.reference, CallbackURL: m.callback,
				}
			},
			checkFile: func(chatapp1.Message) error { return nil },
			service:   func(c *messaging.Client) service[chatapp1.Message] { return c.ChatApp1 },
		}),
		newSender(console, sender[chatapp2.Message]{
			channel: "chatapp2", about: "a message over chat app 2", fallback: true,
			to: "the `recipient`: a number, or the ID of a user",
			long: `Send a message over chat app 2. The flags describe a text message. For other messages, -f reads JSON from a file or standard input: a
message in the platform's own form, such as

  {"to": "+639171234567", "type": "text", "text": {"body": "Hi"}, "referenceID": "order-17"}
  {"to": "+639171234567", "type": "template", "template": {"name": "order_ready", "language": {"code": "en"},
   "components": [{"type": "body", "parameters": [{"type": "text", "text": "17"}]}]}, "marketing": true}

with the additional members ttl (10m), fallback ({"from": …, "text": …}), callbackURL, referenceID and marketing. Any other member goes to
the platform as it is.`,
			build: func(m *message) chatapp2.Message {
				return chatapp2.Message{
					To: m.to, Content: chatapp2.Text{Body: m.text}, TTL: m.ttl, Fallback: m.fallback(),
					ReferenceID: m.reference, CallbackURL: m.callback,
				}
			},
			checkFile: checkContent,
			service:   func(c *messaging.Client) service[chatapp2.Message] { return c.ChatApp2 },
		}),
	}
}

// checkContent returns an error for a message whose JSON has no content. Its type may name a member that is absent.
func checkContent(m chatapp2.Message) error {
	raw, isRaw := m.Content.(chatapp2.Raw)
	if m.Content == nil || isRaw && len(raw.JSON) == 0 {
		return errors.New(`the message has no content; want "text": {"body": "Hi"}, or another type and the member of its name, such as template`)
	}
	return nil
}

// A hook is a callback that listen receives.
type hook struct {
	callback webhook.Callback
	handler  func(*webhook.Receiver) http.Handler
}

// path returns the path at which listen receives the callback.
func (h hook) path() string { return "/" + string(h.callback) }

// hooks returns the callbacks, in the order of the help.
func (l *listener) hooks() []hook {
	return []hook{
		{webhook.CallbackSMS, func(receiver *webhook.Receiver) http.Handler {
			return receiver.SMS(func(_ context.Context, m webhook.SMSMessage) error {
				return l.print("sms", m.ID, m.From, m.To, m.Text, m)
			})
		}},
		{webhook.CallbackChatApp1, func(receiver *webhook.Receiver) http.Handler { return receiver.ChatApp1(l.printChatMessage) }},
		{webhook.CallbackChatApp2, func(receiver *webhook.Receiver) http.Handler { return receiver.ChatApp2(l.printChatMessage) }},
		{webhook.CallbackDelivery, func(receiver *webhook.Receiver) http.Handler { return receiver.Delivery(l.printReport) }},
	}
}
