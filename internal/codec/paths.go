package codec

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

// value is a value in a document.
type value = jsonscan.Value

// paths is a set of places in a document, compiled into a tree so that one walk finds all of them. It never changes once it is
// compiled.
type paths struct {
	root   node
	slots  int              // how many nodes there are
	places map[string][]int // by concept, the slots of its values in the order of preference
}

// node is a place, or on the way to one.
type node struct {
	name     string // of a member, or the number of an element
	children []node
	slot     int  // of the value that stands here
	wanted   bool // the value is wanted, and not only what is within it
	rows     int  // which list of rows is looked for here, counted from 1; 0 if none is
}

// isLeaf reports whether the value at a place is wanted, and nothing within it.
func (n *node) isLeaf() bool { return n.wanted && len(n.children) == 0 }

// document is the slot of the document itself.
const document = 0

// unwanted is the place of a value that is only checked.
var unwanted = new(node) //nolint:gochecknoglobals // never written

// compilePaths compiles lists of paths by concept, each in the order of preference.
func compilePaths(lists map[string][]string) paths {
	p := paths{places: make(map[string][]int, len(lists)), slots: 1}
	for concept, list := range lists {
		p.places[concept] = p.add(list)
	}
	return p
}

// add adds paths, and returns the slots of their values.
func (p *paths) add(list []string) []int {
	slots := make([]int, len(list))
	for i, path := range list {
		n := p.root.grow(path, &p.slots)
		n.wanted = true
		slots[i] = n.slot
	}
	return slots
}

// grow returns the node of a path, which is "" for n itself, and makes the nodes that are missing, each with the next slot. The next
// call may move it.
func (n *node) grow(path string, slots *int) *node {
	if path == "" {
		return n
	}
	for name := range strings.SplitSeq(path, ".") {
		child := n.find([]byte(name))
		if child == unwanted {
			n.children = append(n.children, node{name: name, slot: *slots})
			*slots++
			child = &n.children[len(n.children)-1]
		}
		n = child
	}
	return n
}

// find returns the node of a member or an element, or unwanted.
func (n *node) find(name []byte) *node {
	for i := range n.children {
		if n.children[i].name == string(name) {
			return &n.children[i]
		}
	}
	return unwanted
}

// shortest is the length of a document, in bytes, below which it is copied whole: what was found in it may keep it alive.
const shortest = 512

// find walks over a document, which may begin with a byte order mark, and checks all of it. It returns the value at each slot, in found
// if that is long enough, the text that those values are in, and whether a member that is wanted, or on the way to one, came twice in
// its object. The last of them counts, as in encoding/json. Rows are read by a reader.
func (p *paths) find(doc []byte, rows *rowReader, found []value) (text string, values []value, repeats bool, err error) {
	found = slices.Grow(found, p.slots)[:p.slots]
	s := scanner{Scanner: jsonscan.Scanner{Doc: withoutMark(doc)}, rows: rows}
	s.walk(&p.root, found)
	if err := s.End(); err != nil {
		return "", found, false, err
	}
	if len(s.Doc) <= shortest {
		return string(s.Doc), found, s.repeats, nil
	}
	return textOf(s.Doc, found), found, s.repeats, nil
}

// withoutMark returns a document without the byte order mark that it may begin with.
func withoutMark(doc []byte) []byte { return bytes.TrimPrefix(doc, []byte("\ufeff")) }

// textOf copies what was found in a document, which may be a small part of it, and moves the values into the copy.
func textOf(doc []byte, found []value) string {
	size := 0
	for _, v := range found {
		size += v.End - v.Start
	}
	var text strings.Builder
	text.Grow(size)
	for i := range found {
		v := &found[i]
		if v.Start == v.End {
			v.Start, v.End = 0, 0 // as most are
			continue
		}
		start := text.Len()
		text.Write(doc[v.Start:v.End])
		v.Start, v.End = start, text.Len()
	}
	return text.String()
}

// scanner walks over a document.
type scanner struct {
	jsonscan.Scanner

	rows    *rowReader // nil if the places have no rows
	repeats bool       // a member of a known name came twice
}

// walk reads the value at a place.
func (s *scanner) walk(n *node, found []value) {
	if n == unwanted {
		s.Skip()
		return
	}
	c := s.Peek()
	v := value{Start: s.Pos}
	switch c {
	case '{':
		v.Kind = jsonscan.Object
		for more := s.Open('}'); more; more = s.Next('}') {
			s.walkChild(n.find(s.Name()), found)
		}
		v.End = s.Pos
	case '[':
		v.Kind = jsonscan.List
		if n.rows > 0 {
			s.rows.read(s, n.rows-1)
		} else {
			s.walkElements(n, found)
		}
		v.End = s.Pos
	default:
		v = s.Scalar(c)
	}
	if !n.wanted {
		v.Start, v.End = 0, 0 // nothing of it is copied
	}
	found[n.slot] = v
}

func (s *scanner) walkElements(n *node, found []value) {
	var digits [20]byte
	index := int64(0)
	for more := s.Open(']'); more; more = s.Next(']') {
		s.walkChild(n.find(strconv.AppendInt(digits[:0], index, 10)), found)
		index++
	}
}

// walkChild reads the value at a place within another.
func (s *scanner) walkChild(n *node, found []value) {
	if n != unwanted && found[n.slot].Kind != jsonscan.Absent {
		s.repeats = true
		n.forget(found)
	}
	s.walk(n, found)
}

// forget drops what an earlier member of the same name brought. What stands at the node itself is overwritten.
func (n *node) forget(found []value) {
	for i := range n.children {
		child := &n.children[i]
		found[child.slot] = value{}
		child.forget(found)
	}
}

// pick returns the first value at the slots that is wanted, and what it says in the text that the values are in.
func pick(text string, found []value, slots []int, isWanted func(v value, word string) bool) (value, string) {
	for _, slot := range slots {
		v := found[slot]
		if word := v.Word(text); isWanted(v, word) {
			return v, word
		}
	}
	return value{}, ""
}

// first returns the first word at the slots that is not empty, or "".
func first(text string, found []value, slots []int) string {
	for _, slot := range slots {
		if word := found[slot].Word(text); word != "" {
			return word
		}
	}
	return ""
}
