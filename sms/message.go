package sms

import (
	"fmt"
	"log/slog"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/stored"
)

// Message is one SMS to one recipient. From, To and Text are required. An optional field with its zero value is not sent.
//
// A Message is plain data. Sending never changes it, and many goroutines may send the same one.
//
// There is no field for a time to live, because the service's specification has none for SMS. If your account has one, set it in Extra under its
// name.
type Message struct {
	// From is the sender ID: a name or a number that the account may send from. It must not begin or end with white space, or have control
	// characters. Required.
	From string `json:"from,omitzero"`
	// To is the recipient: one mobile number of 5 to 15 digits with an optional leading "+". Required. It is sent as given.
	To string `json:"to,omitzero"`
	// Text is the text, in any script, valid UTF-8. Required. The service splits a long text into parts and charges each;
	// Count estimates how many.
	Text string `json:"text,omitzero"`
	// CallbackURL is where the service reports delivery: an absolute http or https URL. It may hold placeholders such as %s
	// anywhere after the host, and is passed on byte for byte.
	CallbackURL string `json:"callbackURL,omitzero"`
	// ReferenceID is the caller's own name for the message, such as an order number. It comes back in the Receipt and on
	// errors, and settles an unknown outcome: give each message its own.
	ReferenceID string `json:"referenceID,omitzero"`
	// Marketing marks a marketing message. It is not sent; guards use it to skip recipients who opted out.
	Marketing bool `json:"marketing,omitzero"`
	// Extra holds fields that this library does not know, by their wire names. A value is anything that encoding/json
	// encodes; with the encodings form and query, a string, a number or a boolean. A name that the contract uses is rejected.
	Extra map[string]any `json:"extra,omitzero"`
}

// MarshalJSON encodes the message for storage, under keys of this library that no contract changes:
//
//	{"from": "ACME", "to": "+639171234567", "text": "Hi", "callbackURL": "…", "referenceID": "…", "marketing": true, "extra": {…}}
//
// It does not validate the message, but text that is not valid UTF-8 is an error.
func (m Message) MarshalJSON() ([]byte, error) {
	type plain Message
	data, err := stored.Encode(plain(m))
	if err != nil {
		return nil, fmt.Errorf("sms: the message cannot be encoded: %w", err)
	}
	return data, nil
}

// UnmarshalJSON decodes what MarshalJSON encodes and replaces the whole message. Numbers in Extra become json.Number. An
// unknown or repeated key is an error. Errors never repeat a value.
func (m *Message) UnmarshalJSON(data []byte) error {
	type plain Message
	var decoded plain
	if err := stored.Decode(data, &decoded); err != nil {
		return fmt.Errorf("sms: the message cannot be decoded: %w", err)
	}
	*m = Message(decoded)
	return nil
}

// LogValue logs the reference ID and the length of the text. It leaves out sender, recipient, text and Extra.
func (m Message) LogValue() slog.Value {
	return slog.GroupValue(slog.String("reference_id", m.ReferenceID), slog.Int("characters", utf8.RuneCountInString(m.Text)))
}

// Fallback is the SMS that the service sends in place of a chat-app message that did not reach its recipient. Both fields are
// required.
type Fallback struct {
	// From is the sender ID, as in a Message.
	From string `json:"from"`
	// Text is the text, as in a Message.
	Text string `json:"text"`
}
