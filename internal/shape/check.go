package shape

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// Checker collects the problems of a message. The field of a problem is a Go expression, relative to the value that is checked. Each enclosing
// value adds its own name in front.
type Checker struct {
	wire.Checks

	shapes     *Shapes
	crossCheck func(*Checker, reflect.Value)
	name       string   // of the field that is checked
	siblings   siblings // of the element that is checked
}

// siblings are the elements of a list.
type siblings struct {
	index int            // of the element that is checked
	seen  map[string]int // the index of each unique text, by the name of its field and the text
}

// NewChecker returns a Checker that also calls crossCheck for each struct and list, after their parts, for the rules that no tag expresses.
func (s *Shapes) NewChecker(crossCheck func(*Checker, reflect.Value)) *Checker {
	return &Checker{shapes: s, crossCheck: crossCheck}
}

// Value checks the value of a field, and everything in it, by the rules of its type.
func (c *Checker) Value(name string, v reflect.Value) { c.field(name, v, nil) }

func (c *Checker) field(name string, v reflect.Value, rules []rule) {
	before := len(c.Checks)
	c.name = name
	c.value(v, rules)
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

// value checks a value by the rules of its field.
func (c *Checker) value(v reflect.Value, rules []rule) {
	switch v.Kind() {
	case reflect.String:
		c.text(v.String(), rules)
	case reflect.Int, reflect.Int64:
		if hasRule(rules, "index") {
			c.buttonIndex(v.Int())
		}
	case reflect.Float64:
		c.float(v.Float(), rules)
	case reflect.Interface:
		c.union(v, rules)
	case reflect.Pointer:
		if !v.IsNil() {
			c.value(v.Elem(), rules)
		}
	case reflect.Slice:
		c.slice(v)
	case reflect.Struct:
		c.fields(v, rules)
	default:
	}
}

func (c *Checker) fields(v reflect.Value, rules []rule) {
	if hasRule(rules, "present") && v.IsZero() {
		c.Add("", "required, but absent")
		return
	}
	for _, f := range c.shapes.fields[v.Type()] {
		c.field(f.name, v.FieldByIndex(f.index), f.rules)
	}
	c.crossCheck(c, v)
}

func (c *Checker) slice(v reflect.Value) {
	if raw, ok := reflect.TypeAssert[json.RawMessage](v); ok {
		c.text(string(raw), nil)
		c.Add("", wire.CheckJSON(raw))
		return
	}
	c.elements(v)
	c.crossCheck(c, v)
}

func (c *Checker) elements(v reflect.Value) {
	outer := c.siblings
	c.siblings = siblings{}
	required := []rule{{name: "required"}} // of every element
	for i := range v.Len() {
		c.siblings.index = i
		before := len(c.Checks)
		c.value(v.Index(i), required)
		if problems := c.Checks[before:]; len(problems) > 0 {
			enclose("["+strconv.Itoa(i)+"]", problems)
		}
	}
	c.siblings = outer
}

// union checks the value of a sealed interface, or of an any.
func (c *Checker) union(v reflect.Value, rules []rule) {
	switch {
	case v.IsNil():
		if hasRule(rules, "required") {
			c.Add("", "required, but nil; the documentation of "+v.Type().Name()+" lists the types")
		}
	case v.NumMethod() == 0:
		c.any(v.Interface(), rules)
	case !c.shapes.IsValue(v.Interface()):
		c.Add("", wire.WrongType(v.Interface()))
	default:
		c.value(v.Elem(), nil)
	}
}

func (c *Checker) any(value any, rules []rule) {
	raw, err := wire.EncodeText(value)
	switch {
	case err != nil:
		c.Add("", "cannot be encoded as JSON, or holds text that is not valid UTF-8")
	case hasRule(rules, "object") && !holdsObject(raw):
		c.Add("", "want a JSON object that is not empty, or the text of one")
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

func (c *Checker) float(n float64, rules []rule) {
	for _, r := range rules {
		isInRange := math.Abs(n) <= float64(r.limit) // false for NaN
		if r.name == "degrees" && !isInRange {
			c.Add("", fmt.Sprintf("want degrees from -%d to %d", r.limit, r.limit))
		}
	}
}

// buttonIndex checks the index of a button.
func (c *Checker) buttonIndex(n int64) {
	switch {
	case n < 0:
		c.Add("", "must not be negative")
	case n > 9:
		c.Limit("", "want 0 to 9")
	}
}

// Text checks that a text can be sent, and reports whether it can.
func (c *Checker) Text(name, text string) bool {
	reason := wire.CheckText(text)
	c.Add(name, reason)
	return reason == ""
}

func (c *Checker) text(text string, rules []rule) {
	if !c.Text("", text) {
		return
	}
	if text == "" && !hasRule(rules, "required") {
		return
	}
	for _, r := range rules {
		switch r.name {
		case "required", "notblank":
			if strings.TrimSpace(text) == "" {
				c.Required("", text)
				return
			}
		case "unique":
			c.unique(text)
		case "url":
			c.Add("", wire.CheckURL(text))
		case "max":
			c.Length("", text, r.limit)
		default:
			c.Limit("", r.violation(text))
		}
	}
}

// unique checks that no element before in the list has the same text in a field of this name.
func (c *Checker) unique(text string) {
	key := c.name + "=" + text
	if before, isSeen := c.siblings.seen[key]; isSeen {
		c.Add("", fmt.Sprintf("must differ from the others, but equals that of index %d", before))
		return
	}
	if c.siblings.seen == nil {
		c.siblings.seen = map[string]int{}
	}
	c.siblings.seen[key] = c.siblings.index
}

// Required checks a text that must be present and not blank.
func (c *Checker) Required(name, text string) {
	switch {
	case text == "":
		c.Add(name, "required, but absent")
	case strings.TrimSpace(text) == "":
		c.Add(name, "must not be white space only")
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
		c.Add(name, reason)
	} else {
		c.Limit(name, reason)
	}
}

// CheckRaw checks the member JSON of a raw variant of T. The function returns the object that would hold a T. If the type of the object is
// known and the rest does not fit, it exceeds a limit, since the platform may have changed. New members are allowed.
func CheckRaw[T any](c *Checker, data json.RawMessage, objectOf func(value any) any) {
	if len(data) == 0 {
		c.Add("JSON", "required, but absent")
		return
	}
	value := Decode(data)
	if value == nil && !json.Valid(data) {
		c.Add("JSON", "must be one JSON value")
		return
	}
	if reason := wire.CheckJSON(data); reason != "" {
		c.Add("JSON", reason)
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
			c.Add("JSON", "want an object with a type")
		}
		return value
	})
}
