package messagingtest

import (
	"encoding/json"
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
)

// An object is a JSON object of a request whose members are checked one after the other. Objects of one request share the first
// problem. A member whose name is empty is a field that the contract does not have: it is not checked.
type object struct {
	path    string // in front of the names of members, such as "text."
	members document
	problem **problem
}

func newObject(members document) object {
	return object{members: members, problem: new(*problem)}
}

// first returns the first problem, or nil.
func (o object) first() *problem { return *o.problem }

// refuse records a problem with a member, unless there was one before.
func (o object) refuse(name, member, text string) {
	if *o.problem == nil {
		*o.problem = &problem{name, o.path + member + " " + text}
	}
}

func (o object) has(member string) bool {
	_, ok := o.members[member]
	return ok
}

// value returns a member, and reports whether it is there. An absent one is a problem.
func (o object) value(member string) (any, bool) {
	if member == "" {
		return nil, false
	}
	value, ok := o.members[member]
	if !ok {
		o.refuse("missing", member, "is absent")
	}
	return value, ok
}

// optional checks a member if it is there.
func (o object) optional(member string, check func(member string)) {
	if o.has(member) {
		check(member)
	}
}

// text checks that a member is a string, which may be empty.
func (o object) text(member string) {
	value, ok := o.value(member)
	if _, isText := value.(string); ok && !isText {
		o.refuse("kind", member, "is not a string")
	}
}

// filled checks that a member is a string and not empty, and returns it.
func (o object) filled(member string) string {
	o.text(member)
	text := textIn(o.members, member)
	if text == "" && o.has(member) {
		o.refuse("missing", member, "is empty")
	}
	return text
}

// filledText is like filled, for optional.
func (o object) filledText(member string) { _ = o.filled(member) }

// recipient checks that a member is a phone number.
func (o object) recipient(member string) {
	if text := o.filled(member); text != "" && !isMobileNumber(text) {
		o.refuse("recipient", member, "is not 5 to 15 digits with an optional +")
	}
}

// callback checks that a member is a URL with placeholders.
func (o object) callback(member string) {
	if text := o.filled(member); text != "" && !isURLTemplate(text) {
		o.refuse("callback", member, "is not an http or https URL")
	}
}

// link checks that a member is a URL.
func (o object) link(member string) {
	if text := o.filled(member); text != "" && !isURL(text) {
		o.refuse("url", member, "is not an absolute http or https URL")
	}
}

// number checks that a member is a number above zero.
func (o object) number(member string) {
	value, ok := o.value(member)
	if !ok {
		return
	}
	number, isNumber := value.(json.Number)
	n, err := number.Float64()
	switch {
	case !isNumber || err != nil:
		o.refuse("kind", member, "is not a number")
	case n <= 0:
		o.refuse("value", member, "is not above zero")
	}
}

// wholeNumber checks that a member is a whole number above zero.
func (o object) wholeNumber(member string) {
	o.number(member)
	number, _ := o.members[member].(json.Number)
	if _, err := strconv.ParseUint(number.String(), 10, 63); err != nil {
		o.refuse("value", member, "is not a whole number, or is too large")
	}
}

// texts checks that a member is an object that holds nothing but strings.
func (o object) texts(member string) {
	inner := o.object(member)
	for name := range inner.members {
		inner.text(name)
	}
}

// object returns a member that has to be an object.
func (o object) object(member string) object {
	value, ok := o.value(member)
	members, isObject := value.(document)
	if ok && !isObject {
		o.refuse("kind", member, "is not an object")
	}
	return object{path: o.path + member + ".", members: members, problem: o.problem}
}

// lifetimeOf returns zero for a value that is not a whole number of a unit of the contract: 60.0 and 6e1 are not.
func lifetimeOf(value any, unit string) time.Duration {
	of, _ := table.UnitOf(unit)
	number, _ := value.(json.Number)
	n, err := strconv.ParseUint(number.String(), 10, 63)
	if err != nil || time.Duration(n) > math.MaxInt64/of {
		return 0
	}
	return time.Duration(n) * of
}

func isMobileNumber(s string) bool {
	digits := strings.TrimPrefix(s, "+")
	return len(digits) >= 5 && len(digits) <= 15 && strings.Trim(digits, "0123456789") == ""
}

func isURL(s string) bool {
	_, err := url.Parse(s)
	return err == nil && isURLTemplate(s)
}

var schemeAndHost = regexp.MustCompile(`^[^/]*://[^/?#]*`)

// isURLTemplate checks the scheme and the host only: after them, placeholders such as %s need not be valid escapes.
func isURLTemplate(s string) bool {
	u, err := url.Parse(schemeAndHost.FindString(s))
	isHTTP := err == nil && (u.Scheme == "http" || u.Scheme == "https")
	return isHTTP && u.Hostname() != "" && !strings.ContainsFunc(s, isControlOrSpace)
}

func isControlOrSpace(r rune) bool { return r <= ' ' || r == 0x7f }
