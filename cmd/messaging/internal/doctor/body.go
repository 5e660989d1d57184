package doctor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// The bounds of what is looked at. What is beyond them is passed over.
const (
	maxNodes   = 50_000 // values of a document
	maxDepth   = 24     // levels of a document
	maxColumns = 400    // members of the rows of a page
	maxRows    = 200    // rows of a page
)

// kind is the kind of a JSON value.
type kind byte

const (
	null kind = iota
	boolean
	number
	text
	list
	object
	passed // beyond the bounds
)

// node is a JSON value.
type node struct {
	kind     kind
	text     string // of a string, a number or a boolean
	members  []member
	elements []*node
}

type member struct {
	name  string
	value *node
}

var (
	errNothing = errors.New("the body is empty")
	errHTML    = errors.New("the body is HTML, not JSON")
	errNotJSON = errors.New("the body is not JSON")
)

// parse parses a body, which may be hostile.
func parse(body []byte) (*node, error) {
	body = bytes.TrimSpace(body)
	switch {
	case len(body) == 0:
		return nil, errNothing
	case body[0] == '<':
		return nil, errHTML
	}
	p := parser{Decoder: json.NewDecoder(bytes.NewReader(body)), left: maxNodes}
	p.UseNumber()
	n, err := p.value(0)
	if err == nil {
		if _, after := p.Token(); !errors.Is(after, io.EOF) {
			err = errNotJSON
		}
	}
	if err != nil {
		return nil, errNotJSON
	}
	return n, nil
}

type parser struct {
	*json.Decoder

	left int // how many values may still be kept
}

func (p *parser) value(depth int) (*node, error) {
	p.left--
	if depth > maxDepth || p.left < 0 {
		return &node{kind: passed}, p.Decode(new(json.RawMessage))
	}
	token, err := p.Token()
	if err != nil {
		return nil, err
	}
	switch v := token.(type) {
	case bool:
		return &node{kind: boolean, text: strconv.FormatBool(v)}, nil
	case json.Number:
		return &node{kind: number, text: v.String()}, nil
	case string:
		return &node{kind: text, text: v}, nil
	case json.Delim:
		return p.container(v, depth)
	}
	return &node{}, nil
}

func (p *parser) container(open json.Delim, depth int) (*node, error) {
	n := &node{kind: list}
	if open == '{' {
		n.kind = object
	}
	for p.More() {
		var name string
		if n.kind == object {
			token, err := p.Token()
			if err != nil {
				return nil, err
			}
			name, _ = token.(string)
		}
		value, err := p.value(depth + 1)
		switch {
		case err != nil:
			return nil, err
		case value.kind == passed:
		case n.kind == object:
			n.members = append(n.members, member{name, value})
		default:
			n.elements = append(n.elements, value)
		}
	}
	_, err := p.Token()
	return n, err
}

// at returns the value at a path, or nil. Of members with the same name the last counts.
func (n *node) at(path string) *node {
	if path == "" {
		return n
	}
	for part := range strings.SplitSeq(path, ".") {
		if n = n.child(part); n == nil {
			return nil
		}
	}
	return n
}

func (n *node) child(name string) *node {
	if n.kind == list {
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(n.elements) {
			return n.elements[i]
		}
		return nil
	}
	for _, m := range slices.Backward(n.members) {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// isFilled reports whether a value is there and says something.
func (n *node) isFilled() bool {
	return n != nil && n.kind != null && (n.kind != text || strings.TrimSpace(n.text) != "")
}

func (n *node) isScalar() bool { return n.kind == boolean || n.kind == number || n.kind == text }

// column is what stands at one path of all rows, or of one document.
type column struct {
	path   string
	values []*node // those that are filled
}

// columns returns the scalar members of documents that are alike, in the order in which they appear, and how many members have
// names that no path of a contract can hold. What is below skip is left out.
func columns(rows []*node, skip string) (found []column, unnameable int) {
	index := map[string]int{}
	var walk func(n *node, path string)
	walk = func(n *node, path string) {
		switch {
		case path != "" && path == skip:
			return
		case n.kind == object && len(n.members) > 0:
			for _, m := range n.members {
				if !isPlainName(m.name) {
					unnameable++
					continue
				}
				walk(m.value, strings.TrimPrefix(path+"."+m.name, "."))
			}
			return
		case n.kind == list:
			for i, element := range n.elements[:min(len(n.elements), 2)] {
				walk(element, strings.TrimPrefix(fmt.Sprint(path, ".", i), "."))
			}
			return
		}
		i, ok := index[path]
		if !ok {
			if len(found) == maxColumns || path == "" {
				return
			}
			i = len(found)
			index[path] = i
			found = append(found, column{path: path})
		}
		if n.isFilled() && n.isScalar() {
			found[i].values = append(found[i].values, n)
		}
	}
	for _, row := range rows[:min(len(rows), maxRows)] {
		walk(row, "")
	}
	return found, unnameable
}

// isPlainName reports whether a name is one that a programmer would give, which a path can hold and a report can show: a name may
// also be a number or a text.
func isPlainName(name string) bool {
	const longest, mostDigits = 40, 4
	digits := 0
	for _, r := range name {
		switch {
		case '0' <= r && r <= '9':
			digits++
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', strings.ContainsRune("_-@:", r):
		default:
			return false
		}
	}
	return name != "" && len(name) <= longest && digits <= mostDigits && (digits < len(name) || len(name) == 1)
}

// lists returns the paths of the lists of objects in a document, and of the empty lists.
func lists(doc *node) (filled, empty []string) {
	const deepest, most = 6, 50
	var walk func(n *node, path string, depth int)
	walk = func(n *node, path string, depth int) {
		switch {
		case depth > deepest || len(filled)+len(empty) >= most:
		case n.kind == list && len(n.elements) == 0:
			empty = append(empty, path)
		case n.kind == list && n.elements[0].kind == object:
			filled = append(filled, path)
			walk(n.elements[0], strings.TrimPrefix(path+".0", "."), depth+1)
		case n.kind == object:
			for _, m := range n.members {
				if isPlainName(m.name) {
					walk(m.value, strings.TrimPrefix(path+"."+m.name, "."), depth+1)
				}
			}
		}
	}
	walk(doc, "", 0)
	return filled, empty
}
