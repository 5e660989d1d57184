package chatapp2

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

// storedDelivery is what is stored of a message beside the platform's members.
type storedDelivery struct {
	TTL         wire.StoredDuration `json:"ttl,omitzero"`
	Fallback    *storedFallback     `json:"fallback,omitzero"`
	CallbackURL string              `json:"callbackURL,omitzero"`
	ReferenceID string              `json:"referenceID,omitzero"`
}

type storedFallback struct {
	From string `json:"from"`
	Text string `json:"text"`
}

// storedNames returns the members of a storedDelivery.
func storedNames() []string { return []string{"ttl", "fallback", "callbackURL", "referenceID"} }

// MarshalJSON encodes the message for storage: the members of the platform, those of Extra, and four keys of this library that no
// contract changes:
//
//	{"messaging_product": "whatsapp", "recipient_type": "individual", "to": "+639171234567", "type": "text",
//	 "text": {"body": "Hi"}, "ttl": "10m0s", "fallback": {"from": "ACME", "text": "Hi"}, "callbackURL": "…", "referenceID": "…"}
//
// It does not validate the message. But a name that comes twice is an error, and so are text that is not valid UTF-8 and a pointer
// in place of a value.
func (m Message) MarshalJSON() ([]byte, error) {
	if fault := m.fault(); fault != "" {
		return nil, fmt.Errorf("chatapp2: the message cannot be encoded: %s", fault)
	}
	members, err := m.members()
	if err != nil {
		return nil, fmt.Errorf("chatapp2: the message cannot be encoded: Content: %T", err)
	}
	names := map[string]bool{}
	for _, name := range storedNames() {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(m.Extra)) {
		value, err := wire.EncodeText(m.Extra[name])
		if err != nil {
			return nil, fmt.Errorf("chatapp2: the message cannot be encoded: Extra[%q]: %T", name, err)
		}
		members = append(members, wire.Member{Name: name, Value: value})
	}
	delivery, err := wire.Encode(storedDelivery{
		wire.StoredDuration(m.TTL), (*storedFallback)(m.Fallback), m.CallbackURL, m.ReferenceID,
	})
	if err != nil {
		return nil, fmt.Errorf("chatapp2: the message cannot be encoded: %T", err)
	}
	var b bytes.Buffer
	for _, member := range members {
		if names[member.Name] {
			return nil, fmt.Errorf("chatapp2: the message cannot be encoded: the key %q comes twice", member.Name)
		}
		names[member.Name] = true
		name, err := wire.EncodeText(member.Name)
		if err != nil {
			return nil, fmt.Errorf("chatapp2: the message cannot be encoded: a key: %w", err)
		}
		b.WriteByte(',')
		b.Write(name)
		b.WriteByte(':')
		b.Write(member.Value)
	}
	b.Bytes()[0] = '{'
	if string(delivery) == "{}" {
		b.WriteByte('}')
	} else {
		b.WriteByte(',')
		b.Write(delivery[1:])
	}
	return b.Bytes(), nil
}

// fault says why a message cannot be stored, "" if it can.
func (m Message) fault() string {
	for _, problem := range m.validate() {
		if strings.Contains(problem.Reason, "UTF-8") || strings.Contains(problem.Reason, "not a pointer") {
			return problem.Field + " " + problem.Reason
		}
	}
	return ""
}

// UnmarshalJSON decodes what MarshalJSON encodes, and any message in the platform's shape. It replaces the whole message.
//
// What a type expresses exactly becomes a value of this type. Other parts stay raw in the narrowest place: a RawParameter, a
// RawComponent, a RawAction, or else Raw. Members of the message that have no field go into Extra, with numbers as json.Number.
// Numbers in quotes and types in upper case are read; null, false, and empty texts and objects count as absent. A message
// without a type has that of its content.
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
	var m Message
	value, err := decode(data)
	object, ok := value.(map[string]any)
	switch {
	case err != nil || !ok:
		return m, errors.New("want a JSON object")
	case object["message_id"] != nil && object["status"] != nil || object["typing_indicator"] != nil:
		return m, errors.New("a read receipt or typing indicator is not a message")
	}
	if err := m.takeDelivery(object); err != nil {
		return m, err
	}
	kind, err := m.takeEnvelope(object)
	if err != nil {
		return m, err
	}
	if kind != "" {
		m.Content = decodeContent(kind, object[kind])
		delete(object, kind)
	}
	for _, name := range contentTypes() {
		if object[name] == nil {
			delete(object, name)
		}
	}
	if len(object) > 0 {
		m.Extra = object
	}
	return m, nil
}

// takeDelivery reads the keys of this library and removes them.
func (m *Message) takeDelivery(object map[string]any) error {
	var ttl string
	var fallback *storedFallback
	for _, key := range []struct {
		name string
		to   any
		want string
	}{
		{"ttl", &ttl, `a duration such as "1m30s"`},
		{"fallback", &fallback, "an object of from and text"},
		{"callbackURL", &m.CallbackURL, "a string"},
		{"referenceID", &m.ReferenceID, "a string"},
	} {
		f := read(object[key.name], key.to)
		if key.name == "ttl" && ttl != "" {
			f = f.exactIf((*wire.StoredDuration)(&m.TTL).UnmarshalText([]byte(ttl)) == nil)
		}
		if f != exact {
			return fmt.Errorf("%q must be %s", key.name, key.want)
		}
		delete(object, key.name)
	}
	m.Fallback = (*sms.Fallback)(fallback)
	return nil
}

// takeEnvelope reads the members that do not depend on the content, and removes them. It returns the name of the content.
func (m *Message) takeEnvelope(object map[string]any) (kind string, err error) {
	product := "whatsapp"
	for _, member := range []struct {
		name string
		to   any
	}{
		{"messaging_product", &product},
		{"recipient_type", &m.RecipientType},
		{"to", &m.To},
		{"recipient", &m.Recipient},
		{"type", &kind},
	} {
		value := object[member.name]
		if number, ok := value.(json.Number); ok && (member.name == "to" || member.name == "recipient") {
			value = number.String()
		}
		if read(value, member.to) != exact {
			return "", fmt.Errorf("%q must be a string", member.name)
		}
		delete(object, member.name)
	}
	if !strings.EqualFold(product, "whatsapp") {
		return "", errors.New(`"messaging_product" must be "whatsapp"`)
	}
	if m.RecipientType == RecipientIndividual { // the default
		m.RecipientType = ""
	}
	m.ReplyTo = takeExact[replyContext](object, "context").MessageID
	m.CallbackData = takeExact[string](object, "biz_opaque_callback_data")
	m.Marketing.ProductPolicy = takeExact[ProductPolicy](object, "product_policy")
	m.Marketing.ActivitySharing = takeExact[*bool](object, "message_activity_sharing")
	return contentName(kind, object), nil
}

// takeExact reads a member and removes it, unless it holds more than the type does.
func takeExact[T any](object map[string]any, name string) T {
	var to T
	if read(object[name], &to) != exact {
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
	for _, known := range contentTypes() {
		switch {
		case object[known] == nil:
		case known == typeText:
			return known
		case kind != "":
			return ""
		default:
			kind = known
		}
	}
	return kind
}
