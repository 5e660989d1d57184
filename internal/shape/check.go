package shape

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// Checker collects the problems of a message. The field of a problem is a Go expression, relative to the value that is checked. Each enclosing
// value adds its own name in front.
type Checker struct {
	wire.Checks

	shapes *Shapes
	check  func(*Checker, reflect.Value)
	name   string   // of the field that is checked
	list   siblings // of the element that is checked
}

// siblings are the elements of a list.
type siblings struct {
	index int            // of the element that is checked
	seen  map[string]int // the index of each unique text, by the name of its field and the text
}

// NewChecker returns a Checker that also calls check for each struct and list, after their parts, for the rules that no tag expresses.
func (s *Shapes) NewChecker(check func(*Checker, reflect.Value)) *Checker {
	return &Checker{shapes: s, check: check}
}

// Value checks the value of a field, and everything in it.
func (c *Checker) Value(name string, v reflect.Value, rules string) {
	before := len(c.Checks)
	c.name = name
	c.value(v, rules)
	enclose(name, c.Checks[before:])
}

// Field checks the text of a field.
func (c *Checker) Field(name, text, rules string) {
	before := len(c.Checks)
	c.name = name
	c.text(text, rules)
	enclose(name, c.Checks[before:])
}

// enclose puts the name of a value in front of the fields of the problems in it.
func enclose(name string, problems []wire.Problem) {
	for i := range problems {
		problems[i].Field = joinFields(name, problems[i].Field)
	}
}

// joinFields returns the Go expression of a field, or of an element such as "[1]", of another value.
func joinFields(outer, inner string) string {
	if inner == "" || inner[0] == '[' {
		return outer + inner
	}
	return outer + "." + inner
}

func (c *Checker) value(v reflect.Value, rules string) {
	switch v.Kind() {
	case reflect.String:
		c.text(v.String(), rules)
	case reflect.Int, reflect.Int64:
		if rules == "index" {
			c.buttonIndex(v.Int())
		}
	case reflect.Float64:
		c.degrees(v.Float(), rules)
	case reflect.Interface:
		c.choice(v, rules)
	case reflect.Slice:
		if raw, ok := reflect.TypeAssert[json.RawMessage](v); ok {
			c.text(string(raw), "")
			c.Found("", wire.CheckJSON(raw))
			return
		}
		c.elements(v)
		c.check(c, v)
	case reflect.Struct:
		if rules == "present" && v.IsZero() {
			c.Found("", "required, but absent")
			return
		}
		c.fields(v)
		c.check(c, v)
	default:
	}
}

func (c *Checker) fields(v reflect.Value) {
	for _, f := range c.shapes.fields[v.Type()] {
		c.Value(f.name, v.FieldByIndex(f.index), f.rules)
	}
}

func (c *Checker) elements(v reflect.Value) {
	outer := c.list
	c.list = siblings{}
	for i := range v.Len() {
		c.list.index = i
		before := len(c.Checks)
		c.value(v.Index(i), "required")
		if problems := c.Checks[before:]; len(problems) > 0 {
			enclose("["+strconv.Itoa(i)+"]", problems)
		}
	}
	c.list = outer
}

// choice checks the value of a sealed interface, or of an any.
func (c *Checker) choice(v reflect.Value, rules string) {
	switch {
	case v.IsNil():
		if rules == "required" {
			c.Found("", "required, but nil; the documentation of "+v.Type().Name()+" lists the types")
		}
	case v.NumMethod() == 0:
		c.any(v.Interface(), rules)
	case !c.shapes.IsValue(v.Interface()):
		c.Found("", wire.WrongType(v.Interface()))
	default:
		c.value(v.Elem(), "")
	}
}

func (c *Checker) any(value any, rules string) {
	raw, err := wire.EncodeText(value)
	switch {
	case err != nil:
		c.Found("", "cannot be encoded as JSON, or holds text that is not valid UTF-8")
	case rules == "object" && !holdsObject(raw):
		c.Found("", "want a JSON object that is not empty, or the text of one")
	}
}

// holdsObject reports whether JSON is an object that is not empty, or the text of one.
func holdsObject(raw []byte) bool {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = []byte(text)
	}
	var object map[string]json.RawMessage
	return json.Unmarshal(raw, &object) == nil && len(object) > 0
}

func (c *Checker) degrees(degrees float64, rules string) {
	_, limit, _ := strings.Cut(rules, "=")
	most, err := strconv.ParseFloat(limit, 64)
	isInRange := math.Abs(degrees) <= most // false for NaN
	if err == nil && !isInRange {
		c.Found("", "want degrees from -"+limit+" to "+limit)
	}
}

// buttonIndex checks the index of a button.
func (c *Checker) buttonIndex(n int64) {
	switch {
	case n < 0:
		c.Found("", "must not be negative")
	case n > 9:
		c.Limit("", "want 0 to 9")
	}
}

func (c *Checker) text(text, rules string) {
	if reason := wire.CheckText(text); reason != "" {
		c.Found("", reason)
		return
	}
	isRequired := strings.HasPrefix(rules, "required")
	if rules == "" || text == "" && !isRequired {
		return
	}
	for option := range strings.SplitSeq(rules, ",") {
		rule, limit, _ := strings.Cut(option, "=")
		switch rule {
		case "required", "notblank":
			if strings.TrimSpace(text) == "" {
				c.Required("", text)
				return
			}
		case "unique":
			c.unique(text)
		case "url":
			c.Found("", wire.CheckURL(text))
		case "max":
			most, _ := strconv.Atoi(limit)
			c.Length("", text, most)
		default:
			c.Limit("", violation(rule, limit, text))
		}
	}
}

// unique checks that no element before in the list has the same text in a field of this name.
func (c *Checker) unique(text string) {
	key := c.name + "=" + text
	if before, isSeen := c.list.seen[key]; isSeen {
		c.Found("", fmt.Sprintf("must differ from the others, but equals that of index %d", before))
		return
	}
	if c.list.seen == nil {
		c.list.seen = map[string]int{}
	}
	c.list.seen[key] = c.list.index
}

const (
	digits  = "0123456789"
	lower   = "abcdefghijklmnopqrstuvwxyz"
	upper   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	letters = lower + upper
)

// violation returns how a text breaks a rule about its characters, or "".
func violation(rule, words, text string) string {
	hasOther := func(allowed string) bool { return strings.Trim(text, allowed) != "" }
	switch {
	case rule == "oneof" && !slices.Contains(strings.Split(words, "|"), text):
		return `want "` + strings.ReplaceAll(words, "|", `" or "`) + `"`
	case rule == "name" && hasOther(lower+digits+"_"):
		return "want only lower-case letters, digits and underscores"
	case rule == "alnum" && hasOther(letters+digits):
		return "want only letters and digits"
	case rule == "trimmed" && strings.TrimSpace(text) != text:
		return "must not have white space around it"
	case rule == "currency" && (len(text) != 3 || hasOther(upper)):
		return "want an ISO 4217 code of three capital letters"
	case rule == "date" && !isDate(text):
		return "want a date as YYYY-MM-DD"
	default:
		return ""
	}
}

func isDate(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

// Required checks a text that must be present and not blank.
func (c *Checker) Required(name, text string) {
	switch {
	case text == "":
		c.Found(name, "required, but absent")
	case strings.TrimSpace(text) == "":
		c.Found(name, "must not be white space only")
	}
}

// Length checks that a text is not too long.
func (c *Checker) Length(name, text string, most int) {
	if n := utf8.RuneCountInString(text); n > most {
		c.Limit(name, fmt.Sprintf("want at most %d characters, got %d", most, n))
	}
}

// Count checks a number of things. Too few are always a problem; too many exceed a limit.
func (c *Checker) Count(name, things string, n, least, most int) {
	if n >= least && n <= most {
		return
	}
	reason := fmt.Sprintf("want %d to %d %s, got %d", least, most, things, n)
	if n < least {
		c.Found(name, reason)
	} else {
		c.Limit(name, reason)
	}
}

// CheckRaw checks the member JSON of a raw variant of T. The function returns the object that would hold a T. If the type of the object is
// known and the rest does not fit, it exceeds a limit, since the platform may have changed. New members are allowed.
func CheckRaw[T any](c *Checker, data json.RawMessage, objectOf func(value any) any) {
	value := Decode(data)
	switch {
	case len(data) == 0:
		c.Found("JSON", "required, but absent")
		return
	case value == nil && !json.Valid(data):
		c.Found("JSON", "must be one JSON value")
		return
	case wire.CheckJSON(data) != "":
		c.Found("JSON", wire.CheckJSON(data))
		return
	}
	if _, fit, isKnown := Best[T](c.shapes, objectOf(value)); isKnown && fit == Misfit {
		c.Limit("JSON", "is not what the platform documents for its type: a member is missing, of another kind, or contradicts another")
	}
}

// CheckRawObject is CheckRaw for an object that names its type itself.
func CheckRawObject[T any](c *Checker, data json.RawMessage) {
	CheckRaw[T](c, data, func(value any) any {
		members, _ := value.(map[string]any)
		if kind, _ := members["type"].(string); kind == "" {
			c.Found("JSON", "want an object with a type")
		}
		return value
	})
}
