package messagingtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// object holds the members of a JSON object by their exact names.
type object map[string]json.RawMessage

// readObject reads a document that is one JSON object. Unlike encoding/json, it refuses a name that comes twice, at any
// depth, and bytes that are not UTF-8.
func readObject(document []byte) (object, error) {
	o := objectOf(document)
	dec := json.NewDecoder(bytes.NewReader(document))
	dec.UseNumber() // a number need not fit into a float64
	if o == nil || !utf8.Valid(document) || !hasDistinctNames(dec) {
		return nil, errors.New("the body is not one JSON object in UTF-8 with distinct names")
	}
	return o, nil
}

// hasDistinctNames reads the next value, which is well-formed.
func hasDistinctNames(dec *json.Decoder) bool {
	first, _ := dec.Token()
	open, nested := first.(json.Delim)
	seen := map[json.Token]bool{}
	for nested && dec.More() {
		if open == '{' {
			name, _ := dec.Token()
			if seen[name] {
				return false
			}
			seen[name] = true
		}
		if !hasDistinctNames(dec) {
			return false
		}
	}
	if nested {
		_, _ = dec.Token() // the closing delimiter
	}
	return true
}

// objectOf returns nil for what is not an object.
func objectOf(raw json.RawMessage) object {
	var o object
	if json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return o
}

// text returns the string of that name, or "".
func (o object) text(name string) string {
	text, _ := textOf(o[name])
	return text
}

// textOf returns a string and reports whether the value is one.
func textOf(raw json.RawMessage) (text string, ok bool) {
	ok = bytes.HasPrefix(raw, []byte{'"'}) && json.Unmarshal(raw, &text) == nil
	return text, ok
}

// document is a JSON object under construction.
type document map[string]any

// set puts a value at a dotted path.
func (d document) set(path string, value any) {
	name, rest, nested := strings.Cut(path, ".")
	if !nested {
		d[name] = value
		return
	}
	inner, ok := d[name].(document)
	if !ok {
		inner = document{}
		d[name] = inner
	}
	inner.set(rest, value)
}

func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic("messagingtest: " + err.Error()) // plain values, and raw JSON that was checked: a mistake in this package
	}
	return text
}
