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

// extra holds what the tags of an event cannot store without loss: JSON as it arrived is stored as a text, and a query that is not valid
// UTF-8 as base64. Every byte comes back as it was, and so does the duplicate key. Unknown keys are ignored, so that versions can read
// each other's events.
type extra struct {
	Content       map[string]json.RawMessage `json:"content,omitempty"` // one member, which says what the content is
	JSON          string                     `json:"json,omitempty"`
	RawQuery      string                     `json:"rawQuery,omitempty"`
	RawQueryBytes []byte                     `json:"rawQueryBytes,omitempty"`
}

// storage is an event, an Edit or an Unknown in the parts that are stored. The pointers lead into the event.
type storage struct {
	plain   any      // what its tags store
	content *Content // nil for an event that has none
	raw     *json.RawMessage
	query   *string
}

func (s storage) encode() ([]byte, error) {
	more := extra{JSON: string(*s.raw)}
	if utf8.ValidString(*s.query) {
		more.RawQuery = *s.query
	} else {
		more.RawQueryBytes = []byte(*s.query)
	}
	if s.content != nil && *s.content != nil {
		content, err := encodeContent(*s.content)
		if err != nil {
			return nil, err
		}
		more.Content = content
	}
	plain, err := json.Marshal(s.plain)
	if err != nil {
		return nil, err
	}
	rest, err := json.Marshal(more)
	if err != nil {
		return nil, err
	}
	return joinObjects(plain, rest), nil
}

// joinObjects returns one JSON object with the members of both.
func joinObjects(a, b []byte) []byte {
	const empty = "{}"
	if string(a) == empty {
		return b
	}
	if string(b) == empty {
		return a
	}
	return slices.Concat(a[:len(a)-1], []byte(","), b[1:])
}

// decodeEvent decodes what encode encodes, and leaves the event alone if that fails. An error says where, and shows no value.
func decodeEvent[E any, P interface {
	*E
	storage() storage
}](data []byte, event P) error {
	var to E
	if err := P(&to).storage().decode(data); err != nil {
		return decodeError(err)
	}
	*event = to
	return nil
}

// decode decodes what encode encodes into the parts.
func (s storage) decode(data []byte) error {
	if err := json.Unmarshal(data, s.plain); err != nil {
		return err
	}
	var more extra
	if err := json.Unmarshal(data, &more); err != nil {
		return err
	}
	if s.content != nil && more.Content != nil {
		content, err := decodeContent(more.Content)
		if err != nil {
			return err
		}
		*s.content = content
	}
	if more.JSON != "" {
		*s.raw = json.RawMessage(more.JSON)
	}
	*s.query = more.RawQuery + string(more.RawQueryBytes)
	return nil
}

// decodeError returns the error of an event that cannot be decoded, without a value of it.
func decodeError(err error) error {
	if errors.Is(err, errContent) {
		return err
	}
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("webhook: the event cannot be decoded: %q cannot be a JSON %s", mistyped.Field, mistyped.Value)
	}
	return errors.New("webhook: the event cannot be decoded: want JSON as MarshalJSON writes it")
}

// contents returns an empty content of each kind, by the name in storage.
func contents() map[string]Content {
	all := map[string]Content{}
	for _, content := range []Content{
		Text{},
		Media{},
		Location{},
		Contacts{},
		Reply{},
		Reaction{},
		Product{},
		Order{},
		System{},
		Edit{},
		Revoke{},
		RequestWelcome{},
		Unknown{},
	} {
		all[strings.ToLower(reflect.TypeOf(content).Name())] = content
	}
	return all
}

// encodeContent returns an error for a pointer, and for a type of another package.
func encodeContent(content Content) (map[string]json.RawMessage, error) {
	for name, kind := range contents() {
		if reflect.TypeOf(kind) == reflect.TypeOf(content) {
			raw, err := json.Marshal(content)
			return map[string]json.RawMessage{name: raw}, err
		}
	}
	return nil, fmt.Errorf("its content is a %T, want a value of this package", content)
}

var errContent = errors.New("webhook: the event cannot be decoded: its content is not one that this package knows")

func decodeContent(members map[string]json.RawMessage) (Content, error) {
	for name, raw := range members {
		if kind, ok := contents()[name]; ok {
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
func (m SMSMessage) MarshalJSON() ([]byte, error) { return m.storage().encode() }

// UnmarshalJSON decodes what MarshalJSON encodes and replaces the whole message. Unknown keys are ignored.
func (m *SMSMessage) UnmarshalJSON(data []byte) error { return decodeEvent(data, m) }

func (m *SMSMessage) storage() storage {
	type plain SMSMessage
	return storage{plain: (*plain)(m), raw: new(json.RawMessage), query: &m.RawQuery}
}

// MarshalJSON is like that of SMSMessage. The content is an object with one member, which says what it is, and the JSON of the
// message is stored as text:
//
//	{"callback": "chatapp2", "id": "m-1", "from": "639171234567", "content": {"text": {"body": "Hi"}}, "json": "{\"from\":…}", …}
func (m ChatMessage) MarshalJSON() ([]byte, error) { return m.storage().encode() }

// UnmarshalJSON is like that of SMSMessage. A content that this package does not know is an error.
func (m *ChatMessage) UnmarshalJSON(data []byte) error { return decodeEvent(data, m) }

func (m *ChatMessage) storage() storage {
	type plain ChatMessage
	return storage{plain: (*plain)(m), content: &m.Content, raw: &m.JSON, query: &m.RawQuery}
}

// MarshalJSON is like that of SMSMessage. The JSON of the report is stored as text.
func (d DeliveryReport) MarshalJSON() ([]byte, error) { return d.storage().encode() }

// UnmarshalJSON is like that of SMSMessage.
func (d *DeliveryReport) UnmarshalJSON(data []byte) error { return decodeEvent(data, d) }

func (d *DeliveryReport) storage() storage {
	type plain DeliveryReport
	return storage{plain: (*plain)(d), raw: &d.JSON, query: &d.RawQuery}
}

// MarshalJSON is like that of SMSMessage. The JSON of the change is stored as text.
func (o Other) MarshalJSON() ([]byte, error) { return o.storage().encode() }

// UnmarshalJSON is like that of SMSMessage.
func (o *Other) UnmarshalJSON(data []byte) error { return decodeEvent(data, o) }

func (o *Other) storage() storage {
	type plain Other
	return storage{plain: (*plain)(o), raw: &o.JSON, query: &o.RawQuery}
}

// MarshalJSON is like that of SMSMessage. The JSON of the preference is stored as text.
func (p Preference) MarshalJSON() ([]byte, error) { return p.storage().encode() }

// UnmarshalJSON is like that of SMSMessage.
func (p *Preference) UnmarshalJSON(data []byte) error { return decodeEvent(data, p) }

func (p *Preference) storage() storage {
	type plain Preference
	return storage{plain: (*plain)(p), raw: &p.JSON, query: &p.RawQuery}
}

// MarshalJSON stores the content like that of [ChatMessage].
func (e Edit) MarshalJSON() ([]byte, error) { return e.storage().encode() }

// UnmarshalJSON decodes what MarshalJSON encodes.
func (e *Edit) UnmarshalJSON(data []byte) error { return decodeEvent(data, e) }

func (e *Edit) storage() storage {
	type plain Edit
	return storage{plain: (*plain)(e), content: &e.Content, raw: new(json.RawMessage), query: new(string)}
}

// MarshalJSON stores the JSON of the message as text, like that of [ChatMessage].
func (u Unknown) MarshalJSON() ([]byte, error) { return u.storage().encode() }

// UnmarshalJSON decodes what MarshalJSON encodes.
func (u *Unknown) UnmarshalJSON(data []byte) error { return decodeEvent(data, u) }

func (u *Unknown) storage() storage {
	type plain Unknown
	return storage{plain: (*plain)(u), raw: &u.Raw, query: new(string)}
}
