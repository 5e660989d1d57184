package wire

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Checks collects the problems of a message.
type Checks []Problem

// Err returns the problems as a ProblemsError, or nil if there are none.
func (c Checks) Err() error {
	if len(c) == 0 {
		return nil
	}
	return ProblemsError(c)
}

// ProblemsError is an error that lists the problems of a message.
type ProblemsError []Problem

func (e ProblemsError) Error() string {
	texts := make([]string, len(e))
	for i, p := range e {
		texts[i] = p.Field + ": " + p.Reason
	}
	return strings.Join(texts, "; ")
}

// Add adds a problem, unless the reason is empty.
func (c *Checks) Add(field, reason string) {
	if reason != "" {
		*c = append(*c, Problem{Field: field, Reason: reason})
	}
}

// Limit adds a problem with a documented limit, unless the reason is empty.
func (c *Checks) Limit(field, reason string) {
	if reason != "" {
		*c = append(*c, Problem{Field: field, Reason: reason, Limit: true})
	}
}

// CheckRecipient returns what is wrong with a recipient, or "". A recipient is 5 to 15 digits with an optional leading "+"
// and nothing more, so that no form of two numbers passes.
func CheckRecipient(number string) string {
	const allowed = "want 5 to 15 digits with an optional leading +, "
	digits := strings.TrimPrefix(number, "+")
	for _, r := range digits {
		if r < '0' || r > '9' {
			return allowed + "got " + kind(r)
		}
	}
	if len(digits) < 5 || len(digits) > 15 {
		return fmt.Sprintf("%sgot %d digits", allowed, len(digits))
	}
	return ""
}

// CheckNotBlank returns what is wrong with a text of white space only, or "". An empty one is absent.
func CheckNotBlank(text string) string {
	if text != "" && strings.TrimSpace(text) == "" {
		return "must not be white space only"
	}
	return ""
}

// CheckSender returns what is wrong with the sender ID of an SMS, or "". An empty one is absent.
func CheckSender(id string) string {
	if reason := CheckNotBlank(id); reason != "" {
		return reason
	}
	if strings.TrimSpace(id) != id {
		return "must not begin or end with white space, such as a line feed from a file"
	}
	isControl := func(r rune) bool { return r != 0 && unicode.IsControl(r) } // CheckText is about zero bytes
	if strings.ContainsFunc(id, isControl) {
		return "must not have a control character"
	}
	return ""
}

// WrongType returns why a value that compiles as one of a sealed interface cannot be sent: it is a pointer, or a struct of the caller that
// embeds a type of the library and so has its methods.
func WrongType(value any) string {
	name := fmt.Sprintf("%T", value)
	if value, isPointer := strings.CutPrefix(name, "*"); isPointer {
		return "must be a value, not a pointer: " + value + "{…}, not &" + value + "{…}"
	}
	return "must be a type of this library, not " + name + ", which embeds one"
}

// CheckTime returns what is wrong with a time, or "". The forms in which times are sent have four digits for the year.
func CheckTime(at time.Time) string {
	if year := at.UTC().Year(); year < 1 || year > 9999 {
		return "must be in the years 1 to 9999"
	}
	return ""
}

// CheckRange returns what is wrong with a number or a duration outside of least to most, or "". Zero is absent, and a most of zero sets
// no upper bound.
func CheckRange[N int | int64 | time.Duration](n, least, most N) string {
	switch {
	case n == 0 || n >= least && (most == 0 || n <= most):
		return ""
	case most == 0:
		return fmt.Sprintf("want %v or more, got %v", least, n)
	default:
		return fmt.Sprintf("want %v to %v, got %v", least, most, n)
	}
}

// zeroByte is what is wrong with a text that has a zero byte.
const zeroByte = "must not have a zero byte, which databases cannot store"

// CheckText returns what is wrong with a text that is not valid UTF-8 or has a zero byte, or "". Encoding/json would replace invalid bytes,
// and the recipient would read another text.
func CheckText(text string) string {
	if !utf8.ValidString(text) {
		return "must be valid UTF-8, and is not at byte " + strconv.Itoa(firstInvalid(text))
	}
	if strings.IndexByte(text, 0) >= 0 {
		return zeroByte
	}
	return ""
}

// firstInvalid returns where a text begins not to be UTF-8.
func firstInvalid(text string) int {
	for at, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[at:], string(utf8.RuneError)) {
			return at
		}
	}
	return len(text)
}

// CheckJSON returns what is wrong with JSON that has a zero byte in a text, or "".
func CheckJSON(raw []byte) string {
	if hasEscape(raw, `\u0000`) {
		return zeroByte
	}
	return ""
}

func kind(r rune) string {
	switch r {
	case ',', ';', '|', '/':
		return "a separator: one message goes to one recipient"
	case ' ', '\t', '\n', '\r':
		return "white space"
	case '-', '.', '(', ')', '+':
		return "punctuation"
	default:
		return "a character that is not a digit"
	}
}

// CheckCallbackURL returns what is wrong with a callback URL, or "". An empty one is absent.
//
// A callback URL is a template: after the host it may hold placeholders such as %s or %tr, which are not percent-escapes, so
// net/url cannot parse it. Only the scheme and the host are checked, and that nothing breaks a line or the URL.
func CheckCallbackURL(callback string) string {
	const allowed = "want an absolute URL that begins with http:// or https:// and a host"
	scheme, rest, isAbsolute := strings.Cut(callback, "://")
	isWeb := strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")
	switch {
	case callback == "":
		return ""
	case !isAbsolute || !isWeb:
		return allowed
	case !utf8.ValidString(callback):
		return "must be valid UTF-8"
	case strings.ContainsFunc(callback, isSpaceOrControl):
		return "must not hold white space or control characters"
	}
	authority := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority = rest[:end]
	}
	name, port, ok := splitAuthority(authority)
	switch {
	case !ok || !isHostName(name):
		return allowed
	case port != "" && !isPort(port):
		return "the port must be a number up to 65535"
	default:
		return ""
	}
}

func isSpaceOrControl(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// splitAuthority returns the name and the port of the host in the authority of a URL, such as "user@name:80" or "[::1]:80".
func splitAuthority(authority string) (name, port string, ok bool) {
	if strings.Contains(authority, `\`) {
		return "", "", false
	}
	host := authority[strings.LastIndexByte(authority, '@')+1:]
	if !strings.HasPrefix(host, "[") {
		name, port, _ = strings.Cut(host, ":")
		return name, port, true
	}
	address, after, isClosed := strings.Cut(host[1:], "]")
	ip, err := netip.ParseAddr(address)
	hasOtherText := after != "" && after[0] != ':'
	if !isClosed || err != nil || !ip.Is6() || hasOtherText {
		return "", "", false
	}
	return ip.String(), strings.TrimPrefix(after, ":"), true
}

func isHostName(name string) bool {
	return strings.Trim(name, ".") != "" && !strings.ContainsAny(name, "[]%\\\"<>^{}|`")
}

func isPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}

// CheckURL returns what is wrong with the URL of a medium or a link, or "". An empty one is absent.
func CheckURL(address string) string {
	if reason := CheckCallbackURL(address); reason != "" {
		return reason
	}
	if _, err := url.Parse(address); err != nil {
		return "must be a URL, and a % in it must begin an escape such as %20"
	}
	return ""
}
