// Package document reads JSON documents of unknown shape.
package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A Node is a value in a JSON document, or nothing. Reading an absent value, or one of another type, returns the zero value.
type Node struct {
	Value any // as encoding/json decodes it, with numbers as json.Number
}

// Parse returns the document, or nothing if raw is not JSON. The last of several members with the same name counts.
func Parse(raw []byte) Node {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var n Node
	err := dec.Decode(&n.Value)
	if _, end := dec.Token(); err != nil || !errors.Is(end, io.EOF) {
		return Node{}
	}
	return n
}

// At returns the node at a dotted path, in which a number is an index in a list. The empty path is the node itself.
func (n Node) At(path string) Node {
	if path == "" {
		return n
	}
	for name := range strings.SplitSeq(path, ".") {
		switch v := n.Value.(type) {
		case map[string]any:
			n = Node{v[name]}
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(v) {
				return Node{}
			}
			n = Node{v[i]}
		default:
			return Node{}
		}
	}
	return n
}

// Text returns a string, number or boolean as text.
func (n Node) Text() string {
	switch v := n.Value.(type) {
	case nil, map[string]any, []any:
		return ""
	default:
		return fmt.Sprint(v)
	}
}

// List returns the elements of a list.
func (n Node) List() []Node {
	values, _ := n.Value.([]any)
	nodes := make([]Node, len(values))
	for i, v := range values {
		nodes[i] = Node{v}
	}
	return nodes
}

// IsList reports whether the node is a list.
func (n Node) IsList() bool {
	_, ok := n.Value.([]any)
	return ok
}

// Object returns the members of an object.
func (n Node) Object() map[string]any {
	o, _ := n.Value.(map[string]any)
	return o
}

// Exists reports whether there is a value, other than null.
func (n Node) Exists() bool { return n.Value != nil }

// Indented returns the node as JSON for reading, or "".
func (n Node) Indented() string {
	if n.Value == nil {
		return ""
	}
	return encoded(n.Value, "  ")
}

// Encode returns a plain value as JSON in one line, without escapes for HTML.
func Encode(value any) string { return encoded(value, "") }

func encoded(value any, indent string) string {
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if enc.Encode(value) != nil {
		return "" // never: the value is plain
	}
	return strings.TrimSuffix(text.String(), "\n")
}
