package messagingtest

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// node is an object inside of a Meta-shaped message, with its path: the flaws that it finds say where they are.
type node struct {
	path string
	object
}

func (n node) name(member string) string { return n.path + "." + member }

func nodeOf(path string, raw json.RawMessage) (node, flaw) {
	if len(raw) == 0 {
		return node{}, flaw{codeMissing, path + " is absent"}
	}
	o, err := readObject(raw)
	if err != nil {
		return node{}, flaw{codeKind, path + " is not an object"}
	}
	n := node{path, o}
	for _, member := range slices.Sorted(maps.Keys(o)) {
		if string(o[member]) == "null" {
			return node{}, flaw{codeKind, n.name(strconv.QuoteToASCII(member)) + " is null"}
		}
	}
	return n, flaw{}
}

// child is an object that has to be there.
func (n node) child(member string) (node, flaw) { return nodeOf(n.name(member), n.object[member]) }

// children are the objects of an array that has to be there, and to hold something.
func (n node) children(member string) ([]node, flaw) {
	nodes, wrong := n.anyChildren(member)
	if !wrong.found() && len(nodes) == 0 {
		wrong = flaw{codeMissing, n.name(member) + " is absent or empty"}
	}
	return nodes, wrong
}

// anyChildren are the objects of an array that may be absent or empty.
func (n node) anyChildren(member string) ([]node, flaw) {
	raw, present := n.object[member]
	if !present {
		return nil, flaw{}
	}
	return nodesOf(n.name(member), raw)
}

func nodesOf(path string, raw json.RawMessage) ([]node, flaw) {
	var items []json.RawMessage
	if raw[0] != '[' || json.Unmarshal(raw, &items) != nil {
		return nil, flaw{codeKind, path + " is not an array"}
	}
	nodes := make([]node, len(items))
	for i, item := range items {
		var wrong flaw
		if nodes[i], wrong = nodeOf(path+"["+strconv.Itoa(i)+"]", item); wrong.found() {
			return nil, wrong
		}
	}
	return nodes, flaw{}
}

// need wants strings that are not empty.
func (n node) need(members ...string) flaw {
	for _, member := range members {
		raw, present := n.object[member]
		text, isString := textOf(raw)
		switch {
		case present && !isString:
			return flaw{codeKind, n.name(member) + " is not a string"}
		case text == "":
			return flaw{codeMissing, n.name(member) + " is absent or empty"}
		}
	}
	return flaw{}
}

// allow wants strings, if there is anything.
func (n node) allow(members ...string) flaw {
	for _, member := range members {
		if raw, present := n.object[member]; present {
			if _, isString := textOf(raw); !isString {
				return flaw{codeKind, n.name(member) + " is not a string"}
			}
		}
	}
	return flaw{}
}

// allowBool wants a truth value, if there is anything.
func (n node) allowBool(member string) flaw {
	if raw, present := n.object[member]; present && !isBool(raw) {
		return flaw{codeKind, n.name(member) + " is neither true nor false"}
	}
	return flaw{}
}

func isBool(raw json.RawMessage) bool { return string(raw) == "true" || string(raw) == "false" }
