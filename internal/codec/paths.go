package codec

import (
	"slices"
	"strconv"
	"strings"
)

// paths is a set of places in a document, compiled into a tree so that one walk over an answer finds all of them.
// It never changes after its last want and is safe for concurrent use.
type paths struct {
	root   node
	leaves []leaf
}

// leaf is one place and what it is looked for. Of the leaves of a concept, the first in order that is present wins.
type leaf struct {
	concept concept
}

type node struct {
	names    []string // of the members, or the decimal numbers of elements
	children []*node  // beside names
	leaves   []int    // indices into paths.leaves that end here
	rows     int      // of a list: 1 where rows are looked for first, 2 where next, 0 where not at all
}

// value is what stands at a leaf: raw as in the document, where it begins at.
type value struct {
	kind kind
	raw  string
	at   int
}

func (v value) String() string {
	switch v.kind {
	case text, number, boolean:
		return v.raw
	case escapedText:
		return unquote(v.raw)
	default:
		return ""
	}
}

// scalar tells whether the value can serve where a word or a number is looked for.
func (v value) scalar() bool { return v.kind >= boolean && v.kind <= escapedText }

// want adds the places at which a concept may stand, the preferred one first.
func (p *paths) want(c concept, list []string) {
	for _, path := range list {
		at := p.place(path)
		at.leaves = append(at.leaves, len(p.leaves))
		p.leaves = append(p.leaves, leaf{concept: c})
	}
}

// place gives the node of a path, "" being the document itself.
func (p *paths) place(path string) *node {
	at := &p.root
	if path == "" {
		return at
	}
	for name := range strings.SplitSeq(path, ".") {
		at = at.grow(name)
	}
	return at
}

func (n *node) grow(name string) *node {
	if child := n.child(name); child != nil {
		return child
	}
	child := &node{}
	n.names, n.children = append(n.names, name), append(n.children, child)
	return child
}

func (n *node) child(name string) *node {
	if i := slices.Index(n.names, name); i >= 0 {
		return n.children[i]
	}
	return nil
}

// find walks the document once, checks all of it, and writes what stands at each leaf into found, which must be as
// long as the leaves. Where a name comes twice in an object the last one counts, as in encoding/json.
func (p *paths) find(doc string, found []value) error {
	return p.walk(&scanner{doc: doc}, found)
}

func (p *paths) walk(s *scanner, found []value) error {
	s.doc = strings.TrimPrefix(s.doc, "\ufeff")
	if err := s.walk(&p.root, found, 0); err != nil {
		return err
	}
	if s.space(); s.pos < len(s.doc) {
		return errSyntax
	}
	return nil
}

func (s *scanner) walk(n *node, found []value, depth int) error {
	c, err := s.peek()
	if err != nil {
		return err
	}
	start := s.pos
	v := value{at: start}
	switch {
	case c == '[' && n.rows > 0 && s.rows != nil:
		v.kind, err = array, s.rows.read(s, n.rows, depth)
	case c == '{' && len(n.children) > 0:
		v.kind, err = object, s.walkObject(n, found, depth)
	case c == '[' && len(n.children) > 0:
		v.kind, err = array, s.walkArray(n, found, depth)
	case c == '{':
		v.kind, err = object, s.skip(depth)
	case c == '[':
		v.kind, err = array, s.skip(depth)
	default:
		v.kind, v.raw, err = s.scalar(c)
	}
	if err != nil {
		return err
	}
	switch v.kind {
	case object, array:
		v.raw = s.doc[start:s.pos]
	case text:
		v.at++ // behind the quote
	default:
	}
	if n.rows > 0 && s.rows != nil && v.kind != array {
		s.rows.none(n.rows)
	}
	for _, i := range n.leaves {
		found[i] = v
	}
	return nil
}

// leaf reads a value that is no object and no array at a place where nothing lies deeper: the part of walk that most
// members of a row need.
func (s *scanner) leaf(n *node, found []value, c byte) (err error) {
	v := value{at: s.pos}
	if v.kind, v.raw, err = s.scalar(c); err != nil {
		return err
	}
	if v.kind == text {
		v.at++ // behind the quote
	}
	for _, i := range n.leaves {
		found[i] = v
	}
	return nil
}

func (s *scanner) walkObject(n *node, found []value, depth int) error {
	if depth >= maxDepth {
		return errDepth
	}
	s.pos++
	var seen uint64 // which of the first 64 children came; of the rest nothing is known
	done, err := s.empty('}')
	for more := !done; more && err == nil; {
		var name string
		if name, err = s.member(); err != nil {
			return err
		}
		if i := slices.Index(n.names, name); i >= 0 {
			child := n.children[i]
			if i >= 64 || seen&(1<<i) != 0 {
				child.forget(found)
			}
			seen |= 1 << i
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
	if depth >= maxDepth {
		return errDepth
	}
	s.pos++
	done, err := s.empty(']')
	for i, more := 0, !done; more && err == nil; i++ {
		if child := n.child(strconv.Itoa(i)); child != nil {
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
	for _, i := range n.leaves {
		found[i] = value{}
	}
	for _, child := range n.children {
		child.forget(found)
	}
}
