package chatapp2

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/shape"
	"github.com/messaging-service/messaging-go/internal/stored"
	"github.com/messaging-service/messaging-go/sms"
)

type storedFallback struct {
	From string `at:"from!"`
	Text string `at:"text!"`
}

// storedNames returns the keys of this library, which are stored beside the platform's members.
func storedNames() []string { return []string{"ttl", "fallback", "callbackURL", "referenceID"} }

// MarshalJSON encodes the message for storage: the members of the platform, those of Extra, and four keys of this library that no
// contract changes:
//
//	{"messaging_product": "whatsapp", "recipient_type": "individual", "to": "+639171234567", "type": "text",
//	 "text": {"body": "Hi"}, "ttl": "10m0s", "fallback": {"from": "ACME", "text": "Hi"}, "callbackURL": "…", "referenceID": "…"}
//
// The message is not validated, but a name that comes twice, text that is not valid UTF-8, and a pointer in place of a value are errors.
func (m Message) MarshalJSON() ([]byte, error) {
	data, err := m.store()
	if err != nil {
		return nil, fmt.Errorf("chatapp2: the message cannot be encoded: %w", err)
	}
	return data, nil
}

func (m Message) store() ([]byte, error) {
	e := m.encode()
	if e.Err != nil {
		return nil, e.Err
	}
	object := map[string]any{
		"ttl":         stored.Duration(m.TTL),
		"fallback":    m.Fallback,
		"callbackURL": m.CallbackURL,
		"referenceID": m.ReferenceID,
	}
	for _, member := range e.members {
		if _, taken := object[member.Name]; taken {
			return nil, fmt.Errorf("the key %q comes twice", member.Name)
		}
		object[member.Name] = member.Value
	}
	for name, value := range m.Extra {
		if _, taken := object[name]; taken {
			return nil, fmt.Errorf("the key %q comes twice", name)
		}
		object[name] = value
	}
	for _, name := range storedNames() {
		if reflect.ValueOf(object[name]).IsZero() {
			delete(object, name)
		}
	}
	return stored.Encode(object)
}

// UnmarshalJSON decodes what MarshalJSON encodes, and any message in the platform's shape. It replaces the whole message.
//
// What a type expresses exactly becomes a value of that type. Other parts stay raw in the narrowest place: a RawParameter, a
// RawComponent, a RawAction, or else Raw. Members of the message that have no field go into Extra, with numbers as json.Number.
// Numbers in quotes and types in upper case are read; null, false, and empty texts and objects count as absent. A message
// without a type takes the type of its content.
//
// An error means that the document is not a message. It never repeats a value.
func (m *Message) UnmarshalJSON(data []byte) error {
	decoded, err := decodeMessage(data)
	if err != nil {
		return fmt.Errorf("chatapp2: the message cannot be decoded: %w", err)
	}
	*m = decoded
	return nil
}

func decodeMessage(data []byte) (Message, error) {
	object, ok := shape.Decode(data).(map[string]any)
	switch {
	case !ok || !utf8.Valid(data):
		return Message{}, errors.New("want a JSON object in valid UTF-8")
	case object["message_id"] != nil && object["status"] != nil || object["typing_indicator"] != nil:
		return Message{}, errors.New("a read receipt or typing indicator is not a message")
	}
	var m Message
	kind, err := m.takeEnvelope(object)
	if err != nil {
		return Message{}, err
	}
	if kind != "" {
		m.Content = decodeContent(kind, object[kind])
		delete(object, kind)
	}
	for _, known := range contents() {
		if object[known.kind()] == nil {
			delete(object, known.kind())
		}
	}
	if len(object) > 0 {
		m.Extra = object
	}
	return m, nil
}

// takeEnvelope reads the members that do not depend on the content, and removes them. It returns the name of the content.
func (m *Message) takeEnvelope(object map[string]any) (string, error) {
	product, recipientType, kind := "whatsapp", individual, ""
	var fallback *storedFallback
	for _, member := range []struct {
		name string
		to   any
		want string
	}{
		{"messaging_product", &product, "a string"},
		{"recipient_type", &recipientType, "a string"},
		{"to", &m.To, "a string"},
		{"recipient", &m.Recipient, "a string"},
		{"type", &kind, "a string"},
		{"ttl", (*stored.Duration)(&m.TTL), `a duration such as "1m30s"`},
		{"fallback", &fallback, "an object of from and text"},
		{"callbackURL", &m.CallbackURL, "a string"},
		{"referenceID", &m.ReferenceID, "a string"},
	} {
		value := object[member.name]
		if number, ok := value.(json.Number); ok && (member.to == &m.To || member.to == &m.Recipient) {
			value = number.String()
		}
		if !readExact(value, member.to) {
			return "", fmt.Errorf("%q must be %s", member.name, member.want)
		}
		delete(object, member.name)
	}
	if !strings.EqualFold(product, "whatsapp") {
		return "", errors.New(`"messaging_product" must be "whatsapp"`)
	}
	if recipientType != individual {
		return "", errors.New(`"recipient_type" must be "individual": a message goes to one person`)
	}
	m.Fallback = (*sms.Fallback)(fallback)
	m.ReplyTo = takeExact[replyContext](object, "context").MessageID
	m.CallbackData = takeExact[string](object, "biz_opaque_callback_data")
	m.Marketing.ProductPolicy = takeExact[ProductPolicy](object, "product_policy")
	m.Marketing.ActivitySharing = takeExact[*bool](object, "message_activity_sharing")
	return contentName(kind, object), nil
}

func readExact(value, to any) bool {
	return allShapes().Read(value, to) == shape.Exact
}

// takeExact reads a member and removes it, unless it holds more than the type does.
func takeExact[T any](object map[string]any, name string) T {
	var to T
	if !readExact(object[name], &to) {
		return *new(T)
	}
	delete(object, name)
	return to
}

// contentName returns the name of the content of a message of a type, which may be in upper case. A message without a type has
// that of its content: text, or the only other content that is there.
func contentName(kind string, object map[string]any) string {
	if lower := strings.ToLower(kind); kind != "" {
		if object[kind] == nil && object[lower] != nil {
			return lower
		}
		return kind
	}
	for _, content := range contents() {
		switch known := content.kind(); {
		case object[known] == nil:
		case known == "text":
			return known
		case kind != "":
			return ""
		default:
			kind = known
		}
	}
	return kind
}
