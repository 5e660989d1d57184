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

// channel is what the outbox does with the messages of one channel.
type channel struct {
	channel messaging.Channel
	// check reports whether a message is one of the channel, and what the client finds wrong with it.
	check  func(message messaging.Message) (is bool, reference string, err error)
	decode func(encoded []byte) (messaging.Message, error)
	// send makes one request at most. A panic of a function of the program is an error.
	send func(ctx context.Context, message messaging.Message, guarded bool) (messaging.Receipt, error)
}

func channelsOf(guarded, unguarded *messaging.Client) map[string]channel {
	return map[string]channel{
		messaging.ChannelSMS.String(): channelOf(messaging.ChannelSMS, guarded.SMS, unguarded.SMS,
			func(m sms.Message) string { return m.ReferenceID }),
		messaging.ChannelChatApp1.String(): channelOf(messaging.ChannelChatApp1, guarded.ChatApp1, unguarded.ChatApp1,
			func(m chatapp1.Message) string { return m.ReferenceID }),
		messaging.ChannelChatApp2.String(): channelOf(messaging.ChannelChatApp2, guarded.ChatApp2, unguarded.ChatApp2,
			func(m chatapp2.Message) string { return m.ReferenceID }),
	}
}

// service is that of a channel whose messages are of type M.
type service[M messaging.Message] interface {
	Validate(m M) error
	Send(ctx context.Context, m M) (messaging.Receipt, error)
}

func channelOf[M messaging.Message](of messaging.Channel, guarded, unguarded service[M], reference func(M) string) channel {
	return channel{
		channel: of,
		check: func(message messaging.Message) (bool, string, error) {
			m, is := message.(M)
			if !is {
				return false, "", nil
			}
			return true, reference(m), guarded.Validate(m)
		},
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

// Decode decodes a message of a channel, such as "sms", as encoding/json writes it: for programs that take messages from files or from
// another queue. Insert validates the message, Decode does not. Errors repeat no content.
func (o *Outbox[TTx]) Decode(channel string, message []byte) (messaging.Message, error) {
	known, ok := o.channels[channel]
	switch {
	case !ok:
		return nil, fmt.Errorf("messagingriver: the channel is %q; want one of %s", channel, strings.Join(o.channelNames(), ", "))
	case len(message) == 0:
		return nil, errors.New("messagingriver: message: required, but absent")
	}
	return known.decode(message)
}
