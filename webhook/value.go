package webhook

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/contract"
)

// isBlank tells whether a value is empty or white space alone.
func isBlank(value string) bool {
	return value == "" || (value[0] <= ' ' || value[0] >= utf8.RuneSelf) && strings.TrimSpace(value) == ""
}

// number reads a phone number, or another name of a sender or recipient. A + that was not escaped came as a space: in
// front of a number it is restored. Other white space around it goes.
func number(value string) string {
	if value == "" || value[0] > ' ' && value[0] < utf8.RuneSelf && value[len(value)-1] > ' ' && value[len(value)-1] < utf8.RuneSelf {
		return value // nearly always
	}
	trimmed := strings.TrimSpace(value)
	if value[0] != ' ' || !isNumber(trimmed) {
		return trimmed
	}
	return "+" + trimmed
}

// isNumber tells whether text begins with a digit and holds nothing but digits and what people write between them.
func isNumber(text string) bool {
	for i := range len(text) {
		c := text[i]
		if (c < '0' || c > '9') && (i == 0 || strings.IndexByte(" -.()/", c) < 0) {
			return false
		}
	}
	return text != ""
}

// longestTime bounds, in bytes, what may be a time: package time copies what it cannot read.
const longestTime = 64

// moment reads a time. A + that was not escaped came as a space: in front of an offset it is restored. What cannot be read is
// the zero time; the text of it is in the parameters.
func moment(value string, zone *time.Location) time.Time {
	if len(value) > longestTime {
		return time.Time{}
	}
	if at, ok := contract.ParseTime(value, zone); ok {
		return at
	}
	value = strings.TrimSpace(value)
	if i := strings.LastIndexByte(value, ' '); i > 0 {
		at, _ := contract.ParseTime(value[:i]+"+"+value[i+1:], zone)
		return at
	}
	return time.Time{}
}
