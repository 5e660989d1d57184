package messagingtest

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// document is a JSON object. Its values are those of encoding/json, with a json.Number for a number.
type document = map[string]any

// readJSON reads one value. Unlike encoding/json, it refuses a name that comes twice, at any depth, and bytes that are not UTF-8.
func readJSON(text []byte) (value any, ok bool) {
	if !utf8.Valid(text) || !json.Valid(text) {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	return readValue(dec)
}

// readValue reads the next value, which is well-formed, and reports whether its names are distinct.
func readValue(dec *json.Decoder) (value any, ok bool) {
	value, _ = dec.Token()
	switch ok = true; value {
	case json.Delim('['):
		list := []any{}
		for ok && dec.More() {
			value, ok = readValue(dec)
			list = append(list, value)
		}
		_, _ = dec.Token()
		return list, ok
	case json.Delim('{'):
		members := document{}
		for ok && dec.More() {
			token, _ := dec.Token()
			name, _ := token.(string)
			_, twice := members[name]
			members[name], ok = readValue(dec)
			ok = ok && !twice
		}
		_, _ = dec.Token()
		return members, ok
	}
	return value, ok
}

func textIn(members document, name string) string {
	text, _ := members[name].(string)
	return text
}

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

// placeAll places values at the paths of their concepts, in the same order each time.
func placeAll(tree any, paths map[string][]string, values map[string]any) any {
	for _, concept := range slices.Sorted(maps.Keys(values)) {
		tree = placeFirst(tree, paths[concept], values[concept])
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

// plainText is a body that is not JSON.
type plainText string

func encode(v any) []byte {
	if text, ok := v.(plainText); ok {
		return []byte(text)
	}
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
