package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Events are stored as JSON under keys of this library, which no contract changes: those of the struct tags. What is zero is left
// out, and unknown keys are ignored, so that a newer version can read what an older one wrote and the other way round.
//
// JSON as it arrived is stored as text, and a query that is not valid UTF-8 as base64: every byte comes back as it was, and so
// does the duplicate key.

// stored holds the fields that JSON cannot hold as they are.
type stored struct {
	Content       *storedContent `json:"content,omitempty"`
	JSON          string         `json:"json,omitempty"`
	RawQuery      string         `json:"rawQuery,omitempty"`
	RawQueryBytes []byte         `json:"rawQueryBytes,omitempty"`
}

func newStored(raw json.RawMessage, query string) stored {
	if !utf8.ValidString(query) {
		return stored{JSON: string(raw), RawQueryBytes: []byte(query)}
	}
	return stored{JSON: string(raw), RawQuery: query}
}

func (s stored) query() string { return s.RawQuery + string(s.RawQueryBytes) }

func (s stored) raw() json.RawMessage {
	if s.JSON == "" {
		return nil
	}
	return json.RawMessage(s.JSON)
}

// MarshalJSON encodes the message for storage, without loss: a message that this package read is the same when it is decoded,
// except that a time zone loses its name and keeps its offset. The keys belong to this library:
//
//	{"id": "m-1", "from": "+639171234567", "to": "21581", "text": "Hi", "receivedAt": "2026-10-03T14:44:23Z", "rawTime": "1791038663",
//	 "params": [{"name": "id", "value": "m-1"}, …], "rawQuery": "id=m-1&…"}
//
// It holds personal data, and no secret.
func (m SMSMessage) MarshalJSON() ([]byte, error) {
	type plain SMSMessage
	return json.Marshal(struct {
		plain
		stored
	}{plain(m), newStored(nil, m.RawQuery)})
}

// UnmarshalJSON decodes what MarshalJSON encodes and replaces the whole message. Unknown keys are ignored.
func (m *SMSMessage) UnmarshalJSON(data []byte) error {
	type plain SMSMessage
	var from struct {
		plain
		stored
	}
	if err := json.Unmarshal(data, &from); err != nil {
		return undecodable(err)
	}
	*m = SMSMessage(from.plain)
	m.RawQuery = from.query()
	return nil
}

// MarshalJSON is like that of SMSMessage. The content is an object with one member, which says what it is, and the JSON of the
// message is stored as text:
//
//	{"callback": "chatapp2", "id": "m-1", "from": "639171234567", "content": {"text": {"body": "Hi"}}, "json": "{\"from\":…}", …}
func (m ChatMessage) MarshalJSON() ([]byte, error) {
	type plain ChatMessage
	to := struct {
		plain
		stored
	}{plain(m), newStored(m.JSON, m.RawQuery)}
	if m.Content != nil {
		if to.stored.Content = newStoredContent(m.Content); to.stored.Content == nil {
			return nil, fmt.Errorf("webhook: the message cannot be encoded: its content is a %T, want a value of this package", m.Content)
		}
	}
	return json.Marshal(to)
}

// UnmarshalJSON is like that of SMSMessage. A content that is none of this package is an error.
func (m *ChatMessage) UnmarshalJSON(data []byte) error {
	type plain ChatMessage
	var from struct {
		plain
		stored
	}
	if err := json.Unmarshal(data, &from); err != nil {
		return undecodable(err)
	}
	decoded := ChatMessage(from.plain)
	decoded.JSON, decoded.RawQuery = from.raw(), from.query()
	if content := from.stored.Content; content != nil {
		if decoded.Content = content.content(); decoded.Content == nil {
			return errors.New("webhook: the event cannot be decoded: its content is not one that this package knows")
		}
	}
	*m = decoded
	return nil
}

// MarshalJSON is like that of SMSMessage. The JSON of the report is stored as text.
func (d DeliveryReport) MarshalJSON() ([]byte, error) {
	type plain DeliveryReport
	return json.Marshal(struct {
		plain
		stored
	}{plain(d), newStored(d.JSON, d.RawQuery)})
}

// UnmarshalJSON is like that of SMSMessage.
func (d *DeliveryReport) UnmarshalJSON(data []byte) error {
	type plain DeliveryReport
	var from struct {
		plain
		stored
	}
	if err := json.Unmarshal(data, &from); err != nil {
		return undecodable(err)
	}
	*d = DeliveryReport(from.plain)
	d.JSON, d.RawQuery = from.raw(), from.query()
	return nil
}

// undecodable returns an error that says where, and shows no value.
func undecodable(err error) error {
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		field := strings.TrimPrefix(strings.TrimPrefix(mistyped.Field, "plain."), "stored.") // of the embedded structs
		return fmt.Errorf("webhook: the event cannot be decoded: %q cannot be a JSON %s", field, mistyped.Value)
	}
	return errors.New("webhook: the event cannot be decoded: want JSON as MarshalJSON writes it")
}

// storedContent holds one content, under a name that says what it is.
type storedContent struct {
	Text     *Text          `json:"text,omitempty"`
	Media    *Media         `json:"media,omitempty"`
	Location *Location      `json:"location,omitempty"`
	Contacts *Contacts      `json:"contacts,omitempty"`
	Reply    *Reply         `json:"reply,omitempty"`
	Reaction *Reaction      `json:"reaction,omitempty"`
	Order    *Order         `json:"order,omitempty"`
	System   *System        `json:"system,omitempty"`
	Unknown  *storedUnknown `json:"unknown,omitempty"`
}

// storedUnknown is Unknown with its JSON as text.
type storedUnknown struct {
	Kind string `json:"kind,omitzero"`
	JSON string `json:"json,omitzero"`
}

// newStoredContent returns a content for storage, or nil if it is a pointer or of another package.
func newStoredContent(content Content) *storedContent {
	switch c := content.(type) {
	case Text:
		return &storedContent{Text: &c}
	case Media:
		return &storedContent{Media: &c}
	case Location:
		return &storedContent{Location: &c}
	case Contacts:
		c = append(Contacts{}, c...) // nil would be null, which is absent
		return &storedContent{Contacts: &c}
	case Reply:
		return &storedContent{Reply: &c}
	case Reaction:
		return &storedContent{Reaction: &c}
	case Order:
		return &storedContent{Order: &c}
	case System:
		return &storedContent{System: &c}
	case Unknown:
		return &storedContent{Unknown: &storedUnknown{Kind: c.Kind, JSON: string(c.Raw)}}
	default:
		return nil
	}
}

// content returns the content, or nil if there is none. Of several the first counts.
func (s *storedContent) content() Content {
	switch {
	case s.Text != nil:
		return *s.Text
	case s.Media != nil:
		return *s.Media
	case s.Location != nil:
		return *s.Location
	case s.Contacts != nil:
		return *s.Contacts
	case s.Reply != nil:
		return *s.Reply
	case s.Reaction != nil:
		return *s.Reaction
	case s.Order != nil:
		return *s.Order
	case s.System != nil:
		return *s.System
	case s.Unknown != nil:
		return Unknown{Kind: s.Unknown.Kind, Raw: stored{JSON: s.Unknown.JSON}.raw()}
	default:
		return nil
	}
}
