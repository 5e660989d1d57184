package chatapp1

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/messaging-service/messaging-go/internal/stored"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// MarshalJSON encodes the message for storage, under keys of this library that no contract changes:
//
//	{"channelID": "channel-1", "to": "+639171234567", "fallback": {"from": "ACME", "text": "Hi"}, "callbackURL": "…",
//	 "referenceID": "…", "marketing": true, "extra": {…}, "payload": {"body": "Hi", "type": "text"}, "ttl": "10m0s"}
//
// It does not validate the message, but text that is not valid UTF-8 is an error.
func (m Message) MarshalJSON() ([]byte, error) {
	data, err := m.store()
	if err != nil {
		return nil, fmt.Errorf("chatapp1: the message cannot be encoded: %w", err)
	}
	return data, nil
}

// UnmarshalJSON decodes what MarshalJSON encodes and replaces the whole message. Numbers in Extra and Raw.Fields become json.Number. An
// unknown or repeated key is an error. Errors never repeat a value.
func (m *Message) UnmarshalJSON(data []byte) error {
	decoded, err := restore(data)
	if err != nil {
		return fmt.Errorf("chatapp1: the message cannot be decoded: %w", err)
	}
	*m = decoded
	return nil
}

type plainMessage Message

// storedMessage is the stored form of a message, in which two fields differ.
type storedMessage struct {
	plainMessage

	Payload json.RawMessage `json:"payload,omitzero"`
	TTL     stored.Duration `json:"ttl,omitzero"`
}

func (m Message) store() (data []byte, err error) {
	s := storedMessage{plainMessage: plainMessage(m), TTL: stored.Duration(m.TTL)}
	if m.Payload != nil {
		if s.Payload, err = storePayload(m.Payload); err != nil {
			return nil, err
		}
	}
	return stored.Encode(s)
}

func restore(data []byte) (Message, error) {
	var s storedMessage
	if err := stored.Decode(data, &s); err != nil {
		return Message{}, err
	}
	m := Message(s.plainMessage)
	m.TTL = time.Duration(s.TTL)
	if s.Payload == nil || string(s.Payload) == "null" {
		return m, nil
	}
	payload, err := restorePayload(s.Payload)
	m.Payload = payload
	return m, err
}

type plainVideo Video

// storedVideo is the stored form of a video.
type storedVideo struct {
	plainVideo

	Duration stored.Duration `json:"duration,omitzero"`
}

// storePayload encodes the fields of a payload, and its type.
func storePayload(p Payload) ([]byte, error) {
	var kind string
	var fields any = p
	switch p := p.(type) {
	case Text:
		kind = "text"
	case Image:
		kind = "image"
	case Video:
		kind = "video"
		fields = storedVideo{plainVideo(p), stored.Duration(p.Duration)}
	case CallToAction:
		kind = "callToAction"
	case Template:
		kind = "template"
	case Raw:
		kind = "raw"
	default:
		return nil, errors.New("Payload " + wire.WrongType(p))
	}
	data, err := stored.Encode(fields)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, err // never, because it was encoded
	}
	members["type"] = json.RawMessage(strconv.Quote(kind))
	return stored.Encode(members)
}

// restorePayload decodes what storePayload encodes.
func restorePayload(data []byte) (Payload, error) {
	var members map[string]json.RawMessage
	var kind string
	if json.Unmarshal(data, &members) != nil || json.Unmarshal(members["type"], &kind) != nil {
		return nil, errors.New(`"payload" must be an object with a type`)
	}
	delete(members, "type")
	fields, err := json.Marshal(members)
	if err != nil {
		return nil, err // never, because it was decoded
	}
	switch kind {
	case "text":
		return restoreFields[Text](fields)
	case "image":
		return restoreFields[Image](fields)
	case "video":
		var video storedVideo
		err := stored.Decode(fields, &video)
		video.plainVideo.Duration = time.Duration(video.Duration)
		return Video(video.plainVideo), err
	case "callToAction":
		return restoreFields[CallToAction](fields)
	case "template":
		return restoreFields[Template](fields)
	case "raw":
		return restoreFields[Raw](fields)
	default:
		return nil, errors.New(`"payload" must have one of the types callToAction, image, raw, template, text, video`)
	}
}

func restoreFields[P Payload](data []byte) (Payload, error) {
	var payload P
	err := stored.Decode(data, &payload)
	return payload, err
}
