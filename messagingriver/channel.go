package messagingriver

import (
	"context"
	"encoding/json"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/sms"
)

// channel is what the outbox does with the messages of one channel.
type channel struct {
	validate func(Message) error
	decode   func(stored string) (Message, error)
	send     func(context.Context, Message) (messaging.Receipt, error)
}

func channels(client *messaging.Client) map[string]channel {
	return map[string]channel{
		channelName(sms.Message{}):      channelOf(client.SMS.Validate, client.SMS.Send),
		channelName(chatapp1.Message{}): channelOf(client.ChatApp1.Validate, client.ChatApp1.Send),
		channelName(chatapp2.Message{}): channelOf(client.ChatApp2.Validate, client.ChatApp2.Send),
	}
}

func channelOf[M Message](validate func(M) error, send func(context.Context, M) (messaging.Receipt, error)) channel {
	return channel{
		validate: func(m Message) error { return validate(m.(M)) },
		decode: func(stored string) (Message, error) {
			var m M
			err := json.Unmarshal([]byte(stored), &m)
			return m, err
		},
		send: func(ctx context.Context, m Message) (messaging.Receipt, error) { return send(ctx, m.(M)) },
	}
}

// channelName returns the name of a message's channel, or "" for another type.
func channelName(message Message) string {
	switch message.(type) {
	case sms.Message:
		return messaging.ChannelSMS.String()
	case chatapp1.Message:
		return messaging.ChannelChatApp1.String()
	case chatapp2.Message:
		return messaging.ChannelChatApp2.String()
	default:
		return ""
	}
}
