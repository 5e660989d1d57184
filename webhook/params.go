package webhook

import (
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
)

// Param is one decoded parameter of a callback. Both Name and Value may hold what a person wrote: in a text that was not escaped, an & begins
// another parameter.
type Param struct {
	Name  string `json:"name,omitzero"`
	Value string `json:"value,omitzero"`
}

// Params are the parameters of a callback in the order of their arrival, those of the query before those of a body, with
// every repetition and without secrets. Names and values are valid UTF-8.
//
// If an envelope of the platform brings several events, a parameter that holds their JSON has the value sha256:… in each event, the hash of the
// JSON: the Params of an event do not hold the numbers and texts of others. RawQuery is as it arrived.
type Params []Param

// Get returns the value of the first parameter of that name, or "". Names are case-sensitive.
func (p Params) Get(name string) string {
	for i := range p {
		if p[i].Name == name {
			return p[i].Value
		}
	}
	return ""
}

// All returns the values of all parameters of that name, in the order of their arrival.
func (p Params) All(name string) []string {
	var values []string
	for i := range p {
		if p[i].Name == name {
			values = append(values, p[i].Value)
		}
	}
	return values
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// isName reports whether a value names a message or a person. A placeholder does not, and neither does a text with a zero byte.
func isName(value string) bool { return !table.IsPlaceholder(value) && !hasZeroByte(value) }

// hasZeroByte reports whether a text has a zero byte. No genuine ID, number or status has one, and PostgreSQL cannot store it: a function that
// stores the event would fail each time that the service calls again.
func hasZeroByte(text string) bool { return strings.IndexByte(text, 0) >= 0 }

// number reads a phone number, which may be a tel URL, or another name of a sender or recipient. A + that was not escaped arrives as a
// space, and is restored in front of a number. Other white space around the number is removed.
func number(value string) string {
	mayBeTel := len(value) <= maxNumber
	if mayBeTel && table.IsTel(value) { // tel:+63…, whose + may have become a space
		value = table.Number(strings.Replace(strings.TrimSpace(value), ": ", ":+", 1))
	}
	trimmed := strings.TrimSpace(value)
	if strings.HasPrefix(value, " ") && looksLikePhoneNumber(trimmed) {
		return "+" + trimmed
	}
	return trimmed
}

// maxNumber is the most bytes of a phone number, also in a tel URL with its parameters.
const maxNumber = 256

// looksLikePhoneNumber reports whether text begins with a digit and holds only digits and what people write between them. The length is limited
// because one text may be compared with those of a thousand events.
func looksLikePhoneNumber(text string) bool {
	if text == "" || len(text) > maxNumber {
		return false
	}
	return text[0] >= '0' && text[0] <= '9' && strings.Trim(text, "0123456789 -.()/") == ""
}

func digits(text string) string {
	isOther := func(r rune) bool { return r < '0' || r > '9' }
	return strings.Join(strings.FieldsFunc(text, isOther), "")
}

func (c *callback) moment(value string) time.Time { return moment(value, c.zone, c.layouts...) }

// moment reads a time. A + that was not escaped arrives as a space: in front of an offset it is restored. It returns the zero time
// for unparsable text and for years that RFC 3339 cannot represent.
func moment(value string, zone *time.Location, layouts ...string) time.Time {
	const longest = 64 // bytes
	if len(value) > longest {
		return time.Time{}
	}
	at, ok := table.ParseTime(value, zone, layouts...)
	if !ok {
		value = strings.TrimSpace(value)
		if i := strings.LastIndexByte(value, ' '); i > 0 {
			at, _ = table.ParseTime(value[:i]+"+"+value[i+1:], zone, layouts...)
		}
	}
	return storable(at)
}

// storable returns a time in a form that RFC 3339 can write without loss: in UTC if its zone cannot be written, and the zero time for years
// that cannot be written.
func storable(at time.Time) time.Time {
	utc := at.UTC()
	if at.IsZero() || utc.Year() < 1 || utc.Year() > 9999 {
		return time.Time{}
	}
	_, offset := at.Zone()
	if offset == 0 {
		return at
	}
	hasWholeMinutes := offset%60 == 0
	if _, err := at.MarshalText(); err != nil || !hasWholeMinutes {
		return utc
	}
	return at
}
