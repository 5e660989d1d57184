package chatapp2

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/shape"
	"github.com/messaging-service/messaging-go/internal/stored"
	"github.com/messaging-service/messaging-go/sms"
)

// storedFallback is an sms.Fallback in the form that package shape reads.
type storedFallback struct {
	From string `at:"from!"`
	Text string `at:"text!"`
}

// storedNames returns the keys that this library adds to the platform's members.
func storedNames() []string {
	return []string{"ttl", "fallback", "callbackURL", "referenceID", "marketing"}
}

// MarshalJSON encodes the message for storage: the members of the platform, those of Extra, and five keys of this library that no
// contract changes:
//
//	{"messaging_product": "whatsapp", "recipient_type": "individual", "to": "+639171234567", "type": "text",
//	 "text": {"body": "Hi"}, "ttl": "10m0s", "fallback": {"from": "ACME", "text": "Hi"}, "callbackURL": "…", "referenceID": "…",
//	 "marketing": true}
//
// The message is not validated, but a name that is used twice or differs from a known one in case alone, text that is not valid UTF-8, and a pointer in
// place of a value are errors.
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
	object := storedObject{
		"ttl":         stored.Duration(m.TTL),
		"fallback":    m.Fallback,
		"callbackURL": m.CallbackURL,
		"referenceID": m.ReferenceID,
		"marketing":   m.Marketing,
	}
	for _, member := range e.members {
		if err := object.add(member.Name, member.Value); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Extra)) {
		if err := object.add(name, m.Extra[name]); err != nil {
			return nil, err
		}
	}
	for _, name := range storedNames() {
		if reflect.ValueOf(object[name]).IsZero() {
			delete(object, name)
		}
	}
	return stored.Encode(object)
}

// storedObject is a stored message. It has a name once only.
type storedObject map[string]any

func (o storedObject) add(name string, value any) error {
	if err := checkCase(name); err != nil { // it could not be read again
		return err
	}
	if _, isUsed := o[name]; isUsed {
		return fmt.Errorf("the key %q is used twice", name)
	}
	o[name] = value
	return nil
}

// checkCase returns an error for a name that differs from a known one in case alone, such as Marketing: it would be sent as a member of its own.
func checkCase(name string) error {
	if known := otherCase(name); known != "" {
		return fmt.Errorf("there is no member %q; want %q", name, known)
	}
	return nil
}

// otherCase returns the known name that differs from a name in case alone, or "".
func otherCase(name string) string {
	for _, known := range slices.Concat(storedNames(), envelopeNames()) {
		if name != known && strings.EqualFold(name, known) {
			return known
		}
	}
	return ""
}

// UnmarshalJSON decodes what MarshalJSON encodes, and any message in the platform's format. It replaces the whole message.
//
//   - A part becomes a value of a Go type if that type holds all of it. Otherwise the part stays JSON: in a RawParameter, a RawComponent
//     or a RawAction if possible, or else in Raw.
//   - A user ID without a number becomes To.
//   - Members of the message that have no field go into Extra, with numbers as json.Number. A name such as Marketing, which differs from a known
//     one in case alone, is an error.
//   - Numbers in quotes and types in upper case are accepted.
//   - Null, false, and empty strings and objects count as absent.
//   - A message without a type takes the type of its content.
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
	case isReceipt(object):
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
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if err := checkCase(name); err != nil {
			return Message{}, err
		}
	}
	if len(object) > 0 {
		m.Extra = object
	}
	return m, nil
}

// isReceipt reports whether a document is a read receipt or a typing indicator, which the platform sends as messages too.
func isReceipt(object map[string]any) bool {
	isRead := object["message_id"] != nil && object["status"] != nil
	return isRead || object["typing_indicator"] != nil
}

// envelope holds members of a document that a Message has no field for.
type envelope struct {
	product       string
	recipientType string
	kind          string
	fallback      *storedFallback
}

// takeEnvelope reads the members that do not depend on the content, and removes them. It returns the name of the content.
func (m *Message) takeEnvelope(object map[string]any) (string, error) {
	e := envelope{product: "whatsapp", recipientType: individual}
	if err := m.popTyped(object, &e); err != nil {
		return "", err
	}
	if !strings.EqualFold(e.product, "whatsapp") {
		return "", errors.New(`"messaging_product" must be "whatsapp"`)
	}
	if e.recipientType != individual {
		return "", errors.New(`"recipient_type" must be "individual": a message goes to one person`)
	}
	if m.To == "" && isUserID(m.Recipient) { // as recipient sends it
		m.To = m.Recipient
		m.Recipient = ""
	}
	m.Fallback = (*sms.Fallback)(e.fallback)
	m.ReplyTo = popExact[replyContext](object, "context").MessageID
	m.CallbackData = popExact[string](object, "biz_opaque_callback_data")
	m.MarketingOptions.ProductPolicy = popExact[ProductPolicy](object, "product_policy")
	m.MarketingOptions.ActivitySharing = popExact[*bool](object, "message_activity_sharing")
	if e.kind == "" {
		return soleContent(object), nil
	}
	return contentName(e.kind, object), nil
}

// popTyped reads and removes the members whose value must be of one type.
func (m *Message) popTyped(object map[string]any, e *envelope) error {
	for _, member := range []struct {
		name string
		to   any
		want string
	}{
		{"messaging_product", &e.product, "a string"},
		{"recipient_type", &e.recipientType, "a string"},
		{"to", &m.To, "a string"},
		{"recipient", &m.Recipient, "a string"},
		{"type", &e.kind, "a string"},
		{"ttl", (*stored.Duration)(&m.TTL), `a duration such as "1m30s"`},
		{"fallback", &e.fallback, "an object of from and text"},
		{"callbackURL", &m.CallbackURL, "a string"},
		{"referenceID", &m.ReferenceID, "a string"},
		{"marketing", &m.Marketing, "true or false"},
	} {
		value := object[member.name]
		isRecipient := member.name == "to" || member.name == "recipient"
		if number, isNumber := value.(json.Number); isNumber && isRecipient {
			value = number.String()
		}
		if !readExact(value, member.to) {
			return fmt.Errorf("%q must be %s", member.name, member.want)
		}
		delete(object, member.name)
	}
	return nil
}

// readExact reads a value into to, and reports whether to holds all of it.
func readExact(value, to any) bool {
	return allShapes().Read(value, to) == shape.Exact
}

// popExact reads a member and removes it. A member that a T cannot hold whole stays, for Extra, and popExact returns a zero T.
func popExact[T any](object map[string]any, name string) T {
	var to T
	if !readExact(object[name], &to) {
		var zero T
		return zero
	}
	delete(object, name)
	return to
}

// contentName returns the name of the member that holds the content of a message of this type. A type may be in upper case.
func contentName(kind string, object map[string]any) string {
	lower := strings.ToLower(kind)
	if object[kind] == nil && object[lower] != nil {
		return lower
	}
	return kind
}

// soleContent returns the name of the content of a message without a type: text, or the only other content that is there. It returns ""
// if there is none, or more than one.
func soleContent(object map[string]any) string {
	if object["text"] != nil {
		return "text"
	}
	var found []string
	for _, content := range contents() {
		if object[content.kind()] != nil {
			found = append(found, content.kind())
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}
