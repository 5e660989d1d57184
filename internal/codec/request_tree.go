package codec

import (
	"strconv"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// bodyNode is a value in a JSON body: the value of a member, an object, or a list. The names recipient.name and recipient.numbers.0 make the
// object recipient with the children name and numbers, which is a list.
type bodyNode struct {
	key      string     // the name in the object around it, or the position in the list around it
	member   member     // whose value it is, unless it has children
	children []bodyNode // of an object or a list, in the order of the members
}

// treeOf returns the object that holds some members.
func treeOf(members []member) *bodyNode {
	object := &bodyNode{children: make([]bodyNode, 0, len(members))}
	for i := range members {
		m := &members[i]
		if m.isPath {
			object.addAt(m.name, m)
		} else {
			object.addLeaf(m.name, m)
		}
	}
	return object
}

// addAt adds a member at a path below the node.
func (n *bodyNode) addAt(path string, m *member) {
	key, rest, isNested := strings.Cut(path, ".")
	if isNested {
		n.branch(key).addAt(rest, m)
	} else {
		n.addLeaf(key, m)
	}
}

// addLeaf adds the value of a member. CheckNames has refused a contract with another value at the key.
func (n *bodyNode) addLeaf(key string, m *member) {
	n.children = append(n.children, bodyNode{key: key, member: *m})
}

// branch returns the object or the list at a key. If the node has none there, it adds one, which the caller must fill. The next addition to
// the node may move it.
func (n *bodyNode) branch(key string) *bodyNode {
	for i := range n.children {
		child := &n.children[i]
		if child.key == key && !child.isLeaf() {
			return child
		}
	}
	n.children = append(n.children, bodyNode{key: key})
	return &n.children[len(n.children)-1]
}

func (n *bodyNode) isLeaf() bool { return len(n.children) == 0 }

// isList reports whether the node is a list: its first key is a position.
func (n *bodyNode) isList() bool { return !n.isLeaf() && table.IsPosition(n.children[0].key) }

// appendTo writes the node as JSON.
func (n *bodyNode) appendTo(out []byte) []byte {
	switch {
	case n.isLeaf():
		return n.member.appendValue(out)
	case n.isList():
		return n.appendList(out)
	default:
		return n.appendObject(out)
	}
}

func (n *bodyNode) appendObject(out []byte) []byte {
	out = append(out, '{')
	for i := range n.children {
		child := &n.children[i]
		if i > 0 {
			out = append(out, ',')
		}
		out = appendKey(out, child.key)
		out = child.appendTo(out)
	}
	return append(out, '}')
}

func (n *bodyNode) appendList(out []byte) []byte {
	out = append(out, '[')
	for i, element := range n.elements() {
		if i > 0 {
			out = append(out, ',')
		}
		if element == nil {
			out = append(out, "null"...)
		} else {
			out = element.appendTo(out)
		}
	}
	return append(out, ']')
}

// elements returns the children of a list by their positions. A position without a child is nil: the message has no value for it.
func (n *bodyNode) elements() (elements []*bodyNode) {
	for i := range n.children {
		child := &n.children[i]
		position, _ := strconv.Atoi(child.key) // CheckNames has refused other keys in a list
		for len(elements) <= position {
			elements = append(elements, nil)
		}
		elements[position] = child
	}
	return elements
}
