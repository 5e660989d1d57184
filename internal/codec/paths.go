package codec

import (
	"strconv"
	"strings"
)

// paths is a set of places in a document, compiled into a tree so that one walk finds all of them. It never changes once it is
// compiled.
type paths struct {
	root   node
	slots  int    // how many places are wanted
	wanted []want // in the order of the concepts, and for each in the order of preference
}

// want is a place at which a concept may stand.
type want struct{ concept, slot int }

// node is a place, or on the way to one.
type node struct {
	name        string // of a member, or the number of an element
	child, next *node  // the first node below, and the next one beside
	slot        int    // of the value that stands here, counted from 1; 0 if it is not wanted
	rows        int    // how late the rows of a listing are looked for here, counted from 1; 0 if they are not
}

// compilePaths compiles lists of paths by concept, each in the order of preference, and the paths at which the rows of a listing
// may stand.
func compilePaths(lists [][]string, rows []string) paths {
	var p paths
	wanted, nodes := 0, 0
	for _, list := range append(lists, rows) {
		wanted += len(list)
		for _, path := range list {
			nodes += strings.Count(path, ".") + 1
		}
	}
	p.wanted = make([]want, 0, wanted)
	memory := make([]node, nodes)
	for concept, list := range lists {
		for _, path := range list {
			n := p.root.grow(path, &memory)
			if n.slot == 0 {
				p.slots++
				n.slot = p.slots
			}
			p.wanted = append(p.wanted, want{concept, n.slot - 1})
		}
	}
	for i, path := range rows {
		if n := p.root.grow(path, &memory); n.rows == 0 {
			n.rows = i + 1
		}
	}
	return p
}

// grow returns the node of a path, which is "" for n itself. It takes the nodes that are missing from memory.
func (n *node) grow(path string, memory *[]node) *node {
	if path == "" {
		return n
	}
	for name := range strings.SplitSeq(path, ".") {
		child := n.find([]byte(name))
		if child == nil {
			child = &(*memory)[0]
			*memory = (*memory)[1:]
			child.name, child.next = name, n.child
			n.child = child
		}
		n = child
	}
	return n
}

// find returns the node of a member or an element, or nil.
func (n *node) find(name []byte) *node {
	for child := n.child; child != nil; child = child.next {
		if child.name == string(name) {
			return child
		}
	}
	return nil
}

// find walks over a document, checks all of it, and writes the value at each slot into found. If a name comes twice in an
// object the last one counts, as in encoding/json.
func (p *paths) find(s *scanner, found []value) error {
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
	v := value{start: s.pos}
	rows := s.rows != nil && n.rows > 0
	switch {
	case c == '[' && rows:
		v.kind, err = array, s.rows.read(s, n.rows, depth)
	case c == '{' && n.child != nil:
		v.kind, err = object, s.walkObject(n, found, depth)
	case c == '[' && n.child != nil:
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
	if v.kind >= object {
		v.end = s.pos
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
		if child := n.find(name); child != nil {
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
		if child := n.find(strconv.AppendInt(index[:0], int64(i), 10)); child != nil {
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

// forget drops what an earlier member of the same name brought. What stands at the node itself is overwritten.
func (n *node) forget(found []value) {
	for child := n.child; child != nil; child = child.next {
		if child.slot > 0 {
			found[child.slot-1] = value{}
		}
		child.forget(found)
	}
}
