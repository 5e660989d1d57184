package messagingriver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/sms"
)

// channel is how the outbox checks, stores and sends the messages of one channel.
type channel struct {
	channel  messaging.Channel
	validate func(message messaging.Message) error
	decode   func(encoded []byte) (messaging.Message, error)
	// send makes one request at most. A panic of a function of the program is an error.
	send func(ctx context.Context, message messaging.Message, isGuarded bool) (messaging.Receipt, error)
	halt *halt
}

// newChannels returns the channels by their names.
func newChannels(guarded, unguarded *messaging.Client) map[string]channel {
	return map[string]channel{
		messaging.ChannelSMS.String():      newChannel(messaging.ChannelSMS, guarded.SMS, unguarded.SMS),
		messaging.ChannelChatApp1.String(): newChannel(messaging.ChannelChatApp1, guarded.ChatApp1, unguarded.ChatApp1),
		messaging.ChannelChatApp2.String(): newChannel(messaging.ChannelChatApp2, guarded.ChatApp2, unguarded.ChatApp2),
	}
}

// channelOf returns the name of the channel of a message, or "" if its type is unknown.
func channelOf(message messaging.Message) string {
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

// service is the service of a channel whose messages are of type M.
type service[M messaging.Message] interface {
	Validate(m M) error
	Send(ctx context.Context, m M) (messaging.Receipt, error)
}

func newChannel[M messaging.Message](name messaging.Channel, guarded, unguarded service[M]) channel {
	return channel{
		channel:  name,
		halt:     new(halt),
		validate: func(message messaging.Message) error { return guarded.Validate(message.(M)) },
		decode: func(encoded []byte) (messaging.Message, error) {
			var m M
			err := json.Unmarshal(encoded, &m)
			return m, err
		},
		send: func(ctx context.Context, message messaging.Message, isGuarded bool) (receipt messaging.Receipt, err error) {
			defer func() {
				if value := recover(); value != nil {
					err = fmt.Errorf("panic (%T)", value) // the value may hold anything
				}
			}()
			if isGuarded {
				return guarded.Send(ctx, message.(M))
			}
			return unguarded.Send(ctx, message.(M))
		},
	}
}

// channelNames returns the names of the channels, sorted.
func (o *Outbox[TTx]) channelNames() []string { return slices.Sorted(maps.Keys(o.channels)) }

// Decode decodes a message of a channel, such as "sms", from the JSON that encoding/json writes. It is for programs that take messages from
// files or from another queue. Decode does not validate the message, as Insert does. Its errors contain no content.
func (o *Outbox[TTx]) Decode(channel string, message []byte) (messaging.Message, error) {
	c, isKnown := o.channels[channel]
	if !isKnown {
		return nil, fmt.Errorf("messagingriver: the channel is %q; want one of %s", channel, strings.Join(o.channelNames(), ", "))
	}
	if len(message) == 0 {
		return nil, errors.New("messagingriver: message: required, but absent")
	}
	return c.decode(message)
}
