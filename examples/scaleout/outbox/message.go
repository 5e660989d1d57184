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

// Channel is a message channel.
type Channel string

// The channels.
const (
	SMS      Channel = "sms"
	ChatApp1 Channel = "chatapp1"
	ChatApp2 Channel = "chatapp2"
)

// Message is a message of any channel, identified by channel and reference ID. Make one with ParseLine, FromSMS, FromChatApp1 or
// FromChatApp2.
type Message struct {
	channel   Channel
	reference string
	body      body
	encoded   json.RawMessage // the same for the same message
}

// body is a message of one channel.
type body interface {
	send(ctx context.Context, client *messaging.Client) (messageID string, err error)
}

// FromSMS returns an outbox message for an SMS.
func FromSMS(m sms.Message) (Message, error) {
	return newMessage(SMS, m.ReferenceID, smsBody{m}, m)
}

// FromChatApp1 returns an outbox message for a message of chat app 1.
func FromChatApp1(m chatapp1.Message) (Message, error) {
	return newMessage(ChatApp1, m.ReferenceID, chatApp1Body{m}, m)
}

// FromChatApp2 returns an outbox message for a message of chat app 2.
func FromChatApp2(m chatapp2.Message) (Message, error) {
	return newMessage(ChatApp2, m.ReferenceID, chatApp2Body{m}, m)
}

func newMessage(channel Channel, reference string, b body, m json.Marshaler) (Message, error) {
	if reference == "" {
		return Message{}, errors.New("the message has no reference ID")
	}
	encoded, err := json.Marshal(m)
	if err != nil {
		return Message{}, fmt.Errorf("encoding the message: %w", err)
	}
	return Message{channel: channel, reference: reference, body: b, encoded: encoded}, nil
}

// line is a message as it is stored in a file and in the stream.
type line struct {
	Channel Channel         `json:"channel"`
	Message json.RawMessage `json:"message"`
}

// ParseLine parses a message from a line of a file:
//
//	{"channel": "sms", "message": {"from": "ACME", "to": "+639171234567", "text": "We open at nine", "referenceID": "order-1"}}
//
// The channel is sms, chatapp1 or chatapp2. The message is the JSON of that channel's Message, as json.Marshal writes it. ParseLine
// does not validate the message; one that the library rejects ends as refused. Errors hold nothing of the message.
func ParseLine(data []byte) (Message, error) {
	var l line
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&l); err != nil {
		return Message{}, errors.New(`not a JSON object with only "channel" and "message"`)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Message{}, errors.New("data after the JSON object")
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
		return Message{}, fmt.Errorf("the channel is not %s, %s or %s", SMS, ChatApp1, ChatApp2)
	}
}

func decode[M any](data json.RawMessage) (m M, err error) {
	if len(data) == 0 {
		return m, errors.New("there is no message")
	}
	err = json.Unmarshal(data, &m)
	return m, err
}

// Line returns the message in the format of ParseLine.
func (m Message) Line() ([]byte, error) { return json.Marshal(line{m.channel, m.encoded}) }

// Key returns the key of the message's record, which also ends its subject in the stream.
func (m Message) Key() string { return key(m.channel, m.reference) }

// key encodes channel and reference ID with the characters and the length that every store accepts in a key.
func key(channel Channel, reference string) string {
	const maxBytes = 120
	if len(reference) > maxBytes {
		sum := sha256.Sum256([]byte(reference))
		return string(channel) + ".=" + hex.EncodeToString(sum[:]) // base64 never starts with "="
	}
	return string(channel) + "." + base64.RawURLEncoding.EncodeToString([]byte(reference))
}

// hash returns a hash of the message's content.
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
