package chatapp2

import (
	"errors"
	"slices"

	"github.com/messaging-service/messaging-go/internal/shape"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// Call describes the message for package messaging, which sends it. It is not meant for other callers.
func (m Message) Call() wire.Call {
	tail := wire.Tail{TTL: m.TTL, Fallback: (*wire.Fallback)(m.Fallback), CallbackURL: m.CallbackURL, ReferenceID: m.ReferenceID}
	e := m.encode()
	call := wire.Call{Members: e.members, Extra: m.Extra, ExtraField: "Extra", ReferenceID: m.ReferenceID, Problems: m.validate().Checks}
	call.Fields = tail.AppendTo(make([]wire.Field, 0, 5))
	if e.Err != nil && !slices.ContainsFunc(call.Problems, func(p wire.Problem) bool { return !p.Limit }) {
		call.Problems = append(call.Problems, wire.Problem{Field: "Content", Reason: e.Err.Error()})
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

// individual is the recipient type of one person.
const individual = "individual"

type replyContext struct {
	MessageID string `json:"message_id" at:"message_id!"`
}

// encode encodes the message in the platform's shape, without Extra.
func (m Message) encode() *memberWriter {
	w := &memberWriter{Writer: allShapes().NewWriter(make([]byte, 0, 256)), members: make([]wire.Member, 0, 6)}
	to, user := m.recipient()
	w.optional("messaging_product", "whatsapp")
	w.optional("recipient_type", individual)
	w.optional("to", to)
	w.optional("recipient", user)
	w.content(m.Content)
	if m.ReplyTo != "" {
		w.add("context", replyContext{m.ReplyTo})
	}
	w.optional("biz_opaque_callback_data", m.CallbackData)
	w.optional("product_policy", string(m.Marketing.ProductPolicy))
	if m.Marketing.ActivitySharing != nil {
		w.add("message_activity_sharing", *m.Marketing.ActivitySharing)
	}
	return w
}

type memberWriter struct {
	shape.Writer

	members []wire.Member
}

func (w *memberWriter) content(content Content) {
	raw, isRaw := content.(Raw)
	switch {
	case isRaw:
		w.optional("type", raw.Type)
		w.add(raw.Type, raw.JSON)
	case shape.IsValue(content):
		w.optional("type", content.kind())
		w.add(content.kind(), content)
	case content != nil:
		w.Err = errors.New("a part of it " + wire.CheckValue(content))
	}
}

func (w *memberWriter) optional(name, text string) {
	if text != "" {
		start := len(w.Out)
		w.Text(text)
		w.take(name, start)
	}
}

func (w *memberWriter) add(name string, value any) {
	start := len(w.Out)
	w.Value(value)
	w.take(name, start)
}

// take makes a member of what was written since start. It stays valid when what is written grows into new memory.
func (w *memberWriter) take(name string, start int) {
	w.members = append(w.members, wire.Member{Name: name, Value: w.Out[start:len(w.Out):len(w.Out)]})
}
