package outbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/sms"
)

// Channel is one of the three by which a message goes, in the words of the contract.
type Channel string

// The channels.
const (
	SMS      Channel = "sms"
	ChatApp1 Channel = "chatapp1"
	ChatApp2 Channel = "chatapp2"
)

// Message is one message of any channel, with the reference ID by which it is known. ParseLine and the functions named after the
// channels make one.
type Message struct {
	channel   Channel
	reference string
	body      body
	encoded   json.RawMessage // of the body, always the same for the same message
}

// body is a message of one channel.
type body interface {
	send(ctx context.Context, client *messaging.Client) (messageID string, err error)
}

// FromSMS makes a message of an SMS.
func FromSMS(m sms.Message) (Message, error) {
	return newMessage(SMS, m.ReferenceID, smsBody{m}, m)
}

// FromChatApp1 makes a message of one of chat app 1.
func FromChatApp1(m chatapp1.Message) (Message, error) {
	return newMessage(ChatApp1, m.ReferenceID, chatApp1Body{m}, m)
}

// FromChatApp2 makes a message of one of chat app 2.
func FromChatApp2(m chatapp2.Message) (Message, error) {
	return newMessage(ChatApp2, m.ReferenceID, chatApp2Body{m}, m)
}

func newMessage(channel Channel, reference string, b body, m json.Marshaler) (Message, error) {
	if reference == "" {
		return Message{}, errors.New("the message has no reference ID, by which it is sent once")
	}
	encoded, err := json.Marshal(m)
	if err != nil {
		return Message{}, errors.New("the message cannot be written as JSON: it holds a text that is no UTF-8, or a field twice")
	}
	return Message{channel: channel, reference: reference, body: b, encoded: encoded}, nil
}

// line is a message with its channel, as it stands in a file and in the stream.
type line struct {
	Channel Channel         `json:"channel"`
	Message json.RawMessage `json:"message"`
}

// ParseLine reads a message as a line of a file has it:
//
//	{"channel": "sms", "message": {"from": "ACME", "to": "+639171234567", "text": "We open at nine", "referenceId": "order-1"}}
//
// The channel is sms, chatapp1 or chatapp2, and the message what json.Marshal makes of that channel's Message: its body under the
// default contract. The message is not validated further than JSON goes; what the library refuses ends as refused. Errors repeat
// nothing of the message.
func ParseLine(data []byte) (Message, error) {
	var l line
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&l); err != nil {
		return Message{}, errors.New(`no JSON object with "channel" and "message" alone`)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Message{}, errors.New("something stands behind the JSON object")
	}
	switch l.Channel {
	case SMS:
		m, err := decode[sms.Message](l.Message)
		if err != nil {
			return Message{}, err
		}
		return FromSMS(m)
	case ChatApp1:
		m, err := decode[chatapp1.Message](l.Message)
		if err != nil {
			return Message{}, err
		}
		return FromChatApp1(m)
	case ChatApp2:
		m, err := decode[chatapp2.Message](l.Message)
		if err != nil {
			return Message{}, err
		}
		return FromChatApp2(m)
	default:
		return Message{}, fmt.Errorf("the channel is none of %s, %s and %s", SMS, ChatApp1, ChatApp2)
	}
}

func decode[M any](data json.RawMessage) (m M, err error) {
	if len(data) == 0 {
		return m, errors.New("there is no message")
	}
	err = json.Unmarshal(data, &m)
	return m, err
}

// Line gives the message as ParseLine reads it.
func (m Message) Line() ([]byte, error) { return json.Marshal(line{m.channel, m.encoded}) }

// Key gives the key of the message's record, which is the end of its subject in the stream too.
func (m Message) Key() string { return key(m.channel, m.reference) }

// key keeps what is in a key within the characters that a key may have, and within a length that every store takes.
func key(channel Channel, reference string) string {
	const longest = 120
	if len(reference) > longest {
		sum := sha256.Sum256([]byte(reference))
		return string(channel) + ".=" + hex.EncodeToString(sum[:]) // no base64 begins so
	}
	return string(channel) + "." + base64.RawURLEncoding.EncodeToString([]byte(reference))
}

// hash tells one message from another under the same reference ID.
func (m Message) hash() string {
	sum := sha256.Sum256(m.encoded)
	return hex.EncodeToString(sum[:])
}

type smsBody struct{ m sms.Message }

func (b smsBody) send(ctx context.Context, client *messaging.Client) (string, error) {
	receipt, err := client.SMS.Send(ctx, b.m)
	return receipt.ID, err
}

type chatApp1Body struct{ m chatapp1.Message }

func (b chatApp1Body) send(ctx context.Context, client *messaging.Client) (string, error) {
	receipt, err := client.ChatApp1.Send(ctx, b.m)
	return receipt.ID, err
}

type chatApp2Body struct{ m chatapp2.Message }

func (b chatApp2Body) send(ctx context.Context, client *messaging.Client) (string, error) {
	receipt, err := client.ChatApp2.Send(ctx, b.m)
	return receipt.ID, err
}
