package chatapp2

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

// The values of Message.RecipientType.
const (
	RecipientIndividual = "individual"
	RecipientGroup      = "group"
)

// Message is one message to one recipient over chat app 2. Content and one of To and Recipient are required; the rest is
// optional, and the zero value of a field means that it is absent and is not sent.
//
// A Message is plain data: Send never changes it, and the same one may be sent from many goroutines at once as long as
// nobody writes to it. Printed with package fmt or logged with log/slog it shows measures, not the number or the text; not so
// inside another value that slog's JSON handler encodes, or in an unexported field, where package fmt asks no method.
//
// The specification says that the body has the structure of the third-party platform's messages. The names of that structure
// are the platform's own; those of the fields that the service adds (TTL, Fallback, CallbackURL, ReferenceID) and where they
// stand are defaults of the contract (see package contract). By default they stand beside the message; with chatapp2.send.wrap
// the message goes under a key of its own.
type Message struct {
	// To is the recipient: one mobile number of 5 to 15 digits with an optional leading "+", nothing else. It is sent as
	// given. Where RecipientType is "group" it is the ID of a group, in any form. On the wire: to.
	To string
	// Recipient is a business-scoped user ID in place of To, such as "US.13491208655302741918", for a user whose number is
	// not known: two letters, a dot, and at most 128 letters and digits; or that of a parent business, "US.ENT." and digits. The
	// platform takes none for authentication templates with one-tap, zero-tap or copy-code buttons. On the wire: recipient.
	Recipient string
	// RecipientType is RecipientIndividual, which is what an empty one means, or RecipientGroup. On the wire: recipient_type.
	RecipientType string
	// Content is what the message says: exactly one of the types that the overview of the package lists. Required. On the wire:
	// type, and the member of that name.
	Content Content
	// ReplyTo is the platform's ID of an earlier message, such as "wamid.HBg...", which this one quotes. A Reaction takes none. On the
	// wire: context.message_id.
	ReplyTo string
	// CallbackData comes back in the platform's own status reports, at most 512 characters. Whether the service passes them on
	// is not known. On the wire: biz_opaque_callback_data.
	CallbackData string
	// Marketing says how a marketing template is treated. The zero value leaves it to the platform's defaults.
	Marketing Marketing
	// Fallback is the SMS that the service sends when delivery over chat app 2 fails or the TTL passes; nil is none, and where it
	// is set both of its fields are required. The specification says that it applies for supported cases, not which. It does
	// not say that a message whose SMS went out is withdrawn: a receipt that comes late can mean that the recipient got both,
	// and that both are charged. Not for a group, which has no number; whether the service knows the number of a Recipient is its
	// own matter. By default of the contract: sms_from and sms_text.
	Fallback *sms.Fallback
	// TTL is the message lifetime, after which the Fallback applies. It is sent as a whole number of the contract's unit, by
	// default seconds, and refused where it is none, or negative. 0 leaves it to the service. The specification shows no
	// bounds; the platform itself knows lifetimes from 30 seconds to 30 days, by the category of a template. By default of the
	// contract: ttl.
	TTL time.Duration
	// CallbackURL is where the service reports delivery: an absolute http or https URL. It may hold placeholders such
	// as %s anywhere after the host, and is passed on byte for byte. By default of the contract: dlrCallback.
	CallbackURL string
	// ReferenceID is the caller's own name for the message, such as an order number. It comes back in the Receipt and on
	// errors, and in delivery reports, which are the only way to settle an unknown outcome. No bounds are known.
	// By default of the contract: referenceId.
	ReferenceID string
	// Extra holds further members of the message under their wire names: what the platform adds tomorrow, and what it has for
	// few, such as bid_spec, category or recipient_identity_key_hash. Values are whatever encoding/json takes. A name that the
	// message or the contract uses is refused, since one would overwrite the other.
	Extra map[string]any
}

// Marketing says how a marketing template is treated by the platform's marketing-messages interface. It goes with a Template
// only.
type Marketing struct {
	// ProductPolicy is "CLOUD_API_FALLBACK", by which the message goes by the cloud platform where the interface cannot be
	// used, or "STRICT", by which it then is not sent. Empty is the platform's default, the former. On the wire: product_policy.
	ProductPolicy string
	// ActivitySharing says whether the platform may use what recipients do with the message. Nil is the account's setting. On
	// the wire: message_activity_sharing.
	ActivitySharing *bool
}

// body is what the service adds to a message, under the names of the default contract.
type body struct {
	wire.Delivery
}

// member is a key of the message and its value.
type member struct {
	name  string
	value any
}

// members gives the message in the platform's shape, without Extra.
func (m Message) members() []member {
	all := append(make([]member, 0, 10), member{"messaging_product", "whatsapp"}, member{"recipient_type", RecipientIndividual})
	if m.RecipientType != "" {
		all[1].value = m.RecipientType
	}
	add := func(name, value string) {
		if value != "" {
			all = append(all, member{name, value})
		}
	}
	add("to", m.To)
	add("recipient", m.Recipient)
	if m.ReplyTo != "" {
		all = append(all, member{"context", replyContext{m.ReplyTo}})
	}
	if !wire.IsNil(m.Content) {
		add("type", m.Content.kind())
		if value := m.Content.content(); value != nil {
			all = append(all, member{m.Content.kind(), value})
		}
	}
	add("biz_opaque_callback_data", m.CallbackData)
	add("product_policy", m.Marketing.ProductPolicy)
	if m.Marketing.ActivitySharing != nil {
		all = append(all, member{"message_activity_sharing", *m.Marketing.ActivitySharing})
	}
	return all
}

// envelopeKeys gives the keys that every message can have, whatever its type.
func envelopeKeys() []string {
	return []string{
		"messaging_product", "recipient_type", "to", "recipient", "context", "type", "biz_opaque_callback_data", "product_policy",
		"message_activity_sharing",
	}
}

type replyContext struct {
	MessageID string `json:"message_id,omitzero"`
}

func (m Message) delivery() wire.Delivery {
	d := wire.NewDelivery(m.TTL, m.CallbackURL, m.ReferenceID)
	if m.Fallback != nil {
		d = d.WithFallback(m.Fallback.From, m.Fallback.Text)
	}
	return d
}

// call describes the request that sends the message.
func (m Message) call() wire.Call {
	call := wire.Call{
		Op: wire.ChatApp2Send, Body: &body{m.delivery()}, Extra: m.Extra, TTL: m.TTL, Reference: m.ReferenceID, Problems: m.validate(),
	}
	var err error
	if call.Message, err = encodeMembers(m.members()); err != nil {
		call.Message = []byte("{}")
		if !slices.ContainsFunc(call.Problems, func(p wire.Problem) bool { return strings.HasPrefix(p.Field, "Content") }) {
			call.Problems = append(call.Problems, wire.Problem{Field: "Content", Reason: fmt.Sprintf("cannot be encoded as JSON: %T", err)})
		}
	}
	return call
}

// validate finds everything that is wrong with the message, so that a caller mends it in one go.
func (m Message) validate() []wire.Problem {
	c := new(checks)
	m.checkRecipient(c)
	kind := ""
	if wire.IsNil(m.Content) {
		c.found("Content", "required, but nil; the overview of package chatapp2 lists its types")
	} else {
		kind = strings.ToLower(m.Content.kind())
		m.Content.check(c, "Content")
	}
	if kind == typePin && m.RecipientType != RecipientGroup {
		c.found("RecipientType", `must be "group" for a Pin`)
	}
	if kind == typeReaction && m.ReplyTo != "" {
		c.found("ReplyTo", "must be empty for a Reaction, which names its message itself")
	}
	if (m.Marketing != Marketing{}) {
		if kind != typeTemplate && kind != "" {
			c.found("Marketing", "goes with a Template only")
		}
		if m.RecipientType == RecipientGroup {
			c.found("Marketing", "goes to an individual only")
		}
	}
	if m.Fallback != nil && m.RecipientType == RecipientGroup {
		c.found("Fallback", "must be nil for a group, which has no number to send an SMS to")
	}
	c.id("ReplyTo", m.ReplyTo)
	c.text("CallbackData", m.CallbackData, 512)
	switch m.Marketing.ProductPolicy {
	case "", "CLOUD_API_FALLBACK", "STRICT":
	default:
		c.limit("Marketing.ProductPolicy", `want "CLOUD_API_FALLBACK" or "STRICT"`)
		c.found("Marketing.ProductPolicy", wire.CheckUTF8(m.Marketing.ProductPolicy))
	}
	c.problems = append(c.problems, m.delivery().Check()...)
	if len(m.Extra) == 0 {
		return c.problems
	}
	for _, name := range slices.Sorted(maps.Keys(m.Extra)) {
		switch {
		case name == "context" && m.ReplyTo == "": // may hold more than ReplyTo
			if kind == typeReaction {
				c.found(`Extra["context"]`, "must be absent for a Reaction, which names its message itself")
			}
			if membersOf(decodeValue(m.Extra[name])).word("message_id") == "" {
				c.found(`Extra["context"]`, "its message_id is required, but absent")
			}
		case slices.Contains(envelopeKeys(), name) || !wire.IsNil(m.Content) && name == m.Content.kind():
			c.found("Extra["+strconv.Quote(name)+"]", "is a key of the message itself; set its field instead")
		case slices.Contains(contentKeys(), name):
			c.found("Extra["+strconv.Quote(name)+"]", "is the content of another type of message; one message has one content")
		}
	}
	return c.problems
}

func (m Message) checkRecipient(c *checks) {
	switch m.RecipientType {
	case "", RecipientIndividual, RecipientGroup:
	default:
		c.limit("RecipientType", `want "individual" or "group"`)
		c.found("RecipientType", wire.CheckUTF8(m.RecipientType))
	}
	group := m.RecipientType == RecipientGroup
	switch {
	case m.To == "" && m.Recipient == "":
		c.found("To", "required, but absent; want a number, or a Recipient in its place")
	case m.To != "" && m.Recipient != "":
		c.found("Recipient", "must be empty where To is set: one message goes to one recipient")
	case group && m.Recipient != "":
		c.found("Recipient", "must be empty for a group, whose ID goes into To")
	case group && strings.TrimSpace(m.To) == "":
		c.found("To", "the ID of a group is required, got white space only")
	case group:
		c.found("To", wire.CheckUTF8(m.To))
	case m.To != "":
		c.found("To", wire.CheckRecipient(m.To))
	case !isUserID(m.Recipient):
		c.limit("Recipient", "want two letters, a dot, and at most 128 letters and digits")
		c.found("Recipient", wire.CheckUTF8(m.Recipient))
	}
}

// isUserID tells of a business-scoped user ID, or one of a parent business: "US.1349" or "US.ENT.1349".
func isUserID(id string) bool {
	country, rest, _ := strings.Cut(id, ".")
	number, isParent := strings.CutPrefix(rest, "ENT.")
	switch {
	case len(country) != 2 || strings.Trim(country, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "":
		return false
	case isParent:
		return number != "" && strings.Trim(number, "0123456789") == ""
	default:
		return isAlphanumeric(rest) && len(rest) <= 128
	}
}

func isAlphanumeric(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// Format prints which fields are set and how long they are, in every verb; never a number, a text or a query.
func (m Message) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "chatapp2.Message{"+m.measures()+"}")
}

// LogValue logs what Format prints.
func (m Message) LogValue() slog.Value {
	return slog.StringValue("chatapp2.Message{" + m.measures() + "}")
}

func (m Message) measures() string {
	var set []string
	for _, field := range []struct{ name, value string }{
		{"To", m.To},
		{"Recipient", m.Recipient},
		{"ReplyTo", m.ReplyTo},
		{"CallbackData", m.CallbackData},
		{"CallbackURL", m.CallbackURL},
		{"ReferenceID", m.ReferenceID},
	} {
		if field.value != "" {
			set = append(set, fmt.Sprintf("%s: %d characters", field.name, utf8.RuneCountInString(field.value)))
		}
	}
	if !wire.IsNil(m.Content) {
		set = append(set, fmt.Sprintf("Content: %T", m.Content))
	}
	if m.TTL != 0 {
		set = append(set, "TTL: "+m.TTL.String())
	}
	if m.Fallback != nil {
		set = append(set, fmt.Sprintf("Fallback: %v", *m.Fallback))
	}
	if len(m.Extra) > 0 {
		set = append(set, fmt.Sprintf("Extra: %d fields", len(m.Extra)))
	}
	return strings.Join(set, ", ")
}
