package learn

import (
	"maps"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
)

// text returns the overlay as JSON with its notes, and with each list on one line.
func (o *overlay) text() string {
	root := document.Parse([]byte(document.Encode(o))).Object()
	o.addTo(root)
	return indented(root, "")
}

// indented returns a JSON value whose members are indented by two spaces more than the value.
func indented(value any, indent string) string {
	switch value := value.(type) {
	case map[string]any:
		return indentedObject(value, indent)
	case []any:
		var elements []string
		for _, element := range value {
			elements = append(elements, document.Encode(element))
		}
		return "[" + strings.Join(elements, ", ") + "]"
	default:
		return document.Encode(value)
	}
}

func indentedObject(object map[string]any, indent string) string {
	if len(object) == 0 {
		return "{}"
	}
	inner := indent + "  "
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(object)) {
		lines = append(lines, inner+document.Encode(name)+": "+indented(object[name], inner))
	}
	return "{\n" + strings.Join(lines, ",\n") + "\n" + indent + "}"
}
