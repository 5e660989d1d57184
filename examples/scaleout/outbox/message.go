package outbox

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

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

// Priority says which messages of a channel go first.
type Priority string

// The priorities. Messages of one priority do not wait for those of another.
const (
	High   Priority = "high"
	Normal Priority = "normal"
)

// Message is a message of any channel, identified by channel and reference ID. Make one with NewMessage or ParseLine.
type Message struct {
	channel   Channel
	reference string
	priority  Priority
	expires   time.Time
	content   any    // a sms.Message, a chatapp1.Message or a chatapp2.Message
	line      []byte // as it was loaded: never encoded again, so that every version sees the same bytes
}

// Options are what can be said of a message besides its content.
type Options struct {
	// Priority is Normal if it is empty.
	Priority Priority
	// Expires is when the message must not be sent any more, by the engine's clock. The zero time means never.
	Expires time.Time
}

// NewMessage returns an outbox message for a message of a channel.
func NewMessage[Content sms.Message | chatapp1.Message | chatapp2.Message](content Content, options Options) (Message, error) {
	channel := SMS
	switch any(content).(type) {
	case chatapp1.Message:
		channel = ChatApp1
	case chatapp2.Message:
		channel = ChatApp2
	}
	encoded, err := json.Marshal(content)
	if err != nil {
		return Message{}, fmt.Errorf("encoding the message: %w", err)
	}
	data, err := json.Marshal(line{channel, options.Priority, options.Expires, encoded})
	if err != nil {
		return Message{}, fmt.Errorf("encoding the message: %w", err)
	}
	return ParseLine(data)
}

// line is a message as it is stored in a file and in a record.
type line struct {
	Channel  Channel         `json:"channel"`
	Priority Priority        `json:"priority,omitempty"`
	Expires  time.Time       `json:"expires,omitzero"`
	Message  json.RawMessage `json:"message"`
}

// ParseLine parses a message from a line of a file:
//
//	{"channel": "sms", "message": {"from": "ACME", "to": "+639171234567", "text": "We open at nine", "referenceID": "order-1"}}
//
// The channel is sms, chatapp1 or chatapp2. The message is the JSON of that channel's Message, as json.Marshal writes it. A line can also
// have "priority": "high" and "expires": "2026-10-03T18:00:00Z". ParseLine does not validate the message; one that the library rejects
// ends as refused. Errors hold nothing of the message.
func ParseLine(data []byte) (Message, error) {
	var l line
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&l); err != nil {
		return Message{}, errors.New(`not a JSON object with only "channel", "priority", "expires" and "message"`)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Message{}, errors.New("data after the JSON object")
	}
	m := Message{channel: l.Channel, priority: cmp.Or(l.Priority, Normal), expires: l.Expires}
	if m.priority != High && m.priority != Normal {
		return Message{}, fmt.Errorf("the priority is not %s or %s", High, Normal)
	}
	if len(l.Message) == 0 {
		return Message{}, errors.New("there is no message")
	}
	var err error
	switch l.Channel {
	case SMS:
		m.content, m.reference, err = decode(l.Message, func(content sms.Message) string { return content.ReferenceID })
	case ChatApp1:
		m.content, m.reference, err = decode(l.Message, func(content chatapp1.Message) string { return content.ReferenceID })
	case ChatApp2:
		m.content, m.reference, err = decode(l.Message, func(content chatapp2.Message) string { return content.ReferenceID })
	default:
		err = fmt.Errorf("the channel is not %s, %s or %s", SMS, ChatApp1, ChatApp2)
	}
	if err == nil && m.reference == "" {
		err = errors.New("the message has no reference ID")
	}
	if err != nil {
		return Message{}, err
	}
	var compact bytes.Buffer
	_ = json.Compact(&compact, data) // it is valid
	m.line = compact.Bytes()
	return m, nil
}

// Line returns the message in the format of ParseLine. The caller must not change it.
func (m Message) Line() []byte { return m.line }

// Key returns the key of the message's record.
func (m Message) Key() string { return key(m.channel, m.reference) }

// key encodes channel and reference ID with the characters and the length that every store accepts in a key.
func key(channel Channel, reference string) string {
	const maxBytes = 120
	if len(reference) > maxBytes {
		return string(channel) + ".=" + hash([]byte(reference)) // base64 never starts with "="
	}
	return string(channel) + "." + base64.RawURLEncoding.EncodeToString([]byte(reference))
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func decode[Content any](data []byte, reference func(Content) string) (any, string, error) {
	var content Content
	err := json.Unmarshal(data, &content)
	return content, reference(content), err
}

// send sends the message, and returns the service's ID of it.
func (m Message) send(ctx context.Context, client *messaging.Client) (messageID string, err error) {
	var receipt messaging.Receipt
	switch content := m.content.(type) {
	case sms.Message:
		receipt, err = client.SMS.Send(ctx, content)
	case chatapp1.Message:
		receipt, err = client.ChatApp1.Send(ctx, content)
	case chatapp2.Message:
		receipt, err = client.ChatApp2.Send(ctx, content)
	default:
		err = fmt.Errorf("outbox: no channel sends a %T", content)
	}
	return receipt.ID, err
}
