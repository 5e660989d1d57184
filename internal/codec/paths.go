package codec

import (
	"bytes"
	"strconv"
	"strings"
)

// paths is a set of places in a document, compiled into a tree so that one walk finds all of them. It never changes once it is
// compiled.
type paths struct {
	root   node
	slots  int    // how many places there are
	wanted []want // in the order of the concepts, and for each in the order of preference
}

// want is a place at which a concept may stand.
type want struct{ concept, slot int }

// node is a place, or on the way to one.
type node struct {
	children map[string]*node // by the name of a member or the number of an element
	slot     int              // of the value that stands here, counted from 1; 0 if nobody wants it
	rows     int              // how late the rows of a listing are looked for here, counted from 1; 0 if they are not
}

// want adds the places at which a concept may stand, in the order of preference.
func (p *paths) want(concept int, list []string) {
	for _, path := range list {
		n := p.place(path)
		if n.slot == 0 {
			p.slots++
			n.slot = p.slots
		}
		p.wanted = append(p.wanted, want{concept, n.slot - 1})
	}
}

// place returns the node of a path. The path "" is the document.
func (p *paths) place(path string) *node {
	n := &p.root
	if path == "" {
		return n
	}
	for name := range strings.SplitSeq(path, ".") {
		child := n.children[name]
		if child == nil {
			child = &node{}
			if n.children == nil {
				n.children = map[string]*node{}
			}
			n.children[name] = child
		}
		n = child
	}
	return n
}

// find walks over a document, checks all of it, and writes the value at each slot into found. If a name comes twice in an
// object the last one counts, as in encoding/json.
func (p *paths) find(s *scanner, found []value) error {
	s.doc = bytes.TrimPrefix(s.doc, []byte("\ufeff"))
	if err := s.walk(&p.root, found, 0); err != nil {
		return err
	}
	if _, err := s.peek(); err == nil {
		return errSyntax // text behind the document
	}
	return nil
}

// walk reads the value at a place.
func (s *scanner) walk(n *node, found []value, depth int) error {
	c, err := s.peek()
	if err != nil {
		return err
	}
	v := value{at: s.pos}
	rows := s.rows != nil && n.rows > 0
	switch {
	case c == '[' && rows:
		v.kind, err = array, s.rows.read(s, n.rows, depth)
	case c == '{' && n.children != nil:
		v.kind, err = object, s.walkObject(n, found, depth)
	case c == '[' && n.children != nil:
		v.kind, err = array, s.walkArray(n, found, depth)
	case c == '{':
		v.kind, err = object, s.skip(depth)
	case c == '[':
		v.kind, err = array, s.skip(depth)
	default:
		v, err = s.scalar(c)
	}
	if err != nil {
		return err
	}
	if !v.scalar() {
		v.raw = s.doc[v.at:s.pos]
	}
	if rows && v.kind != array {
		s.rows.none(n.rows)
	}
	if n.slot > 0 {
		found[n.slot-1] = v
	}
	return nil
}

func (s *scanner) walkObject(n *node, found []value, depth int) error {
	more, err := s.open('}', depth)
	for more && err == nil {
		var name []byte
		if name, _, err = s.member(); err != nil {
			return err
		}
		if child := n.children[string(name)]; child != nil {
			child.forget(found)
			err = s.walk(child, found, depth+1)
		} else {
			err = s.skip(depth + 1)
		}
		if err != nil {
			return err
		}
		more, err = s.next('}')
	}
	return err
}

func (s *scanner) walkArray(n *node, found []value, depth int) error {
	more, err := s.open(']', depth)
	var index [20]byte
	for i := 0; more && err == nil; i++ {
		if child := n.children[string(strconv.AppendInt(index[:0], int64(i), 10))]; child != nil {
			err = s.walk(child, found, depth+1)
		} else {
			err = s.skip(depth + 1)
		}
		if err != nil {
			return err
		}
		more, err = s.next(']')
	}
	return err
}

// forget drops what an earlier member of the same name brought.
func (n *node) forget(found []value) {
	if n.slot > 0 {
		found[n.slot-1] = value{}
	}
	for _, child := range n.children {
		child.forget(found)
	}
}
