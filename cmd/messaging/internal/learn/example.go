package learn

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The kinds of examples.
const (
	kindRequest  = "request"
	kindAccepted = "accepted"
	kindRefused  = "refused"
	kindRow      = "row"
	kindInbound  = "inbound"
	kindDelivery = "delivery"
)

// keysOf returns the keys that an example of a kind may have.
func keysOf(kind string) []string {
	switch kind {
	case kindRequest:
		return []string{"from", "to", "text", "callback", "reference", "token", "key", "secret", "path"}
	case kindAccepted:
		return append([]string{"http", "status", "to"}, responseConcepts()...)
	case kindRefused:
		return []string{"http", "class", "code", "status", "request"}
	case kindRow:
		return slices.Concat([]string{"path", "means", "layout", "next"}, requestKeys(), rowConcepts())
	case kindInbound:
		return []string{"id", "from", "to", "text", "time", "reference", "operator", "keyword"}
	case kindDelivery:
		return append([]string{"means"}, reportConcepts()...)
	}
	return nil
}

// responseConcepts are the values that are looked for in an accepted response.
func responseConcepts() []string {
	return []string{"id", "request", "reference", "parts", "unitCost", "cost", "currency", "balance", "operator"}
}

// requestKeys are the lines of a row with values in the request above it. They are no values of the row.
func requestKeys() []string {
	return []string{"page", "offset", "cursor", "pageSize", "createdAfter", "createdBefore", "sortBy", "order"}
}

// rowConcepts are the values that are looked for in a row of the listing.
func rowConcepts() []string {
	return []string{
		"status", "sendStatus", "id", "request", "reference", "category", "from", "to", "text", "parts", "price", "currency", "created", "sent",
		"operator", "country", "description",
	}
}

// reportConcepts are the values that are looked for in a delivery report.
func reportConcepts() []string {
	return []string{"id", "reference", "status", "errorCode", "time", "from", "to"}
}

// Example is one example of a provider's documentation.
type Example struct {
	kind    string
	heading place
	values  map[string]string // the known values in it, by key
	text    string            // the example as the documentation has it
	status  int               // of a response: its HTTP status
	listing *request          // of a row: the request above it, or nil

	whole  string // the text before a request above it, a status line and a header were removed
	begins place  // of the whole
}

// place is a line in the files of examples.
type place struct {
	file string // its name, if there are several
	line int
}

// String returns the number of the line for errors, with the name of the file if there are several.
func (p place) String() string {
	if p.file == "" {
		return strconv.Itoa(p.line)
	}
	return fmt.Sprintf("%d of %s", p.line, p.file)
}

// plus returns the place that is some lines below.
func (p place) plus(lines int) place { return place{file: p.file, line: p.line + lines} }

// name returns the name of the example in errors.
func (e *Example) name() string { return fmt.Sprintf("line %s, %s", e.heading, e.kind) }

func (e *Example) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: %w", e.name(), fmt.Errorf(format, args...))
}

// hasValue reports whether a line with one of these keys has a value.
func (e *Example) hasValue(value string, keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return matches(value, e.values[key]) })
}

// fieldIn returns the field of the message whose value a text equals or contains, or "".
func (e *Example) fieldIn(text string) string {
	const distinctive = 5
	for _, concept := range fieldConcepts() {
		value := e.values[concept]
		isPart := len(value) >= distinctive && strings.Contains(text, strings.TrimPrefix(value, "+"))
		if matches(text, value) || isPart {
			return concept
		}
	}
	return ""
}

// locate finds the known values of an example in it, by concept.
func (e *Example) locate(leaves []leaf, concepts []string) (map[string]leaf, error) {
	found := map[string]leaf{}
	for _, concept := range concepts {
		if e.values[concept] == "" {
			continue
		}
		at, err := locate(leaves, concept, e.values[concept])
		if err != nil {
			return nil, e.errorf("%w", err)
		}
		found[concept] = at
	}
	return found, nil
}

// isSame reports whether a row or a report with this ID and this reference is the one in the example. The reference decides only if the example
// names no ID.
func (e *Example) isSame(id, reference string) bool {
	if known := e.values["id"]; known != "" {
		return id == known
	}
	return reference == e.values["reference"]
}
