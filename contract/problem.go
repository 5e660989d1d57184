package contract

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode"
)

// Error is one thing that is wrong with an overlay or a contract. [Parse] and [Contract.Validate] report all that they find,
// joined: errors.As gives the first *Error, and the joined error's Unwrap() []error gives each of them.
// Neither field repeats a value of the overlay: what stands there may be a secret.
type Error struct {
	// Path is the place in the table: sms.send.fields.from, or errors.notProcessed[1] in a list. Empty for the whole overlay.
	Path string
	// Reason says what is wrong there, and what may stand there.
	Reason string
}

// Error returns path and reason.
func (e *Error) Error() string {
	if e.Path == "" {
		return "contract: " + e.Reason
	}
	return "contract: " + e.Path + ": " + e.Reason
}

// problems collects what is wrong.
type problems struct{ list []error }

func (p *problems) add(path, reason string) {
	p.list = append(p.list, &Error{Path: path, Reason: reason})
}

// addFault adds a problem if there is one: no fault is "".
func (p *problems) addFault(path, fault string) {
	if fault != "" {
		p.add(path, fault)
	}
}

func (p *problems) addKind(path string, value any, want string) {
	p.add(path, "is "+kindOf(value)+", want "+want)
}

func (p *problems) err() error { return errors.Join(p.list...) }

func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return "a string"
	case json.Number:
		return "a number"
	default:
		return "a boolean"
	}
}

// join returns the path of a key within path. A key that would blur a line of text is quoted and cut.
func join(path, key string) string {
	const longest = 80
	if len(key) > longest {
		key = strconv.Quote(key[:longest]) + "..."
	} else if key == "" || strings.ContainsFunc(key, func(r rune) bool { return !unicode.IsPrint(r) }) {
		key = strconv.Quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

func at(path string, index int) string { return path + "[" + strconv.Itoa(index) + "]" }
