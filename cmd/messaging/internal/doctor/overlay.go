package doctor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/contract"
)

// overlay is an overlay of the contract as JSON, to which lines can be added.
type overlay map[string]any

// parseOverlay parses a valid overlay.
func parseOverlay(raw []byte) (overlay, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return overlay{}, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	o := overlay{}
	return o, decoder.Decode(&o)
}

// line is one value of an overlay.
type line struct {
	section string   // such as "sms.list"
	keys    []string // within the section
	value   any
}

// String returns the line as an overlay of its own would have it, without the outer braces.
func (l line) String() string {
	text := encode(l.value)
	for i := range l.keys {
		key := l.keys[len(l.keys)-1-i]
		text = "{" + encode(key) + ": " + text + "}"
	}
	return encode(l.section) + ": " + text
}

func encode(value any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return fmt.Sprintf("%q", err) // plain values have no errors
	}
	return strings.TrimSpace(b.String())
}

// with returns the overlay with a line more, and its contract. The overlay itself does not change.
func (o overlay) with(l line) (overlay, contract.Contract, error) {
	changed, err := parseOverlay([]byte(encode(o)))
	if err != nil {
		return nil, contract.Contract{}, fmt.Errorf("the overlay: %w", err)
	}
	at := map[string]any(changed)
	for _, key := range append([]string{l.section}, l.keys[:len(l.keys)-1]...) {
		next, ok := at[key].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[key] = next
		}
		at = next
	}
	at[l.keys[len(l.keys)-1]] = l.value
	names, err := contract.Parse([]byte(encode(changed)))
	return changed, names, err
}

// pretty returns the overlay with a line for each concept.
func (o overlay) pretty() string { return indented(map[string]any(o), "") }

func indented(value any, indent string) string {
	const deepest = "    "
	members, ok := value.(map[string]any)
	if !ok || len(members) == 0 || len(indent) > len(deepest) {
		return encode(value)
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		lines = append(lines, indent+"  "+encode(name)+": "+indented(members[name], indent+"  "))
	}
	return "{\n" + strings.Join(lines, ",\n") + "\n" + indent + "}"
}
