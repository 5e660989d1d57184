package chatapp2

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

// MarshalJSON encodes the message as the body that a send has under the default contract, Extra and the service's own fields
// included, so that it can be queued or stored and read back. It does not validate; a name that comes twice is an error, and so is a text
// that is not valid UTF-8, which would be another when it is read. A TTL that is no whole number of seconds is written with its fraction, so that nothing is lost.
//
// A client's own contract and credentials have no part in it.
func (m Message) MarshalJSON() ([]byte, error) {
	own := m.members()
	names := map[string]bool{}
	for _, name := range besideMessage() {
		names[name] = true
	}
	for _, one := range own {
		if names[one.name] {
			return nil, fmt.Errorf("chatapp2: the key %q comes twice", one.name)
		}
		names[one.name] = true
	}
	message, err := encodeMembers(own)
	if err != nil {
		return nil, fmt.Errorf("chatapp2: Content cannot be encoded: %T", err)
	}
	if !wire.IsUTF8(own) {
		return nil, errors.New("chatapp2: a text is not valid UTF-8")
	}
	if message, err = wire.AppendExtra(message, m.Extra, "Extra", func(name string) bool { return names[name] }); err != nil {
		return nil, fmt.Errorf("chatapp2: %w", err)
	}
	delivery, err := wire.EncodeText(m.delivery())
	if err != nil {
		return nil, fmt.Errorf("chatapp2: %w", err)
	}
	if string(delivery) == "{}" {
		return message, nil
	}
	return append(append(message[:len(message)-1], ','), delivery[1:]...), nil
}

// besideMessage gives the default names of what the service adds to a message.
func besideMessage() []string {
	return []string{"ttl", "sms_from", "sms_text", "dlrCallback", "dlrReport", "referenceId"}
}

// UnmarshalJSON decodes what MarshalJSON encodes, and any message in the platform's shape. Content is typed wherever its type
// holds all of it, also where a required field is missing, which Send then refuses. What no type holds stays raw in the
// narrowest place: a RawParameter, a RawComponent, a RawAction, else Raw. Members of the message that have no field go into
// Extra, numbers as json.Number. Numbers in quotes and types in upper case are read; an empty text or object, null and false
// count as absent. A message that does not name its type has that of its content.
//
// The message is replaced whole. An error means that the document is no message at all; it names a member and repeats nothing
// of it.
func (m *Message) UnmarshalJSON(data []byte) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil || raw == nil {
		return errors.New("chatapp2: a message must be a JSON object")
	}
	var d wire.Delivery
	if err := d.Take(raw); err != nil {
		return fmt.Errorf("chatapp2: %w", err)
	}
	all := members{left: map[string]any{}}
	for name, value := range raw {
		all.left[name] = decode(value)
	}
	decoded := Message{TTL: d.TTL.Duration(), CallbackURL: d.CallbackURL, ReferenceID: d.ReferenceID}
	if from, text, ok := d.Fallback(); ok {
		decoded.Fallback = &sms.Fallback{From: from, Text: text}
	}
	if err := decoded.takeEnvelope(&all); err != nil {
		return err
	}
	kind, _ := all.left["type"].(string)
	delete(all.left, "type")
	if kind != "" {
		kind = all.keyOf(kind)
		decoded.Content = readContent(kind, all.take(kind))
	} else if kind = all.kindOfContent(); kind != "" {
		decoded.Content = readContent(kind, all.take(kind))
	}
	for _, key := range contentKeys() {
		if value, ok := all.left[key]; ok && value == nil {
			delete(all.left, key)
		}
	}
	if len(all.left) > 0 {
		decoded.Extra = all.left
	}
	*m = decoded
	return nil
}

// takeEnvelope reads the members that every message has. What its fields cannot hold stays where it is.
func (m *Message) takeEnvelope(all *members) error {
	product := "whatsapp"
	for _, field := range []struct {
		name string
		to   *string
	}{
		{"messaging_product", &product},
		{"recipient_type", &m.RecipientType},
		{"to", &m.To},
		{"recipient", &m.Recipient},
		{"type", new(string)},
	} {
		switch value := all.left[field.name].(type) {
		case nil:
			delete(all.left, field.name)
			continue
		case string:
			*field.to = value
		case json.Number:
			if field.name == "type" {
				return errors.New(`chatapp2: "type" must be a string`)
			}
			*field.to = value.String()
		default:
			return fmt.Errorf("chatapp2: %q must be a string", field.name)
		}
		if field.name != "type" {
			delete(all.left, field.name)
		}
	}
	if m.RecipientType == RecipientIndividual { // which an empty one means
		m.RecipientType = ""
	}
	if !strings.EqualFold(product, "whatsapp") {
		return errors.New(`chatapp2: "messaging_product" must be "whatsapp"`)
	}
	var quoted replyContext
	if value, ok := all.left["context"]; ok && (value == nil || fill(value, &quoted) && quoted.MessageID != "") {
		m.ReplyTo = quoted.MessageID
		delete(all.left, "context")
	}
	for name, to := range map[string]any{
		"biz_opaque_callback_data": &m.CallbackData,
		"product_policy":           &m.Marketing.ProductPolicy,
		"message_activity_sharing": &m.Marketing.ActivitySharing,
	} {
		if value, ok := all.left[name]; ok && fill(value, to) {
			delete(all.left, name)
		}
	}
	return nil
}

// kindOfContent gives the type of a message that does not name it: text, as the platform has it, else the one whose content is
// there.
func (m *members) kindOfContent() string {
	kind := ""
	for _, known := range contentKeys() {
		switch {
		case m.left[known] == nil:
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

// keyOf gives the key of the content of a type that may be written in upper case.
func (m *members) keyOf(kind string) string {
	lower := strings.ToLower(kind)
	if _, ok := m.left[kind]; !ok && m.left[lower] != nil {
		return lower
	}
	return kind
}

// encodeMembers writes an object with its members in order.
func encodeMembers(all []member) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(256)
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	write := func(value any) error {
		if s, ok := value.(string); ok && isPlain(s) {
			b.WriteByte('"')
			b.WriteString(s)
			b.WriteByte('"')
			return nil
		}
		if err := e.Encode(value); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1) // the encoder's line break
		return nil
	}
	b.WriteByte('{')
	for i, one := range all {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := write(one.name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := write(one.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// isPlain tells of a text that JSON writes as it is.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// decode gives a JSON value that is known to be valid, with numbers as they are written.
func decode(raw []byte) any {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil
	}
	return value
}

// decodeValue gives a value as it is read from its own JSON, nil where it has none.
func decodeValue(value any) any {
	raw, err := wire.Encode(value)
	if err != nil {
		return nil
	}
	return decode(raw)
}

// rawOf gives a decoded value as JSON again, for what no type holds.
func rawOf(value any) json.RawMessage {
	if value == nil {
		return nil
	}
	raw, err := wire.Encode(value)
	if err != nil {
		return nil
	}
	return raw
}
