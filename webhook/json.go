package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
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
//	{"id": "m-1", "from": "+639171234567", "to": "21581", "text": "Hi", "received": "2026-10-03T14:44:23Z", "rawTime": "1791038663",
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
		to.stored.Content = &storedContent{m.Content}
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
		decoded.Content = content.value
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
	if errors.Is(err, errContent) {
		return errContent
	}
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		field := strings.TrimPrefix(strings.TrimPrefix(mistyped.Field, "plain."), "stored.") // of the embedded structs
		return fmt.Errorf("webhook: the event cannot be decoded: %q cannot be a JSON %s", field, mistyped.Value)
	}
	return errors.New("webhook: the event cannot be decoded: want JSON as MarshalJSON writes it")
}

// contents returns an empty content of each kind, by its name in storage.
func contents() map[string]Content {
	return map[string]Content{
		"text": Text{}, "media": Media{}, "location": Location{}, "contacts": Contacts{}, "reply": Reply{}, "reaction": Reaction{},
		"order": Order{}, "system": System{}, "unknown": Unknown{},
	}
}

// storedContent is a content in storage: an object with one member, which says what it is.
type storedContent struct{ value Content }

// MarshalJSON fails for a pointer, and for a type of another package.
func (s storedContent) MarshalJSON() ([]byte, error) {
	for name, kind := range contents() {
		if reflect.TypeOf(kind) == reflect.TypeOf(s.value) {
			return json.Marshal(map[string]Content{name: s.value})
		}
	}
	return nil, fmt.Errorf("its content is a %T, want a value of this package", s.value)
}

// UnmarshalJSON fails for a content of another name. Other members are ignored.
func (s *storedContent) UnmarshalJSON(data []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	for name, kind := range contents() {
		if raw, ok := members[name]; ok {
			value := reflect.New(reflect.TypeOf(kind))
			err := json.Unmarshal(raw, value.Interface())
			s.value, _ = reflect.TypeAssert[Content](value.Elem())
			return err
		}
	}
	return errContent
}

var errContent = errors.New("webhook: the event cannot be decoded: its content is not one that this package knows")

// storedUnknown is an Unknown in storage.
type storedUnknown struct {
	Kind string `json:"kind,omitzero"`
	JSON string `json:"json,omitzero"`
}

// MarshalJSON stores the JSON of the message as text, like that of [ChatMessage].
func (u Unknown) MarshalJSON() ([]byte, error) {
	return json.Marshal(storedUnknown{Kind: u.Kind, JSON: string(u.Raw)})
}

// UnmarshalJSON decodes what MarshalJSON encodes.
func (u *Unknown) UnmarshalJSON(data []byte) error {
	var from storedUnknown
	err := json.Unmarshal(data, &from)
	*u = Unknown{Kind: from.Kind, Raw: stored{JSON: from.JSON}.raw()}
	return err
}
