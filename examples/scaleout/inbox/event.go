package inbox

import (
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/messaging-service/messaging-go/webhook"
)

// Kind is the kind of an event.
type Kind string

// The kinds of events.
const (
	SMS      = Kind(webhook.CallbackSMS)
	ChatApp1 = Kind(webhook.CallbackChatApp1)
	ChatApp2 = Kind(webhook.CallbackChatApp2)
	Delivery = Kind(webhook.CallbackDelivery)
)

// Event is an inbound event. In the stream it is a JSON object:
//
//	{
//	  "version":   1,
//	  "kind":      "sms",
//	  "key":       "sms.5a1f…",
//	  "lasting":   true,
//	  "arrivedAt": "2026-10-03T14:44:23.186Z",
//	  "message":   {"id": "in-1", "from": "+639171234567", "text": "STOP", ..., "params": [{"name": "id", "value": "in-1"}, ...], "rawQuery": "id=in-1&..."}
//	}
//
// The message is as package webhook encodes it.
// A version that only adds fields keeps its number.
type Event struct {
	// Kind is the kind of Message.
	Kind Kind
	// Key is the event's duplicate key, as it was when the event arrived. If Lasting is false, a different event can have the same key.
	Key     string
	Lasting bool
	// ArrivedAt is when the receiver got the event, by its own clock.
	ArrivedAt time.Time
	Message   Message
	// Sequence is the event's position in the stream. It is 0 for an event that was not read from there.
	Sequence uint64
}

// Message is a webhook.SMSMessage, a webhook.ChatMessage or a webhook.DeliveryReport.
type Message interface {
	DuplicateKey() (key string, lasting bool)
}

// envelope is the stored form of an event.
type envelope struct {
	Version   int             `json:"version"`
	Kind      Kind            `json:"kind"`
	Key       string          `json:"key"`
	Lasting   bool            `json:"lasting"`
	ArrivedAt time.Time       `json:"arrivedAt"`
	Message   json.RawMessage `json:"message"`
}

const version = 1

// ErrBadEvent means that data is not an event, or is one of an unknown version or kind.
var ErrBadEvent = errors.New("inbox: not an event of version 1")

// newEvent returns the event for a message that a handler received.
func newEvent(kind Kind, message Message) Event {
	key, lasting := message.DuplicateKey()
	return Event{Kind: kind, Key: key, Lasting: lasting, ArrivedAt: time.Now().UTC(), Message: message}
}

// MarshalJSON returns the stored form of the event.
func (e Event) MarshalJSON() ([]byte, error) {
	if e.Message == nil {
		return nil, errors.New("inbox: the event has no message")
	}
	message, err := json.Marshal(e.Message)
	if err != nil {
		return nil, err
	}
	return json.Marshal(envelope{Version: version, Kind: e.Kind, Key: e.Key, Lasting: e.Lasting, ArrivedAt: e.ArrivedAt, Message: message})
}

// UnmarshalJSON parses the stored form of an event. Its error holds nothing of the event.
func (e *Event) UnmarshalJSON(data []byte) error {
	var stored envelope
	if json.Unmarshal(data, &stored) != nil || stored.Version != version {
		return ErrBadEvent
	}
	decoders := map[Kind]func([]byte) (Message, error){
		SMS: decode[webhook.SMSMessage], ChatApp1: decode[webhook.ChatMessage], ChatApp2: decode[webhook.ChatMessage], Delivery: decode[webhook.DeliveryReport],
	}
	decoder, ok := decoders[stored.Kind]
	if !ok {
		return ErrBadEvent
	}
	message, err := decoder(stored.Message)
	if err != nil {
		return ErrBadEvent // a JSON error can quote the text
	}
	*e = Event{Kind: stored.Kind, Key: stored.Key, Lasting: stored.Lasting, ArrivedAt: stored.ArrivedAt, Message: message}
	return nil
}

func decode[M Message](data []byte) (Message, error) {
	var message M
	err := json.Unmarshal(data, &message)
	return message, err
}

// LogValue returns kind, key and sequence, without personal data.
func (e Event) LogValue() slog.Value {
	return slog.GroupValue(slog.String("kind", string(e.Kind)), slog.String("key", e.Key), slog.Uint64("sequence", e.Sequence))
}
