package learn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
)

// A note is a comment for the reader of the overlay. The library ignores its key, which is the last of keys and ends in //.
type note struct {
	keys []string
	text string
}

// notes are the comments of an overlay.
type notes struct {
	all      []note
	warnings []string // comments that are printed too
}

// note adds a comment to a key, such as "sms.send", "fields", "to", unless the key has it. A comment can show names of the examples.
func (n *notes) note(text string, keys ...string) {
	text = cli.Printable(text)
	isSame := func(other note) bool { return other.text == text && slices.Equal(other.keys, keys) }
	if !slices.ContainsFunc(n.all, isSame) {
		n.all = append(n.all, note{keys: keys, text: text})
	}
}

// warn adds a comment that is printed, too.
func (n *notes) warn(text string, keys ...string) {
	n.note(text, keys...)
	n.warnings = appendNew(n.warnings, cli.Printable(strings.Join(keys, ".")+": "+text))
}

// noteAbsent adds a comment about a kind of examples that is absent, and prints the consequence, which the user may not expect.
func (n *notes) noteAbsent(example, missing, section, key string) {
	n.note("not in the examples: "+missing, section, key)
	n.warnings = append(n.warnings, section+": no example of "+example+": every name is a default")
}

// addTo adds the comments to the JSON of an overlay.
func (n *notes) addTo(root map[string]any) {
	for _, comment := range n.all {
		last := len(comment.keys) - 1
		object := root
		for _, key := range comment.keys[:last] {
			object = member(object, key)
		}
		key := comment.keys[last] + "//"
		text := comment.text
		if before, hasText := object[key].(string); hasText {
			text = before + "; " + text
		}
		object[key] = text
	}
}

// member returns a member that is an object, and adds it if it is absent.
func member(object map[string]any, name string) map[string]any {
	inner, ok := object[name].(map[string]any)
	if !ok {
		inner = map[string]any{}
		object[name] = inner
	}
	return inner
}

// contractLine returns a line of a contract with one path, for a comment.
func contractLine(concept, path string) string { return fmt.Sprintf("%q: [%q]", concept, path) }
