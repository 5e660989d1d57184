package chatapp2

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// checks collects the problems of a message. A path is the Go expression for a field, from the Message on.
type checks struct {
	wire.Checks

	group bool // the message goes to a group
}

// required checks a text that must be there, of at most so many characters; 0 is no limit.
func (c *checks) required(path, value string, most int) {
	switch {
	case value == "":
		c.Found(path, "required, but absent")
	case strings.TrimSpace(value) == "":
		c.Found(path, "required, got white space only")
	}
	c.length(path, value, most)
}

// length checks that a text has at most so many characters; 0 is no limit.
func (c *checks) length(path, value string, most int) {
	if n := utf8.RuneCountInString(value); most > 0 && n > most {
		c.Limit(path, fmt.Sprintf("want at most %d characters, got %d", most, n))
	}
}

// notBlank rejects an optional text of white space only.
func (c *checks) notBlank(path, value string) {
	if value != "" && strings.TrimSpace(value) == "" {
		c.Found(path, "must not be white space only")
	}
}

// url checks a URL that must be there.
func (c *checks) url(path, value string) {
	if value == "" {
		c.Found(path, "required, but absent")
	}
	c.Found(path, wire.CheckURL(value))
}

// count checks a number of things. Too few are always a fault; too many exceed a limit.
func (c *checks) count(path, things string, n, least, most int) {
	reason := fmt.Sprintf("want %d to %d %s, got %d", least, most, things, n)
	switch {
	case n < least:
		c.Found(path, reason)
	case n > most:
		c.Limit(path, reason)
	}
}

// alphabet checks that a text has only characters that belong reports true for.
func (c *checks) alphabet(path, value, want string, belongs func(r rune) bool) {
	if strings.ContainsFunc(value, func(r rune) bool { return !belongs(r) }) {
		c.Limit(path, "want only "+want)
	}
}

// currency checks a currency code, if there is one.
func (c *checks) currency(path, code string) {
	if code != "" && (len(code) != 3 || strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "") {
		c.Limit(path, "want an ISO 4217 code of three capital letters")
	}
}

// json checks JSON that is passed on as is, and reports whether there is any.
func (c *checks) json(path string, raw json.RawMessage) bool {
	switch {
	case len(raw) == 0:
		c.Found(path, "required, but absent")
	case !json.Valid(raw):
		c.Found(path, "must be one JSON value")
	default:
		return true
	}
	return false
}

// raw checks JSON of a known type, which a type of this package holds as well as f says. The platform may have changed what
// the type is made of, so all problems are limits. They have no fields of their own and name the place in their reason.
func (c *checks) raw(path string, f fit, check func(known *checks)) {
	if f == misfit {
		c.Limit(path, "is not what the platform documents for its type: a member is missing, is of another kind, or does not go with another")
		return
	}
	known := &checks{group: c.group}
	check(known)
	for _, problem := range known.Checks {
		place := strings.TrimPrefix(problem.Field, ".")
		if place != "" {
			place += ": "
		}
		c.Limit(path, place+problem.Reason)
	}
}

// oneOf checks a word, if there is one, against the documented ones.
func oneOf[W ~string](c *checks, path string, word W, known ...W) {
	if word == "" || slices.Contains(known, word) {
		return
	}
	quoted := make([]string, len(known))
	for i, one := range known {
		quoted[i] = strconv.Quote(string(one))
	}
	want := "want "
	if len(known) > 1 {
		want = "want one of "
	}
	c.Limit(path, want+strings.Join(quoted, ", "))
}

// unique reports each text that an earlier element of the list has too. The name of the text completes the path.
func unique[T any](c *checks, path, name string, list []T, text func(T) string) {
	first := map[string]int{}
	for i, element := range list {
		value := text(element)
		if before, ok := first[value]; ok && value != "" {
			c.Found(at(path, i)+name, fmt.Sprintf("must differ from the others, but equals that of index %d", before))
			continue
		}
		first[value] = i
	}
}

func at(path string, index int) string { return path + "[" + strconv.Itoa(index) + "]" }

func isAlphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

func isTemplateName(r rune) bool { return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r == '_' }

// isValue reports whether a sealed interface holds a value, and neither nil nor a pointer.
func isValue(v any) bool { return v != nil && reflect.TypeOf(v).Kind() != reflect.Pointer }

// faults finds what encoding/json would hide, by relative path: texts that are not valid UTF-8, which it would change, and
// pointers in sealed interfaces.
func faults(v reflect.Value) []wire.Problem {
	var found []wire.Problem
	add := func(path string, inside []wire.Problem) {
		for _, problem := range inside {
			found = append(found, wire.Problem{Field: path + problem.Field, Reason: problem.Reason})
		}
	}
	switch v.Kind() {
	case reflect.String:
		if reason := wire.CheckUTF8(v.String()); reason != "" {
			return []wire.Problem{{Reason: reason}}
		}
	case reflect.Interface:
		switch {
		case v.IsNil():
		case v.NumMethod() == 0: // data of the caller, of any shape
			if _, err := wire.EncodeText(v.Interface()); err != nil {
				return []wire.Problem{{Reason: "cannot be encoded as JSON, or holds text that is not valid UTF-8"}}
			}
		case v.Elem().Kind() == reflect.Pointer:
			name := v.Elem().Type().Elem().String()
			return []wire.Problem{{Reason: "must be a value, not a pointer: " + name + "{…}, not &" + name + "{…}"}}
		default:
			return faults(v.Elem())
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return faults(v.Elem())
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			if reason := wire.CheckUTF8(string(v.Bytes())); reason != "" {
				return []wire.Problem{{Reason: reason}}
			}
			return nil
		}
		for i := range v.Len() {
			if inside := faults(v.Index(i)); inside != nil {
				add(at("", i), inside)
			}
		}
	case reflect.Map:
		for key, value := range v.Seq2() {
			if inside := append(faults(key), faults(value)...); inside != nil {
				add("["+strconv.Quote(key.String())+"]", inside)
			}
		}
	case reflect.Struct:
		for field, value := range v.Fields() {
			if inside := faults(value); inside != nil && field.Anonymous {
				add("", inside)
			} else if inside != nil {
				add("."+field.Name, inside)
			}
		}
	}
	return found
}
