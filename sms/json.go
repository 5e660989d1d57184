package sms

import (
	"fmt"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// stored is the JSON of a Message, for a queue or a database.
type stored struct {
	From        string         `json:"from,omitzero"`
	To          string         `json:"to,omitzero"`
	Text        string         `json:"text,omitzero"`
	CallbackURL string         `json:"callbackURL,omitzero"`
	ReferenceID string         `json:"referenceID,omitzero"`
	Extra       map[string]any `json:"extra,omitempty"`
}

// MarshalJSON encodes the message for storage, under keys of this library that no contract changes:
//
//	{"from": "ACME", "to": "+639171234567", "text": "Hi", "callbackURL": "…", "referenceID": "…", "extra": {…}}
//
// It does not validate the message, except that text which is not valid UTF-8 is an error.
func (m Message) MarshalJSON() ([]byte, error) {
	data, err := wire.EncodeStored(stored(m))
	if err != nil {
		return nil, fmt.Errorf("sms: the message cannot be encoded: %w", err)
	}
	return data, nil
}

// UnmarshalJSON decodes what MarshalJSON encodes and replaces the whole message. Numbers in Extra become json.Number. A key
// that it does not know, or that comes twice, is an error. Errors never repeat a value.
func (m *Message) UnmarshalJSON(data []byte) error {
	var s stored
	if err := wire.DecodeStored(data, map[string]any{
		"from": &s.From, "to": &s.To, "text": &s.Text, "callbackURL": &s.CallbackURL, "referenceID": &s.ReferenceID, "extra": &s.Extra,
	}); err != nil {
		return fmt.Errorf("sms: the message cannot be decoded: %w", err)
	}
	*m = Message(s)
	return nil
}
