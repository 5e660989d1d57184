package chatapp2

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/messaging-service/messaging-go/internal/shape"
)

// Content is the content of a message. It is one of Text, Image, Video, Audio, Document, Sticker, Location, Contacts, Reaction,
// Interactive, Template and Raw. Pass values, not pointers.
//
//sumtype:decl
type Content interface {
	// kind returns the type of the message, which is also the name of the member that holds the content.
	kind() string
}

// contents returns a zero value of each known type of content.
func contents() []Content {
	return []Content{
		Text{}, Image{}, Video{}, Audio{}, Document{}, Sticker{}, Location{}, Contacts{}, Reaction{}, Interactive{}, Template{},
	}
}

func (Text) kind() string        { return "text" }
func (Image) kind() string       { return "image" }
func (Video) kind() string       { return "video" }
func (Audio) kind() string       { return "audio" }
func (Document) kind() string    { return "document" }
func (Sticker) kind() string     { return "sticker" }
func (Location) kind() string    { return "location" }
func (Contacts) kind() string    { return "contacts" }
func (Reaction) kind() string    { return "reaction" }
func (Interactive) kind() string { return "interactive" }
func (Template) kind() string    { return "template" }
func (r Raw) kind() string       { return r.Type }

// Raw is content that no other type holds: of a new type, or with new members. Type is the type of the message. JSON is the member with
// that name, sent as it is.
type Raw struct {
	Type string          `at:"-,required"`
	JSON json.RawMessage `at:"-"`
}

func (r Raw) check(c *checks) {
	if slices.Contains(envelopeNames(), r.Type) {
		c.Add("Type", "must not be the name of a member that any message can have")
	}
	shape.CheckRaw[Content](c, r.JSON, func(value any) any { return contentOf(r.Type, value) })
}

// decodeContent returns the content of a message of this type: a value of a Go type that holds all of it, or Raw.
func decodeContent(kind string, value any) Content {
	if content, fit, _ := shape.Best[Content](allShapes(), contentOf(kind, value)); fit == shape.Exact {
		return content
	}
	return Raw{Type: kind, JSON: shape.RawOf(value)}
}

// contentOf returns an object that has the type of a message and its content, and nothing else.
func contentOf(kind string, value any) any {
	return map[string]any{"type": kind, strings.ToLower(kind): value}
}

// Text is a text message.
type Text struct {
	Body string `at:"body,required,max=4096"`
	// PreviewURL lets the platform show a preview of the first http or https URL in Body.
	PreviewURL bool `at:"preview_url"`
}

// Location shows a place on a map. It can also be a Parameter in the header of a template, where all four fields are required.
//
// As in the platform's examples, the coordinates are numbers in a message and strings in a template. Decoding accepts both.
type Location struct {
	// Latitude and Longitude are in degrees, -90 to 90 and -180 to 180. They are always sent: zero means the equator and the prime
	// meridian.
	Latitude  float64 `at:"latitude!,degrees=90"`
	Longitude float64 `at:"longitude!,degrees=180"`
	// Name and Address are shown below the map. Optional.
	Name    string `at:"name"`
	Address string `at:"address"`
}

// Contacts shows 1 to 257 contacts, which the recipient can save.
type Contacts []Contact

// Contact is a person or a company. Only Name is required. The field Type of an address, e-mail address, phone number or URL is any label,
// such as "HOME" or "WORK".
type Contact struct {
	Name      ContactName      `at:"name"`
	Addresses []ContactAddress `at:"addresses"`
	// Birthday is a date such as "2012-08-18".
	Birthday string         `at:"birthday,date"`
	Emails   []ContactEmail `at:"emails"`
	Org      ContactOrg     `at:"org"`
	Phones   []ContactPhone `at:"phones"`
	URLs     []ContactURL   `at:"urls"`
}

// ContactName is the name of a contact. The recipient sees FormattedName. At least one other field is required too.
type ContactName struct {
	FormattedName string `at:"formatted_name,required"`
	FirstName     string `at:"first_name"`
	LastName      string `at:"last_name"`
	MiddleName    string `at:"middle_name"`
	Suffix        string `at:"suffix"`
	Prefix        string `at:"prefix"`
}

// ContactAddress is a postal address. CountryCode is two letters, such as "us".
type ContactAddress struct {
	Street      string `at:"street"`
	City        string `at:"city"`
	State       string `at:"state"`
	Zip         string `at:"zip"`
	Country     string `at:"country"`
	CountryCode string `at:"country_code"`
	Type        string `at:"type"`
}

// ContactEmail is an e-mail address.
type ContactEmail struct {
	Email string `at:"email"`
	Type  string `at:"type"`
}

// ContactOrg is the organization that a contact works for.
type ContactOrg struct {
	Company    string `at:"company"`
	Department string `at:"department"`
	Title      string `at:"title"`
}

// ContactPhone is a phone number, in any form.
type ContactPhone struct {
	Phone string `at:"phone"`
	Type  string `at:"type"`
	// ID is the platform's ID of the contact. With an ID the recipient can message the contact; without one, invite them.
	ID string `at:"wa_id"`
}

// ContactURL is a web address.
type ContactURL struct {
	URL  string `at:"url"`
	Type string `at:"type"`
}

func (k Contacts) check(c *checks) {
	c.Count("", "contacts", len(k), 1, 257)
}

func (k ContactName) check(c *checks) {
	if (k == ContactName{FormattedName: k.FormattedName}) {
		c.Limit("", "want at least one field besides FormattedName")
	}
}

// Reaction puts an emoji on a message of the recipient, or removes it.
type Reaction struct {
	// MessageID is the platform's ID of that message, such as "wamid.HBg...". Required.
	MessageID string `at:"message_id,required"`
	// Emoji is one emoji. Empty removes the reaction.
	Emoji string `at:"emoji!"`
}

func (r Reaction) check(c *checks) {
	if r.Emoji != "" && !isEmoji(r.Emoji) {
		c.Limit("Emoji", "want one emoji, or none to remove the reaction")
	}
}

// isEmoji reports whether s is one emoji: a pictograph with its modifiers, a flag, a keycap, or several of them joined.
func isEmoji(s string) bool {
	const joiner, keycap = "\u200d", "\u20e3"
	isKeycap := strings.HasSuffix(s, keycap)
	for part := range strings.SplitSeq(s, joiner) {
		base := []rune(strings.TrimRightFunc(part, isEmojiModifier))
		switch len(base) {
		case 1:
			if isHalfFlag(base[0]) || !isPictograph(base[0]) && !isKeycap {
				return false
			}
		case 2:
			if !isHalfFlag(base[0]) || !isHalfFlag(base[1]) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// isHalfFlag reports whether r is a regional indicator. Two of them are a flag.
func isHalfFlag(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

func isEmojiModifier(r rune) bool {
	switch {
	case r == 0xfe0f, r == 0x20e3: // shown as an emoji, as a keycap
		return true
	case r >= 0x1f3fb && r <= 0x1f3ff: // skin tones
		return true
	case r >= 0xe0020 && r <= 0xe007f: // tags, as in the flag of Scotland
		return true
	default:
		return false
	}
}

func isPictograph(r rune) bool {
	switch r {
	case 0x203c, 0x2049, 0x2122, 0x2139, 0x3030, 0x303d:
		return true
	}
	isArrow := r >= 0x2190 && r <= 0x21ff
	isShape := r >= 0x25a0 && r <= 0x2bff
	isSymbol := r >= 0x1f000 && r <= 0x1faff
	return isArrow || isShape || isSymbol || unicode.Is(unicode.So, r)
}
