package chatapp2

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// node is a value in JSON. One that is not written stands for what could be there, so that reading can tell an absent member from
// an unknown one.
type node struct {
	name    string // of a member, or the words of an element as text
	form    form
	nodes   []node // members or elements
	words   []word  // that tell an element of a set from the others
	value   any     // of a leaf
	place   *place  // whose options count
	text    bool    // a number is written as text
	written bool
}

type form int

const (
	leaf form = iota
	object
	list
	set // a list of elements that differ by their words, in any order
)

// child returns the member or element of a name, which is made if there is none.
func (n *node) child(f form, name string) *node {
	n.form = f
	for i := range n.nodes {
		if n.nodes[i].name == name {
			return &n.nodes[i]
		}
	}
	n.nodes = append(n.nodes, node{name: name})
	return &n.nodes[len(n.nodes)-1]
}

// addWords adds the words of a kind, or of an element with an index.
func (n *node) addWords(words []word, index int) {
	for i, w := range words {
		at := n
		for _, name := range w.path {
			at = at.child(object, name)
		}
		at.value, at.written = &words[i], true
		if w.text == "#" {
			at.value = int64(index)
		}
	}
}

// set makes the node a leaf, which is written if there is a value.
func (n *node) set(value any, present bool) {
	n.form, n.value, n.written = leaf, value, n.written || present
}

// encoder makes nodes of values.
type encoder struct {
	*schema

	all    bool // also of what is not written
	absent bool // nothing is written, also not what always is
	text   bool // numbers are written as text
}

// encode returns the node of a value.
func (s *schema) encode(v reflect.Value, all bool) *node {
	n := &node{written: true}
	encoder{schema: s, all: all}.fill(n, &s.anywhere, v)
	return n
}

// union encodes a value of a sealed interface into the object n. Nil, and a pointer, which is rejected elsewhere, are null.
func (e encoder) union(n *node, t reflect.Type, v reflect.Value) {
	for _, one := range e.unions[t] {
		if v.IsValid() && one.typ == v.Type() {
			n.form, n.written = object, true
			n.addWords(one.words, 0)
			e.put(n, one.place, one.place.steps, v)
			return
		}
	}
}

// put encodes a value at the steps of a place that are left.
func (e encoder) put(n *node, p *place, steps []step, v reflect.Value) {
	if len(steps) == 0 {
		e.fill(n, p, v)
		return
	}
	s := steps[0]
	if s.members != nil {
		for _, name := range s.members {
			n.child(object, name)
		}
		e.fill(n, p, v)
		return
	}
	child := n.child(object, s.name)
	child.written = child.written || s.always && !e.absent
	switch {
	case s.each:
		e.list(child, p, steps[1:], v, s.words)
	case s.list:
		element := child.child(set, s.key)
		element.written = element.written || s.always && !e.absent
		element.words = s.words
		element.addWords(s.words, 0)
		e.put(element, p, steps[1:], v)
		child.written = child.written || element.written
	default:
		e.put(child, p, steps[1:], v)
	}
	n.written = n.written || child.written
}

// list encodes the elements of a list, each at the steps that are left.
func (e encoder) list(n *node, p *place, steps []step, v reflect.Value, words []word) {
	n.form, n.nodes, n.written = list, make([]node, v.Len()), n.written || !v.IsNil()
	for i := range v.Len() {
		n.nodes[i].written = true
		n.nodes[i].addWords(words, i)
		e.put(&n.nodes[i], p, steps, v.Index(i))
	}
}

// fill encodes a value.
func (e encoder) fill(n *node, p *place, v reflect.Value) {
	e.text = e.text || p.text
	n.place, n.text = p, e.text
	switch v.Type() {
	case reflect.TypeFor[time.Time]():
		at := unix(v.Interface().(time.Time), p.milli)
		n.set(at, at != 0)
		return
	case reflect.TypeFor[time.Duration]():
		n.set(time.Duration(v.Int()).Minutes(), !v.IsZero())
		return
	case reflect.TypeFor[json.RawMessage]():
		n.set(v.Interface(), !v.IsNil())
		return
	}
	switch v.Kind() {
	case reflect.String:
		n.set(cmp.Or(v.String(), p.preset), !v.IsZero() || p.preset != "")
	case reflect.Bool:
		n.set(v.Bool(), v.Bool())
	case reflect.Int, reflect.Int64:
		n.set(v.Int(), !v.IsZero())
	case reflect.Float64:
		n.set(v.Float(), !v.IsZero())
	case reflect.Pointer:
		if !v.IsNil() {
			n.written = true
			e.fill(n, p, v.Elem())
		}
	case reflect.Interface:
		if v.NumMethod() > 0 {
			e.union(n, v.Type(), v.Elem())
		} else if !v.IsNil() {
			n.set(v.Interface(), true)
		}
	case reflect.Slice:
		e.list(n, p, nil, v, nil)
	case reflect.Map:
		n.form, n.written = object, n.written || !v.IsNil()
		texts := v.Interface().(map[string]string)
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			n.child(object, name).set(texts[name], true)
		}
	case reflect.Struct:
		e.object(n, v)
	default:
	}
}

// object encodes the fields of a struct.
func (e encoder) object(n *node, v reflect.Value) {
	n.form = object
	e.absent = e.absent || v.IsZero() && !n.written
	if first := e.first[v.Type()]; first != "" {
		n.child(object, first)
	}
	for _, f := range e.structs[v.Type()] {
		value := v.FieldByIndex(f.index)
		if !e.all && (value.IsZero() && !f.place.always || e.absent) {
			continue
		}
		e.put(n, f.place, f.place.steps, value)
	}
}

// unix returns a time as a Unix time, 0 for the zero time.
func unix(t time.Time, milli bool) int64 {
	switch {
	case t.IsZero():
		return 0
	case milli:
		return t.UnixMilli()
	default:
		return t.Unix()
	}
}

// writer writes JSON without the escapes that HTML needs.
type writer struct {
	bytes.Buffer

	err error // the first one
}

// value writes a value of any type, such as a node.
func (w *writer) value(value any) {
	switch v := value.(type) {
	case *node:
		w.node(v)
	case string:
		w.text(v)
	case *word:
		w.text(v.text)
	default:
		w.any(v)
	}
}

func (w *writer) node(n *node) {
	switch n.form {
	case object:
		w.nodes('{', n.nodes, '}')
	case list, set:
		w.nodes('[', n.nodes, ']')
	default:
		w.leaf(n)
	}
}

// leaf writes a leaf.
func (w *writer) leaf(n *node) {
	switch n.value.(type) {
	case int64, float64:
		if n.text {
			w.WriteByte('"')
			defer w.WriteByte('"')
		}
	}
	w.value(n.value)
}

func (w *writer) nodes(open byte, nodes []node, end byte) {
	w.WriteByte(open)
	first := true
	for i := range nodes {
		one := &nodes[i]
		if !one.written {
			continue
		}
		if !first {
			w.WriteByte(',')
		}
		first = false
		if open == '{' {
			w.text(one.name)
			w.WriteByte(':')
		}
		w.node(one)
	}
	w.WriteByte(end)
}

// text writes a text.
func (w *writer) text(text string) {
	if strings.ContainsFunc(text, needsEscape) {
		w.any(text)
		return
	}
	w.WriteByte('"')
	w.WriteString(text)
	w.WriteByte('"')
}

func needsEscape(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }

// any writes a value of any type.
func (w *writer) any(value any) {
	e := json.NewEncoder(&w.Buffer)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		w.err = cmp.Or(w.err, err)
		return
	}
	w.Truncate(w.Len() - 1) // the line break
}
