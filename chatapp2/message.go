package chatapp2

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/shape"
	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

// Message is one message to one recipient over chat app 2. Content and one of To and Recipient are required. An optional field
// with its zero value is not sent.
//
// A Message is plain data: sending never changes it, and many goroutines may send the same one.
type Message struct {
	// To is who gets the message: one person. It takes the From of an inbound message, whatever it is:
	//
	//   - a mobile number of 5 to 15 digits with an optional leading "+", sent as given. Spaces, hyphens and parentheses, which
	//     the platform takes, exceed a limit.
	//   - the ID of a user whose number is not known, such as "US.13491208655302741918", or "US.ENT.…" at a parent business. It is sent
	//     as the Recipient. The platform does not take it for authentication templates with one-tap, zero-tap or copy-code buttons.
	To string
	// Recipient is the ID of a user, for a message that names the number in To as well. The platform then uses the number.
	Recipient string
	// Content is one of the types that the package documentation lists. Required.
	Content Content
	// ReplyTo is the platform's ID of an earlier message, such as "wamid.HBg...", that this one quotes. A Reaction takes none.
	ReplyTo string
	// CallbackData comes back in the platform's status reports, at most 512 characters. The service may not pass these on.
	CallbackData string
	// Marketing says that the message is marketing. It is not sent: a guard sees it, so that who stopped marketing gets none.
	Marketing bool
	// MarketingOptions says how a marketing template is treated, and that the message is one. The zero value leaves it to the platform.
	MarketingOptions MarketingOptions
	// Fallback is the SMS that the service sends if delivery over chat app 2 fails or the TTL passes; nil is none. The recipient may get
	// both, and both may be charged: the specification does not say.
	Fallback *sms.Fallback
	// TTL is how long the service tries before the Fallback applies: a whole number of the contract's unit, by default seconds. 0 leaves
	// it to the service. The platform has lifetimes from 30 seconds to 30 days, by the category of a template.
	TTL time.Duration
	// CallbackURL is where the service reports delivery: an absolute http or https URL. It may hold placeholders such as %s
	// anywhere after the host, and is passed on byte for byte.
	CallbackURL string
	// ReferenceID is the caller's own name for the message. It comes back in the Receipt, on errors and in delivery reports.
	ReferenceID string
	// Extra holds further members of the message by name, such as optimization_spec, category or recipient_identity_key_hash. A value is
	// anything that encoding/json encodes. A name that the message or the contract uses is rejected.
	Extra map[string]any
}

// MarketingOptions says how the platform's interface for marketing messages treats a Template. Other content takes none.
type MarketingOptions struct {
	// ProductPolicy is PolicyFallback or PolicyStrict. Empty is the platform's default, PolicyFallback.
	ProductPolicy ProductPolicy
	// ActivitySharing says whether the platform may use what recipients do with the message. Nil is the account's setting.
	ActivitySharing *bool
}

// ProductPolicy says what happens if the platform's interface for marketing messages cannot be used.
type ProductPolicy string

// The product policies.
const (
	PolicyFallback ProductPolicy = "CLOUD_API_FALLBACK" // the message goes over the cloud platform
	PolicyStrict   ProductPolicy = "STRICT"             // the message is not sent
)

// recipient returns who gets the message as the platform's members say it: to and recipient.
func (m Message) recipient() (to, user string) {
	if m.Recipient == "" && isUserID(m.To) {
		return "", m.To
	}
	return m.To, m.Recipient
}

// isUserID reports whether id is a business-scoped user ID, such as "US.1349", or one of a parent business: "US.ENT.1349".
func isUserID(id string) bool {
	const upper, lower, digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", "0123456789"
	country, rest, _ := strings.Cut(id, ".")
	allowed := upper + lower + digits
	if number, isParent := strings.CutPrefix(rest, "ENT."); isParent {
		rest, allowed = number, digits
	}
	isCountry := len(country) == 2 && strings.Trim(country, upper) == ""
	return isCountry && rest != "" && len(rest) <= 128 && strings.Trim(rest, allowed) == ""
}

// LogValue logs the reference ID, the type of the content and the TTL. It leaves out recipient and content.
func (m Message) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("reference_id", m.ReferenceID),
		slog.String("content", fmt.Sprintf("%T", m.Content)),
		slog.Duration("ttl", m.TTL),
	)
}

// Members yields the members of the message in the platform's shape, in the order in which they are sent, without those of Extra. The error
// lists what is wrong with the message, apart from TTL, Fallback, CallbackURL and ReferenceID. Send and Validate report all of it.
func (m Message) Members() (iter.Seq2[string, json.RawMessage], error) {
	e := m.encode()
	problems := m.validate().Checks
	if e.Err != nil && !slices.ContainsFunc(problems, isNoLimit) {
		problems.Found("Content", e.Err.Error())
	}
	members := func(yield func(string, json.RawMessage) bool) {
		for _, member := range e.members {
			if !yield(member.Name, member.Value) {
				return
			}
		}
	}
	if len(problems) > 0 {
		return members, problems
	}
	return members, nil
}

func isNoLimit(p wire.Problem) bool { return !p.Limit }

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
	w.optional("product_policy", string(m.MarketingOptions.ProductPolicy))
	if m.MarketingOptions.ActivitySharing != nil {
		w.add("message_activity_sharing", *m.MarketingOptions.ActivitySharing)
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
