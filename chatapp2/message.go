package chatapp2

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

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
	// Marketing says how a marketing template is treated. The zero value leaves it to the platform.
	Marketing Marketing
	// Fallback is the SMS that the service sends if delivery over chat app 2 fails or the TTL passes; nil is none. The
	// specification does not say in which cases it applies, nor that the message is then withdrawn: the recipient may get both,
	// and both may be charged.
	Fallback *sms.Fallback
	// TTL is how long the service tries before the Fallback applies: a whole number of the contract's unit, by default seconds. 0 leaves
	// it to the service. The platform has lifetimes from 30 seconds to 30 days, by the category of a template.
	TTL time.Duration
	// CallbackURL is where the service reports delivery: an absolute http or https URL. It may hold placeholders such as %s
	// anywhere after the host, and is passed on byte for byte.
	CallbackURL string
	// ReferenceID is the caller's own name for the message, such as an order number. It comes back in the Receipt, on errors
	// and in delivery reports, which are the only way to settle an unknown outcome.
	ReferenceID string
	// Extra holds further members of the message by name, such as bid_spec, category or recipient_identity_key_hash. A value is
	// anything that encoding/json encodes. A name that the message or the contract uses is rejected.
	Extra map[string]any
}

// Marketing says how the platform's interface for marketing messages treats a Template. Other content takes none.
type Marketing struct {
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
	const upper, digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	country, rest, _ := strings.Cut(id, ".")
	number, isParent := strings.CutPrefix(rest, "ENT.")
	switch {
	case len(country) != 2 || strings.Trim(country, upper) != "":
		return false
	case isParent:
		return number != "" && strings.Trim(number, digits) == ""
	default:
		return rest != "" && len(rest) <= 128 && strings.Trim(rest, upper+strings.ToLower(upper)+digits) == ""
	}
}

// LogValue logs the reference ID, the type of the content and the TTL. It leaves out recipient and content.
func (m Message) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("reference_id", m.ReferenceID),
		slog.String("content", fmt.Sprintf("%T", m.Content)),
		slog.Duration("ttl", m.TTL),
	)
}
