package chatapp1

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

// payloads returns an empty payload of each kind, by its type in storage.
func payloads() map[string]Payload {
	return map[string]Payload{
		"text": new(Text), "image": new(Image), "video": new(Video),
		"callToAction": new(CallToAction), "template": new(Template), "raw": new(Raw),
	}
}

// MarshalJSON encodes the message for storage, under keys of this library that no contract changes:
//
//	{"callbackURL": "…", "channelID": "channel-1", "fallback": {"from": "ACME", "text": "Hi"},
//	 "payload": {"body": "Hi", "type": "text"}, "referenceID": "…", "to": "+639171234567", "ttl": "10m0s"}
//
// It does not validate the message, but text that is not valid UTF-8 is an error.
func (m Message) MarshalJSON() ([]byte, error) {
	fields := wire.FieldsToStore(&m)
	for name, payload := range payloads() {
		stored := reflect.ValueOf(payload).Elem()
		if stored.Type() == reflect.TypeOf(m.Payload) {
			stored.Set(reflect.ValueOf(m.Payload))
			members := wire.FieldsToStore(payload)
			members["type"] = name
			fields["payload"] = members
		}
	}
	if m.Payload != nil && notAValue(m.Payload) != "" {
		return nil, errors.New("chatapp1: the message cannot be encoded: Payload " + notAValue(m.Payload))
	}
	data, err := wire.EncodeStored(fields)
	if err != nil {
		return nil, fmt.Errorf("chatapp1: the message cannot be encoded: %w", err)
	}
	return data, nil
}

// UnmarshalJSON decodes what MarshalJSON encodes and replaces the whole message. Numbers in Raw.Fields become json.Number. An
// unknown or repeated key is an error. Errors never repeat a value.
func (m *Message) UnmarshalJSON(data []byte) error {
	var decoded Message
	var payload, fallback json.RawMessage
	fields := wire.StoredFields(&decoded)
	fields["payload"], fields["fallback"] = &payload, &fallback
	err := wire.DecodeStored(data, fields)
	if err == nil && fallback != nil {
		decoded.Fallback = new(sms.Fallback)
		err = wire.DecodeStored(fallback, wire.StoredFields(decoded.Fallback))
	}
	if err == nil && payload != nil {
		decoded.Payload, err = decodePayload(payload)
	}
	if err != nil {
		return fmt.Errorf("chatapp1: the message cannot be decoded: %w", err)
	}
	*m = decoded
	return nil
}

func decodePayload(data []byte) (Payload, error) {
	var kind struct{ Type string }
	if err := json.Unmarshal(data, &kind); err != nil {
		return nil, errors.New(`"payload" must be an object with a type`)
	}
	payload, known := payloads()[kind.Type]
	if !known {
		return nil, errors.New(`"payload" has a type that is none of text, image, video, callToAction, template and raw`)
	}
	fields := wire.StoredFields(payload)
	fields["type"] = &kind.Type
	if err := wire.DecodeStored(data, fields); err != nil {
		return nil, err
	}
	value, _ := reflect.TypeAssert[Payload](reflect.ValueOf(payload).Elem())
	return value, nil
}
