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

	shapes   *Shapes
	check    func(*Checker, reflect.Value)
	name     string // of the field that is checked
	siblings        // of the element that is checked
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
	c.inside(name, func() { c.value(v, rules) })
}

// Field checks the text of a field.
func (c *Checker) Field(name, text, rules string) { c.inside(name, func() { c.text(text, rules) }) }

// inside puts the name of a value in front of the fields of the problems that find adds.
func (c *Checker) inside(name string, find func()) {
	from := len(c.Checks)
	find()
	for i := range c.Checks[from:] {
		problem := &c.Checks[from+i]
		if problem.Field != "" && problem.Field[0] != '[' {
			problem.Field = "." + problem.Field
		}
		problem.Field = name + problem.Field
	}
}

func (c *Checker) value(v reflect.Value, rule string) {
	switch v.Kind() {
	case reflect.String:
		c.text(v.String(), rule)
	case reflect.Int, reflect.Int64:
		c.number(v.Int(), rule)
	case reflect.Float64:
		c.degrees(v.Float(), rule)
	case reflect.Interface:
		c.choice(v, rule)
	case reflect.Slice:
		if raw, ok := reflect.TypeAssert[json.RawMessage](v); ok {
			c.text(string(raw), "")
			c.Found("", wire.CheckJSON(raw))
			return
		}
		c.elements(v)
		c.check(c, v)
	case reflect.Struct:
		if rule == "present" && v.IsZero() {
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
		c.name = f.name
		c.Value(f.name, v.FieldByIndex(f.index), f.rules)
	}
}

func (c *Checker) elements(v reflect.Value) {
	outer := c.siblings
	c.siblings = siblings{}
	for i := range v.Len() {
		c.index = i
		c.Value("["+strconv.Itoa(i)+"]", v.Index(i), "required")
	}
	c.siblings = outer
}

func (c *Checker) choice(v reflect.Value, rule string) {
	switch {
	case v.IsNil():
		if rule == "required" {
			c.Found("", "required, but nil; the documentation of "+v.Type().Name()+" lists the types")
		}
	case v.NumMethod() == 0:
		raw, err := wire.EncodeText(v.Interface())
		if err != nil {
			c.Found("", "cannot be encoded as JSON, or holds text that is not valid UTF-8")
		} else if rule == "object" && !holdsObject(raw) {
			c.Found("", "want a JSON object that is not empty, or the text of one")
		}
	case !c.shapes.IsValue(v.Interface()):
		c.Found("", wire.WrongType(v.Interface()))
	default:
		c.value(v.Elem(), "")
	}
}

func holdsObject(raw []byte) bool {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = []byte(text)
	}
	var object map[string]json.RawMessage
	return json.Unmarshal(raw, &object) == nil && len(object) > 0
}

func (c *Checker) degrees(degrees float64, rule string) {
	_, limit, _ := strings.Cut(rule, "=")
	most, err := strconv.ParseFloat(limit, 64)
	isInRange := math.Abs(degrees) <= most // false for NaN
	if err == nil && !isInRange {
		c.Found("", "want degrees from -"+limit+" to "+limit)
	}
}

func (c *Checker) number(n int64, rule string) {
	for option := range strings.SplitSeq(rule, ",") {
		name, limit, _ := strings.Cut(option, "=")
		switch name {
		case "index":
			c.position(n)
		case "max":
			if most, _ := strconv.ParseInt(limit, 10, 64); n > most {
				c.Limit("", "want at most "+limit)
			}
		}
	}
}

func (c *Checker) position(n int64) {
	switch {
	case n < 0:
		c.Found("", "must not be negative")
	case n > 9:
		c.Limit("", "want 0 to 9")
	}
}

func (c *Checker) text(text, rule string) {
	if reason := wire.CheckText(text); reason != "" {
		c.Found("", reason)
		return
	}
	if rule == "" || text == "" && !strings.HasPrefix(rule, "required") {
		return
	}
	for option := range strings.SplitSeq(rule, ",") {
		name, limit, _ := strings.Cut(option, "=")
		switch name {
		case "required", "notblank":
			if strings.TrimSpace(text) == "" {
				c.Required("", text)
				return
			}
		case "unique":
			c.unique(text)
		case "date":
			if _, err := time.Parse(time.DateOnly, text); err != nil {
				c.Limit("", "want a date as YYYY-MM-DD")
			}
		case "url":
			if reason := wire.CheckURL(text); reason != "" {
				c.Found("", reason)
			}
		case "max":
			if most, _ := strconv.Atoi(limit); len(text) > most {
				c.Length("", text, most)
			}
		default:
			if reason := violation(name, limit, text); reason != "" {
				c.Limit("", reason)
			}
		}
	}
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
	case rule == "currency" && (len(text) != 3 || hasOther(upper)):
		return "want an ISO 4217 code of three capital letters"
	case rule == "trimmed" && strings.TrimSpace(text) != text:
		return "must not have white space around it"
	default:
		return ""
	}
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
	reason := fmt.Sprintf("want %d to %d %s, got %d", least, most, things, n)
	switch {
	case n < least:
		c.Found(name, reason)
	case n > most:
		c.Limit(name, reason)
	}
}

// JSON returns JSON that is passed on unchanged, decoded. ok is false if it is absent or not valid.
func (c *Checker) JSON(name string, raw json.RawMessage) (value any, ok bool) {
	value = Decode(raw)
	switch {
	case len(raw) == 0:
		c.Found(name, "required, but absent")
	case value == nil && !json.Valid(raw):
		c.Found(name, "must be one JSON value")
	case wire.CheckJSON(raw) != "":
		c.Found(name, wire.CheckJSON(raw))
	default:
		return value, true
	}
	return nil, false
}

// CheckRaw checks the member JSON of a raw variant of T. The function returns the object that would hold a T. If the type of the object is
// known and the rest does not fit, it exceeds a limit, since the platform may have changed. New members are allowed.
func CheckRaw[T any](c *Checker, data json.RawMessage, object func(value any) any) {
	value, ok := c.JSON("JSON", data)
	if !ok {
		return
	}
	if _, f, known := Best[T](c.shapes, object(value)); known && f == Misfit {
		c.Limit("JSON", "is not what the platform documents for its type: a member is missing, of another kind, or contradicts another")
	}
}

// CheckRawObject is CheckRaw for an object that names its type itself.
func CheckRawObject[T any](c *Checker, data json.RawMessage) {
	CheckRaw[T](c, data, func(value any) any {
		object, _ := value.(map[string]any)
		if kind, _ := object["type"].(string); kind == "" {
			c.Found("JSON", "want an object with a type")
		}
		return value
	})
}

func (c *Checker) unique(text string) {
	key := c.name + "=" + text
	if before, ok := c.seen[key]; ok {
		c.Found("", fmt.Sprintf("must differ from the others, but equals that of index %d", before))
		return
	}
	if c.seen == nil {
		c.seen = map[string]int{}
	}
	c.seen[key] = c.index
}

// IsValue reports whether a sealed interface holds a value that can be written: not nil, not a pointer, and not a struct that only embeds one
// of the types.
func (s *Shapes) IsValue(v any) bool {
	if v == nil {
		return false
	}
	t := reflect.TypeOf(v)
	switch t.Kind() {
	case reflect.Pointer:
		return false
	case reflect.Struct:
		return s.structs[t] != nil
	default:
		return true
	}
}
