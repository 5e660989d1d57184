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
	token, _ := dec.Token()
	switch token {
	case json.Delim('['):
		return readArray(dec)
	case json.Delim('{'):
		return readObject(dec)
	default:
		return token, true
	}
}

func readArray(dec *json.Decoder) (list []any, ok bool) {
	list = []any{}
	for dec.More() {
		value, ok := readValue(dec)
		if !ok {
			return nil, false
		}
		list = append(list, value)
	}
	_, _ = dec.Token() // the end of the list
	return list, true
}

func readObject(dec *json.Decoder) (members document, ok bool) {
	members = document{}
	for dec.More() {
		token, _ := dec.Token()
		name, _ := token.(string)
		value, ok := readValue(dec)
		if _, isTaken := members[name]; isTaken || !ok {
			return nil, false
		}
		members[name] = value
	}
	_, _ = dec.Token() // the end of the object
	return members, true
}

func textIn(members document, name string) string {
	text, _ := members[name].(string)
	return text
}

// placeFirst places a value at the first of the paths that is free, if one is. An empty text is not placed.
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
// leaves the tree as it is, if another value is there or on the way. The empty path is the tree itself.
func place(tree any, path string, value any) (any, bool) {
	if path == "" {
		if tree != nil {
			return tree, false
		}
		return value, true
	}
	const longest = 100 // elements of a list; a larger number is a name
	name, rest, _ := strings.Cut(path, ".")
	index, err := strconv.Atoi(name)
	isPosition := err == nil && index >= 0 && index < longest
	list, isList := tree.([]any)
	if isPosition && (tree == nil || isList) {
		return placeInList(list, index, rest, value)
	}
	members, isObject := tree.(document)
	if tree == nil {
		members = document{}
		isObject = true
	}
	if !isObject {
		return tree, false
	}
	return placeInObject(members, name, rest, value)
}

func placeInList(list []any, index int, rest string, value any) (any, bool) {
	grown := append(list, make([]any, max(0, index+1-len(list)))...) //nolint:gocritic // the caller replaces its list
	element, ok := place(grown[index], rest, value)
	if !ok {
		return list, false
	}
	grown[index] = element
	return grown, true
}

func placeInObject(members document, name, rest string, value any) (any, bool) {
	element, isTaken := members[name]
	if isTaken && element == nil {
		return members, false // a null is a value
	}
	element, ok := place(element, rest, value)
	if ok {
		members[name] = element
	}
	return members, ok
}

// plainText is a body that is not JSON.
type plainText string

func encode(v any) []byte {
	if text, ok := v.(plainText); ok {
		return []byte(text)
	}
	text, err := json.Marshal(v)
	panicUnless(err == nil, "%v", err) // plain values, and raw JSON that was checked: it cannot fail
	return text
}

// numberOrText returns a whole number as a number, and any other text as it is, so that clients have to read both.
func numberOrText(s string) any {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && strconv.FormatInt(n, 10) == s {
		return n
	}
	return s
}
