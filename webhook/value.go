package webhook

import (
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
)

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// number reads a phone number, or another name of a sender or recipient. A + that was not escaped arrives as a space: in
// front of a number it is restored. Other white space around it is removed.
func number(value string) string {
	trimmed := strings.TrimSpace(value)
	if strings.HasPrefix(value, " ") && looksLikePhoneNumber(trimmed) {
		return "+" + trimmed
	}
	return trimmed
}

// looksLikePhoneNumber reports whether text begins with a digit and holds only digits and what people write between them.
func looksLikePhoneNumber(text string) bool {
	return text != "" && text[0] >= '0' && text[0] <= '9' && strings.Trim(text, "0123456789 -.()/") == ""
}

// digits returns the digits of a text.
func digits(text string) string {
	isOther := func(r rune) bool { return r < '0' || r > '9' }
	return strings.Join(strings.FieldsFunc(text, isOther), "")
}

// longestTime bounds, in bytes, what may be a time.
const longestTime = 64

// moment reads a time of the callback. A text that cannot be read is the zero time.
func (q *request) moment(value string) time.Time {
	return moment(value, q.callback.zone, q.callback.layouts...)
}

// moment reads a time. A + that was not escaped arrives as a space: in front of an offset it is restored. A text that cannot
// be read is the zero time, and so is a year that RFC 3339 cannot write.
func moment(value string, zone *time.Location, layouts ...string) time.Time {
	if len(value) > longestTime {
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

// storable returns a time in a form that RFC 3339 can write, or the zero time if it has none.
func storable(at time.Time) time.Time {
	const firstSecond, lastSecond = -62135596800, 253402300799 // of the years 1 and 9999
	if at.IsZero() || at.Unix() < firstSecond || at.Unix() > lastSecond {
		return time.Time{}
	}
	if at.Location() == time.UTC {
		return at
	}
	if _, offset := at.Zone(); offset%60 != 0 || max(offset, -offset) >= 24*60*60 || at.Year() < 1 || at.Year() > 9999 {
		return at.UTC()
	}
	return at
}
