package inbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/messaging-service/messaging-go/webhook"
)

// Kind is the kind of an event.
type Kind string

// The kinds of events.
const (
	SMS      Kind = "sms"
	ChatApp1 Kind = "chatapp1"
	ChatApp2 Kind = "chatapp2"
	Delivery Kind = "delivery"
)

// Event is what the service has told. In the stream it is a JSON object:
//
//	{
//	  "version": 1,
//	  "kind":    "sms",
//	  "key":     "sms.id.in-1",
//	  "lasting": true,
//	  "arrivedAt": "2026-10-03T14:44:23.186Z",
//	  "message": {"ID": "in-1", "From": "+639171234567", "Text": "STOP", ..., "Params": [{"Name": "id", "Value": "in-1"}, ...], "RawQuery": "aWQ9..."}
//	}
//
// The message has the fields of the kind's type in package webhook under their names there, except for four: RawQuery is in base64,
// since it may hold any bytes; Content, of chat apps, is {"type": "text", "value": {...}} with the name of its type in lower case;
// Status, of delivery reports, is a word; and a time that JSON cannot have, after the year 9999, is the zero time.
// A version that adds fields keeps its number.
//
// Printed with package fmt or logged with log/slog it shows kind, key and place, never a number or a text.
type Event struct {
	// Kind says what Message is.
	Kind Kind
	// Key is the event's duplicate key. Where Lasting is false another event, meant to be another, may have the same.
	Key     string
	Lasting bool
	// ArrivedAt is when the receiver took the event, by its own clock.
	ArrivedAt time.Time
	// Message is a webhook.SMSMessage, a webhook.ChatApp1Message, a webhook.ChatApp2Message or a webhook.DeliveryReport.
	Message any
	// Sequence is the event's place in the stream. It is 0 until it was read from there.
	Sequence uint64
}

// envelope is an event as it is stored.
type envelope struct {
	Version   int             `json:"version"`
	Kind      Kind            `json:"kind"`
	Key       string          `json:"key"`
	Lasting   bool            `json:"lasting"`
	ArrivedAt time.Time       `json:"arrivedAt"`
	Message   json.RawMessage `json:"message"`
}

const version = 1

// ErrNoEvent says that something is no event, or one of a version or kind that this program does not know.
var ErrNoEvent = errors.New("inbox: not an event of version 1")

// newEvent makes the event of a message that a handler got.
func newEvent(kind Kind, message interface{ DuplicateKey() (string, bool) }) Event {
	key, lasting := message.DuplicateKey()
	return Event{Kind: kind, Key: key, Lasting: lasting, ArrivedAt: time.Now().UTC(), Message: message}
}

// MarshalJSON gives the event as it is stored.
func (e Event) MarshalJSON() ([]byte, error) {
	message, err := encode(e.Message)
	if err != nil {
		return nil, err
	}
	return json.Marshal(envelope{Version: version, Kind: e.Kind, Key: e.Key, Lasting: e.Lasting, ArrivedAt: jsonTime(e.ArrivedAt), Message: message})
}

// UnmarshalJSON reads an event that MarshalJSON has written. Its error holds nothing of the event.
func (e *Event) UnmarshalJSON(data []byte) error {
	var stored envelope
	if json.Unmarshal(data, &stored) != nil || stored.Version != version {
		return ErrNoEvent
	}
	message, err := decode(stored.Kind, stored.Message)
	if err != nil {
		return ErrNoEvent // what package json says may quote the text
	}
	*e = Event{Kind: stored.Kind, Key: stored.Key, Lasting: stored.Lasting, ArrivedAt: stored.ArrivedAt, Message: message}
	return nil
}

// encode writes a message.
func encode(message any) ([]byte, error) {
	switch m := message.(type) {
	case webhook.SMSMessage:
		return json.Marshal(newStoredSMS(m))
	case webhook.ChatApp1Message:
		return encodeChatApp(m)
	case webhook.ChatApp2Message:
		return encodeChatApp(webhook.ChatApp1Message(m))
	case webhook.DeliveryReport:
		return json.Marshal(newStoredReport(m))
	default:
		return nil, fmt.Errorf("inbox: an event cannot hold a %T", message)
	}
}

// decode reads a message.
func decode(kind Kind, data []byte) (any, error) {
	switch kind {
	case SMS:
		return decodeAs(data, storedSMS.message)
	case ChatApp1:
		return decodeAs(data, storedChatApp.message)
	case ChatApp2:
		return decodeAs(data, func(s storedChatApp) (webhook.ChatApp2Message, error) {
			m, err := s.message()
			return webhook.ChatApp2Message(m), err
		})
	case Delivery:
		return decodeAs(data, storedReport.message)
	default:
		return nil, ErrNoEvent
	}
}

func decodeAs[Stored, Message any](data []byte, message func(Stored) (Message, error)) (Message, error) {
	var stored Stored
	if err := json.Unmarshal(data, &stored); err != nil {
		var none Message
		return none, err
	}
	return message(stored)
}

// Format prints kind, key and place, in every verb.
func (e Event) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, e.summary()) }

// LogValue logs what Format prints.
func (e Event) LogValue() slog.Value { return slog.StringValue(e.summary()) }

func (e Event) summary() string {
	return fmt.Sprintf("inbox.Event{Kind: %q, Key: %q, Sequence: %d}", e.Kind, e.Key, e.Sequence)
}
