package messagingtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
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

// listOf returns nil for what is not an array.
func listOf(raw json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
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

// plainOf returns the text of a string, and anything else as it is.
func plainOf(raw json.RawMessage) string {
	if text, ok := textOf(raw); ok {
		return text
	}
	return string(raw)
}

// document is a JSON object under construction.
type document = map[string]any

// placeFirst places a value at the first of the paths that is free. An empty text is not placed, and neither is a value
// without a place.
func placeFirst(tree any, paths []string, value any) any {
	if value == "" {
		return tree
	}
	for _, path := range paths {
		if grown, ok := place(tree, path, value); ok {
			return grown
		}
	}
	return tree
}

// place returns a tree with a value at a dotted path, in which a number is the position in a list. It reports false, and
// leaves the tree as it is, if something else stands there or on the way. The empty path is the tree itself.
func place(tree any, path string, value any) (any, bool) {
	if path == "" {
		if tree != nil {
			return tree, false
		}
		return value, true
	}
	const longest = 100 // of a list; beyond, a number is a name
	name, rest, _ := strings.Cut(path, ".")
	list, isList := tree.([]any)
	members, isObject := tree.(document)
	index, err := strconv.Atoi(name)
	switch isPosition := err == nil && index >= 0 && index < longest; {
	case isPosition && (tree == nil || isList):
		list = append(list, make([]any, max(0, index+1-len(list)))...)
		element, ok := place(list[index], rest, value)
		if ok {
			list[index] = element
			tree = list
		}
		return tree, ok
	case tree == nil:
		members = document{}
	case !isObject:
		return tree, false
	}
	element, taken := members[name]
	if taken && element == nil {
		return tree, false // a null is a value
	}
	element, ok := place(element, rest, value)
	if ok {
		members[name] = element
		tree = members
	}
	return tree, ok
}

func encode(v any) []byte {
	text, err := json.Marshal(v)
	must(err == nil, "%v", err) // plain values, and raw JSON that was checked: a mistake in this package
	return text
}

// numberOrText returns a whole number as a number, without quotes, and any other text as it is. So a client shows whether it
// reads both.
func numberOrText(s string) any {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && strconv.FormatInt(n, 10) == s {
		return n
	}
	return s
}
