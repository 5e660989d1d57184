package main

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/messaging-service/messaging-go/webhook"
)

// Event is an event of the service. In the stream it is a JSON object; a version that only adds members keeps its number.
type Event struct {
	// Callback is the callback that brought it.
	Callback webhook.Callback
	// Key is its duplicate key. If Lasting is false, a different event can have the same one.
	Key     string
	Lasting bool
	// ArrivedAt is when the receiver got it, by its own clock.
	ArrivedAt time.Time
	Message   Message
	// Sequence is its position in the stream: the same whenever it comes, and no other event's.
	Sequence uint64
}

// Message is a webhook.SMSMessage, a webhook.ChatMessage or a webhook.DeliveryReport.
type Message interface {
	DuplicateKey() (key string, lasting bool)
}

type storedEvent struct {
	Version   int              `json:"version"`
	Callback  webhook.Callback `json:"callback"`
	Key       string           `json:"key"`
	Lasting   bool             `json:"lasting"`
	ArrivedAt time.Time        `json:"arrivedAt"`
	Message   json.RawMessage  `json:"message"`
}

// ErrBadEvent means that data is not an event, or one of a newer version.
var ErrBadEvent = errors.New("inbox: not an event of version 1")

func newEvent(callback webhook.Callback, message Message) Event {
	key, lasting := message.DuplicateKey()
	return Event{Callback: callback, Key: key, Lasting: lasting, ArrivedAt: time.Now().UTC(), Message: message}
}

// MarshalJSON returns the stored form.
func (e Event) MarshalJSON() ([]byte, error) {
	message, err := json.Marshal(e.Message)
	if err != nil {
		return nil, err
	}
	return json.Marshal(storedEvent{1, e.Callback, e.Key, e.Lasting, e.ArrivedAt, message})
}

// UnmarshalJSON parses the stored form. Its error holds nothing of the event.
func (e *Event) UnmarshalJSON(data []byte) error {
	var stored storedEvent
	if json.Unmarshal(data, &stored) != nil || stored.Version != 1 {
		return ErrBadEvent
	}
	var message Message
	var err error
	switch stored.Callback {
	case webhook.CallbackSMS:
		message, err = decode[webhook.SMSMessage](stored.Message)
	case webhook.CallbackChatApp1, webhook.CallbackChatApp2:
		message, err = decode[webhook.ChatMessage](stored.Message)
	case webhook.CallbackDelivery:
		message, err = decode[webhook.DeliveryReport](stored.Message)
	default:
		return ErrBadEvent
	}
	if err != nil {
		return ErrBadEvent // an error of package json can quote the text
	}
	*e = Event{Callback: stored.Callback, Key: stored.Key, Lasting: stored.Lasting, ArrivedAt: stored.ArrivedAt, Message: message}
	return nil
}

func decode[M Message](data []byte) (Message, error) {
	var message M
	err := json.Unmarshal(data, &message)
	return message, err
}
