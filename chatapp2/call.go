package chatapp2

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// Call describes the message for package messaging, which sends it. It is not meant for other callers.
func (m Message) Call() wire.Call {
	e := m.encode()
	call := wire.Call{Members: e.members, Extra: m.Extra, ExtraField: "Extra", ReferenceID: m.ReferenceID, Problems: m.validate().Checks}
	call.Fields = append(append(make([]wire.Field, 0, 5), wire.Field{Concept: "ttl", Name: "TTL", Value: m.TTL}), m.Fallback.Fields()...)
	call.Fields = append(
		call.Fields,
		wire.Field{Concept: "callback", Name: "CallbackURL", Text: m.CallbackURL, Reason: wire.CheckCallbackURL(m.CallbackURL)},
		wire.Field{Concept: "reference", Name: "ReferenceID", Text: m.ReferenceID},
	)
	if e.err != nil && !slices.ContainsFunc(call.Problems, func(p wire.Problem) bool { return strings.HasPrefix(p.Field, "Content") }) {
		call.Problems = append(call.Problems, wire.Problem{Field: "Content", Reason: e.err.Error()})
	}
	return call
}

// envelopeNames returns the members that a message can have whatever its content.
func envelopeNames() []string {
	return []string{
		"messaging_product", "recipient_type", "to", "recipient", "type", "context", "biz_opaque_callback_data", "product_policy",
		"message_activity_sharing",
	}
}

// replyContext is the member "context".
type replyContext struct {
	MessageID string `json:"message_id"`
}

// encode encodes the message in the platform's shape, without Extra.
func (m Message) encode() *memberEncoder {
	e := newMemberEncoder()
	e.text("messaging_product", "whatsapp")
	e.text("recipient_type", string(cmp.Or(m.RecipientType, RecipientIndividual)))
	e.optional("to", m.To)
	e.optional("recipient", m.Recipient)
	if isValue(m.Content) {
		kind := m.Content.kind()
		e.optional("type", kind)
		e.add(kind, shapeOf(m.Content))
	}
	if m.ReplyTo != "" {
		e.add("context", replyContext{m.ReplyTo})
	}
	e.optional("biz_opaque_callback_data", m.CallbackData)
	e.optional("product_policy", string(m.Marketing.ProductPolicy))
	if m.Marketing.ActivitySharing != nil {
		e.add("message_activity_sharing", *m.Marketing.ActivitySharing)
	}
	return e
}

// memberEncoder encodes members one after another, without the escapes that HTML needs, into one buffer.
type memberEncoder struct {
	members []wire.Member
	err     error // the first one
	buffer  bytes.Buffer
	json    *json.Encoder
}

func newMemberEncoder() *memberEncoder {
	e := &memberEncoder{members: make([]wire.Member, 0, 10)}
	e.buffer.Grow(256)
	e.json = json.NewEncoder(&e.buffer)
	e.json.SetEscapeHTML(false)
	return e
}

func (e *memberEncoder) optional(name, text string) {
	if text != "" {
		e.text(name, text)
	}
}

func (e *memberEncoder) text(name, text string) {
	if strings.ContainsFunc(text, needsEscape) {
		e.add(name, text)
		return
	}
	start := e.buffer.Len()
	e.buffer.WriteByte('"')
	e.buffer.WriteString(text)
	e.buffer.WriteByte('"')
	e.take(name, start, e.buffer.Len())
}

func needsEscape(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }

func (e *memberEncoder) add(name string, value any) {
	start := e.buffer.Len()
	if err := e.json.Encode(value); err != nil {
		e.err = cmp.Or(e.err, fmt.Errorf("%s cannot be encoded as JSON (%T)", name, err)) // whose text may repeat a value
		return
	}
	e.take(name, start, e.buffer.Len()-1) // without the line break
}

// take makes a member of what the buffer holds from start to end. It stays valid when the buffer grows into new memory.
func (e *memberEncoder) take(name string, start, end int) {
	e.members = append(e.members, wire.Member{Name: name, Value: e.buffer.Bytes()[start:end:end]})
}
