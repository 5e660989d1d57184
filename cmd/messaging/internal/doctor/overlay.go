package doctor

import (
	"maps"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/contract"
)

// overlay is an overlay of the contract as JSON, to which lines can be added.
type overlay map[string]any

// line is one value of an overlay.
type line struct {
	path  []string // the section, such as "sms.list", and the keys within it
	value any
}

// String returns the line as an overlay of its own would have it, without the outer braces.
func (l line) String() string {
	text := document.Encode(l.value)
	for i, key := range slices.Backward(l.path) {
		if text = document.Encode(key) + ": " + text; i > 0 {
			text = "{" + text + "}"
		}
	}
	return text
}

// parseOverlay parses a valid overlay, or nothing.
func parseOverlay(raw []byte) overlay {
	o := overlay{}
	maps.Copy(o, document.Parse(raw).Object())
	return o
}

// with returns the overlay with lines more, and its contract. The overlay itself does not change.
func (o overlay) with(lines []line) (overlay, contract.Contract, error) {
	changed := parseOverlay([]byte(document.Encode(o)))
	for _, l := range lines {
		put(changed, l.path, l.value)
	}
	names, err := contract.Parse([]byte(document.Encode(changed)))
	return changed, names, err
}

// put sets the value at a path of objects.
func put(object map[string]any, path []string, value any) {
	for _, key := range path[:len(path)-1] {
		inner, ok := object[key].(map[string]any)
		if !ok {
			inner = map[string]any{}
			object[key] = inner
		}
		object = inner
	}
	object[path[len(path)-1]] = value
}

// list returns the list at a path, if there is one.
func (o overlay) list(path []string) []any {
	var at any = map[string]any(o)
	for _, key := range path {
		at = document.Node{Value: at}.Object()[key]
	}
	list, _ := at.([]any)
	return list
}

// pretty returns the overlay with a line for each concept.
func (o overlay) pretty() string { return indented(map[string]any(o), "") }

func indented(value any, indent string) string {
	const deepest = "    "
	members, ok := value.(map[string]any)
	if !ok || len(members) == 0 || len(indent) > len(deepest) {
		return document.Encode(value)
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		lines = append(lines, indent+"  "+document.Encode(name)+": "+indented(members[name], indent+"  "))
	}
	return "{\n" + strings.Join(lines, ",\n") + "\n" + indent + "}"
}
