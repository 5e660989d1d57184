package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// A node is a value in a JSON document, or nothing: reading what is absent, or of another type, gives the zero value.
type node struct{ value any }

func parseNode(raw []byte) node {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var n node
	if dec.Decode(&n.value) != nil {
		return node{}
	}
	return n
}

// at returns the node at a dotted path, in which a number is a place in a list.
func (n node) at(path string) node {
	for name := range strings.SplitSeq(path, ".") {
		switch v := n.value.(type) {
		case map[string]any:
			n = node{v[name]}
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(v) {
				return node{}
			}
			n = node{v[i]}
		default:
			return node{}
		}
	}
	return n
}

// text returns a string, number or boolean as text.
func (n node) text() string {
	switch v := n.value.(type) {
	case nil, map[string]any, []any:
		return ""
	default:
		return fmt.Sprint(v)
	}
}

func (n node) list() []node {
	values, _ := n.value.([]any)
	nodes := make([]node, len(values))
	for i, v := range values {
		nodes[i] = node{v}
	}
	return nodes
}

func (n node) object() map[string]any {
	o, _ := n.value.(map[string]any)
	return o
}

func (n node) exists() bool { return n.value != nil }

// indented returns the node as JSON for reading, or "".
func (n node) indented() string {
	if n.value == nil {
		return ""
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if enc.Encode(n.value) != nil {
		return ""
	}
	return strings.TrimSuffix(text.String(), "\n")
}
