package chatapp2

import (
	"encoding/json"
	"errors"
	"fmt"
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
// A Message is plain data. Sending never changes it, and many goroutines may send the same one.
type Message struct {
	// To is the recipient: a phone number or a user ID, for example the From of an inbound message.
	//
	//   - A phone number has 5 to 15 digits with an optional leading "+", and is sent as given. The platform accepts spaces, hyphens and
	//     parentheses too; here they are rejected unless messaging.WithLenientLimits is set.
	//   - A user ID identifies a user whose number is not known, such as "US.13491208655302741918", or "US.ENT.…" at a parent business.
	//     It is sent as the Recipient. The platform does not accept it for authentication templates with one-tap, zero-tap or copy-code
	//     buttons.
	To string
	// Recipient is a user ID, for a message that has a phone number in To as well. The platform then uses the phone number.
	Recipient string
	// Content is one of the types that the package documentation lists. Required.
	Content Content
	// ReplyTo is the platform's ID of an earlier message that this one quotes, such as "wamid.HBg...". It must be empty for a Reaction.
	ReplyTo string
	// CallbackData comes back in the platform's status reports, at most 512 characters. The service may not pass these on.
	CallbackData string
	// Marketing marks a marketing message. It is not sent; guards use it to skip recipients who opted out.
	Marketing bool
	// MarketingOptions configures a marketing template. Setting it implies Marketing. The zero value leaves the options to the platform.
	MarketingOptions MarketingOptions
	// Fallback is the SMS that the service sends if delivery over chat app 2 fails or the TTL passes. If it is nil, no SMS is sent. The
	// specification does not say whether the recipient can get, and be charged for, both.
	Fallback *sms.Fallback
	// TTL is how long the service tries to deliver before it sends the Fallback: a whole number of the contract's unit, by default
	// seconds. With 0 the service decides. The platform allows 30 seconds to 30 days, depending on the category of a template.
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

// MarketingOptions configures the platform's interface for marketing messages. It must be zero unless the content is a Template.
type MarketingOptions struct {
	// ProductPolicy is PolicyFallback or PolicyStrict. If it is empty, the platform uses PolicyFallback.
	ProductPolicy ProductPolicy `at:"product_policy,oneof=CLOUD_API_FALLBACK|STRICT"`
	// ActivitySharing says whether the platform may use what recipients do with the message. Nil keeps the account's setting.
	ActivitySharing *bool `at:"message_activity_sharing"`
}

// ProductPolicy says what happens if the platform's interface for marketing messages cannot be used.
type ProductPolicy string

// The product policies.
const (
	PolicyFallback ProductPolicy = "CLOUD_API_FALLBACK" // the message goes over the cloud platform
	PolicyStrict   ProductPolicy = "STRICT"             // the message is not sent
)

// recipient returns the platform's members "to", a phone number, and "recipient", a user ID.
func (m Message) recipient() (to, user string) {
	if m.Recipient == "" && isUserID(m.To) {
		return "", m.To
	}
	return m.To, m.Recipient
}

const (
	digits  = "0123456789"
	capital = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	letters = capital + "abcdefghijklmnopqrstuvwxyz"
)

// isUserID reports whether id is the ID that a business knows a user by, such as "US.1349", or that of a parent business, "US.ENT.1349".
func isUserID(id string) bool {
	country, rest, _ := strings.Cut(id, ".")
	if len(country) != 2 || !consistsOf(country, capital) {
		return false
	}
	if number, isParent := strings.CutPrefix(rest, "ENT."); isParent {
		return isUserNumber(number, digits)
	}
	return isUserNumber(rest, letters+digits)
}

func isUserNumber(s, allowed string) bool {
	return s != "" && len(s) <= 128 && consistsOf(s, allowed)
}

// consistsOf reports whether all characters of s are among those allowed.
func consistsOf(s, allowed string) bool { return strings.Trim(s, allowed) == "" }

// LogValue logs the reference ID, the type of the content and the TTL. It leaves out recipient and content.
func (m Message) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("reference_id", m.ReferenceID),
		slog.String("content", fmt.Sprintf("%T", m.Content)),
		slog.Duration("ttl", m.TTL),
	)
}

// Member is a member of a message in the platform's format. Message.Members returns them.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Members returns the members of the message in the platform's format, in the order in which they are sent, without those of Extra. Use them to
// see or test what is sent; they hold the recipient and the content. The error lists what is wrong with the message, apart from TTL, Fallback,
// CallbackURL and ReferenceID. Send and Validate report all of it.
func (m Message) Members() ([]Member, error) {
	e := m.encode()
	problems := m.validate().Checks
	if e.Err != nil && !slices.ContainsFunc(problems, isNoLimit) {
		problems.Add("Content", e.Err.Error())
	}
	return e.members, problems.Err()
}

func isNoLimit(p wire.Problem) bool { return !p.Limit }

// envelopeNames returns the names of the members that a message can have with any content.
func envelopeNames() []string {
	return []string{
		"messaging_product", "recipient_type", "to", "recipient", "type", "context", "biz_opaque_callback_data", "product_policy",
		"message_activity_sharing",
	}
}

// individual is the recipient type of a message to one person.
const individual = "individual"

type replyContext struct {
	MessageID string `json:"message_id" at:"message_id!"`
}

// encode encodes the message in the platform's format, without Extra.
func (m Message) encode() *memberWriter {
	w := &memberWriter{Writer: allShapes().NewWriter(make([]byte, 0, 256)), members: make([]Member, 0, 6)}
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

// memberWriter collects the members of a message, encoded.
type memberWriter struct {
	shape.Writer

	members []Member
}

func (w *memberWriter) content(content Content) {
	raw, isRaw := content.(Raw)
	switch {
	case isRaw:
		w.optional("type", raw.Type)
		w.add(raw.Type, raw.JSON)
	case isValue(content):
		w.optional("type", content.kind())
		w.add(content.kind(), content)
	case content != nil:
		w.Err = errors.New("a part of it " + wire.WrongType(content))
	}
}

// optional adds a member unless the text is empty.
func (w *memberWriter) optional(name, text string) {
	if text != "" {
		start := len(w.Out)
		w.Text(text)
		w.addSince(start, name)
	}
}

func (w *memberWriter) add(name string, value any) {
	start := len(w.Out)
	w.Value(value)
	w.addSince(start, name)
}

// addSince adds a member whose value is what was written since start. The value stays valid if Out moves as it grows.
func (w *memberWriter) addSince(start int, name string) {
	w.members = append(w.members, Member{Name: name, Value: w.Out[start:len(w.Out):len(w.Out)]})
}
