package learn

import (
	"maps"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/contract"
)

// overlay is an overlay of a contract under construction.
type overlay map[string]any

// comment is the end of a key that a contract ignores.
const comment = "//"

// set writes a value at keys, such as "sms.send", "fields", "to".
func (o overlay) set(value any, keys ...string) {
	object := map[string]any(o)
	for _, key := range keys[:len(keys)-1] {
		inner, ok := object[key].(map[string]any)
		if !ok {
			inner = map[string]any{}
			object[key] = inner
		}
		object = inner
	}
	object[keys[len(keys)-1]] = value
}

// get returns the value at keys, or nil.
func (o overlay) get(keys ...string) any {
	var value any = map[string]any(o)
	for _, key := range keys {
		object, _ := value.(map[string]any)
		value = object[key]
	}
	return value
}

// string returns the text at keys, or "".
func (o overlay) string(keys ...string) string {
	text, _ := o.get(keys...).(string)
	return text
}

// object returns the object at keys, or nil.
func (o overlay) object(keys ...string) map[string]any {
	object, _ := o.get(keys...).(map[string]any)
	return object
}

// list returns the texts of the list at keys.
func (o overlay) list(keys ...string) []string {
	texts, _ := o.get(keys...).([]string)
	return texts
}

// add adds texts to the list at keys, each once.
func (o overlay) add(text string, keys ...string) {
	if texts := o.list(keys...); !slices.Contains(texts, text) {
		o.set(append(slices.Clone(texts), text), keys...)
	}
}

// note adds a comment to a key.
func (o overlay) note(text string, keys ...string) {
	keys = slices.Clone(keys)
	keys[len(keys)-1] += comment
	o.set(text, keys...)
}

// parse returns the contract of the overlay.
func (o overlay) parse() (contract.Contract, error) {
	return contract.Parse([]byte(document.Encode(o)))
}

// text returns the overlay as JSON, with each list on one line.
func (o overlay) text() string { return indented(map[string]any(o), "") }

func indented(value any, indent string) string {
	switch value := value.(type) {
	case map[string]any:
		if len(value) == 0 {
			return "{}"
		}
		const step = "  "
		var lines []string
		for _, key := range slices.Sorted(maps.Keys(value)) {
			lines = append(lines, indent+step+document.Encode(key)+": "+indented(value[key], indent+step))
		}
		return "{\n" + strings.Join(lines, ",\n") + "\n" + indent + "}"
	case []string:
		var texts []string
		for _, text := range value {
			texts = append(texts, document.Encode(text))
		}
		return "[" + strings.Join(texts, ", ") + "]"
	default:
		return document.Encode(value)
	}
}
