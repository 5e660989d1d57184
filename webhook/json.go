package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
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
	Content       map[string]json.RawMessage `json:"content,omitempty"` // one member, which says what the content is
	JSON          string                     `json:"json,omitempty"`
	RawQuery      string                     `json:"rawQuery,omitempty"`
	RawQueryBytes []byte                     `json:"rawQueryBytes,omitempty"`
}

// encodeEvent encodes an event, or an Unknown: plain is what JSON can hold as it is, and the rest follows.
func encodeEvent(plain any, content Content, raw json.RawMessage, query string) ([]byte, error) {
	s := stored{JSON: string(raw), RawQuery: query}
	if !utf8.ValidString(query) {
		s.RawQuery, s.RawQueryBytes = "", []byte(query)
	}
	var err error
	if content != nil {
		s.Content, err = encodeContent(content)
	}
	if err != nil {
		return nil, err
	}
	first, err := json.Marshal(plain)
	if err != nil {
		return nil, err
	}
	second, err := json.Marshal(s)
	switch empty := len("{}"); {
	case err != nil || len(first) == empty:
		return second, err
	case len(second) == empty:
		return first, nil
	default: // one object of both
		return slices.Concat(first[:len(first)-1], []byte(","), second[1:]), nil
	}
}

// decodeEvent decodes what encodeEvent encodes. What the event has no field for may be nil. An error says where, and shows no value.
func decodeEvent(data []byte, plain any, content *Content, raw *json.RawMessage, query *string) error {
	var s stored
	err := json.Unmarshal(data, plain)
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err == nil && s.Content != nil && content != nil {
		*content, err = decodeContent(s.Content)
	}
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("webhook: the event cannot be decoded: %q cannot be a JSON %s", mistyped.Field, mistyped.Value)
	}
	if errors.Is(err, errContent) {
		return err
	}
	if err != nil {
		return errors.New("webhook: the event cannot be decoded: want JSON as MarshalJSON writes it")
	}
	if s.JSON != "" && raw != nil {
		*raw = json.RawMessage(s.JSON)
	}
	*query = s.RawQuery + string(s.RawQueryBytes)
	return nil
}

// contents returns an empty content of each kind. In storage its name is that of its type, in lower case.
func contents() []Content {
	return []Content{Text{}, Media{}, Location{}, Contacts{}, Reply{}, Reaction{}, Order{}, System{}, Unknown{}}
}

func nameOf(content Content) string { return strings.ToLower(reflect.TypeOf(content).Name()) }

// encodeContent fails for a pointer, and for a type of another package.
func encodeContent(content Content) (map[string]json.RawMessage, error) {
	for _, kind := range contents() {
		if reflect.TypeOf(kind) == reflect.TypeOf(content) {
			raw, err := json.Marshal(content)
			return map[string]json.RawMessage{nameOf(kind): raw}, err
		}
	}
	return nil, fmt.Errorf("its content is a %T, want a value of this package", content)
}

var errContent = errors.New("webhook: the event cannot be decoded: its content is not one that this package knows")

func decodeContent(members map[string]json.RawMessage) (Content, error) {
	for _, kind := range contents() {
		if raw, ok := members[nameOf(kind)]; ok {
			value := reflect.New(reflect.TypeOf(kind))
			err := json.Unmarshal(raw, value.Interface())
			content, _ := reflect.TypeAssert[Content](value.Elem())
			return content, err
		}
	}
	return nil, errContent
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
	return encodeEvent(plain(m), nil, nil, m.RawQuery)
}

// UnmarshalJSON decodes what MarshalJSON encodes and replaces the whole message. Unknown keys are ignored.
func (m *SMSMessage) UnmarshalJSON(data []byte) error {
	type plain SMSMessage
	var to SMSMessage
	err := decodeEvent(data, (*plain)(&to), nil, nil, &to.RawQuery)
	if err == nil {
		*m = to
	}
	return err
}

// MarshalJSON is like that of SMSMessage. The content is an object with one member, which says what it is, and the JSON of the
// message is stored as text:
//
//	{"callback": "chatapp2", "id": "m-1", "from": "639171234567", "content": {"text": {"body": "Hi"}}, "json": "{\"from\":…}", …}
func (m ChatMessage) MarshalJSON() ([]byte, error) {
	type plain ChatMessage
	return encodeEvent(plain(m), m.Content, m.JSON, m.RawQuery)
}

// UnmarshalJSON is like that of SMSMessage. A content that is none of this package is an error.
func (m *ChatMessage) UnmarshalJSON(data []byte) error {
	type plain ChatMessage
	var to ChatMessage
	err := decodeEvent(data, (*plain)(&to), &to.Content, &to.JSON, &to.RawQuery)
	if err == nil {
		*m = to
	}
	return err
}

// MarshalJSON is like that of SMSMessage. The JSON of the report is stored as text.
func (d DeliveryReport) MarshalJSON() ([]byte, error) {
	type plain DeliveryReport
	return encodeEvent(plain(d), nil, d.JSON, d.RawQuery)
}

// UnmarshalJSON is like that of SMSMessage.
func (d *DeliveryReport) UnmarshalJSON(data []byte) error {
	type plain DeliveryReport
	var to DeliveryReport
	err := decodeEvent(data, (*plain)(&to), nil, &to.JSON, &to.RawQuery)
	if err == nil {
		*d = to
	}
	return err
}

// MarshalJSON stores the JSON of the message as text, like that of [ChatMessage].
func (u Unknown) MarshalJSON() ([]byte, error) {
	type plain Unknown
	return encodeEvent(plain(u), nil, u.Raw, "")
}

// UnmarshalJSON decodes what MarshalJSON encodes.
func (u *Unknown) UnmarshalJSON(data []byte) error {
	type plain Unknown
	var to Unknown
	err := decodeEvent(data, (*plain)(&to), nil, &to.Raw, new(string))
	if err == nil {
		*u = to
	}
	return err
}
