package jsonscan

import (
	"bytes"
	"strconv"
	"strings"
)

// Paths is a set of paths into a document. They are a tree, so that one walk finds the values of all. A path consists of the names of members
// and the numbers of elements, with dots between them; "" is the document itself. The zero value has no paths. Once all paths were added,
// many goroutines may use it at once.
//
// The first of several members with one name counts: text of a user that breaks out of a string can only add later ones.
type Paths struct {
	Root   Node
	nodes  int   // without Root
	wanted []int // slots
}

// A Node is where a path ends, or a part of the way to it. It belongs to its Paths.
type Node struct {
	Name     string // of a member, or the number of an element
	Slot     int
	IsWanted bool // a path ends here
	Children []Node

	list int // its number in AddList, counted from 1; 0 for none
}

// Unknown is the node of a value on no path.
var Unknown = new(Node) //nolint:gochecknoglobals // never written

// Add adds paths, and returns the slots of their values.
func (p *Paths) Add(list ...string) []int {
	slots := make([]int, len(list))
	for i, path := range list {
		n := p.grow(path)
		if !n.IsWanted {
			n.IsWanted = true
			p.wanted = append(p.wanted, n.Slot)
		}
		slots[i] = n.Slot
	}
	return slots
}

// AddList adds the path of a list that a [Walker] passes to its List function, with a number. The first list at a path counts.
func (p *Paths) AddList(path string, number int) {
	if n := p.grow(path); n.list == 0 {
		n.list = number + 1
	}
}

// grow returns the node of a path, and makes the nodes that are missing. The next call may move it.
func (p *Paths) grow(path string) *Node {
	n := &p.Root
	if path == "" {
		return n
	}
	for name := range strings.SplitSeq(path, ".") {
		child := n.Child([]byte(name))
		if child == Unknown {
			p.nodes++
			n.Children = append(n.Children, Node{Name: name, Slot: p.nodes})
			child = &n.Children[len(n.Children)-1]
		}
		n = child
	}
	return n
}

// At returns the node of a path, which must have been added or lead to one that was. Adding another path may move it.
func (p *Paths) At(path string) *Node {
	n := &p.Root
	if path == "" {
		return n
	}
	for name := range strings.SplitSeq(path, ".") {
		n = n.Child([]byte(name))
		if n == Unknown {
			panic("jsonscan: the path was not added: " + path)
		}
	}
	return n
}

// Slots returns the slots of a node and of all nodes below it.
func (n *Node) Slots() []int {
	slots := []int{n.Slot}
	for i := range n.Children {
		slots = append(slots, n.Children[i].Slots()...)
	}
	return slots
}

// Size returns how many slots there are. The first is that of the document itself.
func (p *Paths) Size() int { return p.nodes + 1 }

// Child returns the node of a member or an element, or Unknown.
func (n *Node) Child(name []byte) *Node {
	for i := range n.Children {
		if n.Children[i].Name == string(name) {
			return &n.Children[i]
		}
	}
	return Unknown
}

// A Walker walks over a document once, and finds the values at paths.
type Walker struct {
	Scanner

	// List reads a list that was added by AddList. It may be nil if no list was added.
	List func(number int)
	// Repeats reports whether a member on a path came twice in its object, and Differs whether its values differed.
	Repeats, Differs bool
}

// NewWalker returns a Walker at the beginning of a document.
func NewWalker(doc []byte) *Walker { return &Walker{Scanner: Scanner{Doc: doc}} }

// Find walks over a document, and checks all of it. It returns the value at each slot. It reuses found if it is long enough.
func (p *Paths) Find(w *Walker, found []Value) ([]Value, error) {
	if size := p.Size(); cap(found) < size {
		found = make([]Value, size)
	} else {
		found = found[:size]
		clear(found)
	}
	w.readNode(&p.Root, found)
	return found, w.End()
}

// readNode reads the value at a node.
func (w *Walker) readNode(n *Node, found []Value) {
	c := w.Peek()
	v := Value{Start: w.Pos}
	switch c {
	case '{':
		v.Kind = Object
		for more := w.Open('}'); more; more = w.Next('}') {
			w.Walk(n.Child(w.Name()), found)
		}
		v.End = w.Pos
	case '[':
		v.Kind = List
		if n.list > 0 {
			w.List(n.list - 1)
		} else {
			w.readElements(n, found)
		}
		v.End = w.Pos
	default:
		v = w.Scalar(c)
	}
	found[n.Slot] = v
}

func (w *Walker) readElements(n *Node, found []Value) {
	var digits [20]byte
	index := int64(0)
	for more := w.Open(']'); more; more = w.Next(']') {
		w.Walk(n.Child(strconv.AppendInt(digits[:0], index, 10)), found)
		index++
	}
}

// Walk reads the value of a member or an element. It only checks a member that comes again.
func (w *Walker) Walk(n *Node, found []Value) {
	switch {
	case n == Unknown:
		w.Skip()
	case found[n.Slot].Kind == Absent:
		w.readNode(n, found)
	default:
		first := found[n.Slot].Raw(w.Doc)
		second := w.skipped()
		w.Repeats = true
		w.Differs = w.Differs || !bytes.Equal(first, second)
	}
}

// Element reads the next element of a list as the value of a node, whose slots must be empty.
func (w *Walker) Element(n *Node, found []Value) { w.readNode(n, found) }

// Wanted returns the slots of the paths.
func (p *Paths) Wanted() []int { return p.wanted }

// Text copies the values that were found in a document, and changes them to refer to the copy.
func (p *Paths) Text(doc []byte, found []Value) string { return Text(doc, found, p.wanted) }

// Text is [Paths.Text] for the values in some slots.
func Text(doc []byte, found []Value, slots []int) string {
	size := 0
	for _, slot := range slots {
		size += found[slot].End - found[slot].Start
	}
	var text strings.Builder
	text.Grow(size)
	for _, slot := range slots {
		v := &found[slot]
		start := text.Len()
		text.Write(doc[v.Start:v.End])
		v.Start, v.End = start, text.Len()
	}
	return text.String()
}
