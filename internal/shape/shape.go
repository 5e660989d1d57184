package shape

import (
	"reflect"
	"time"
)

// Place says how an object holds a type of a sealed interface. Words, such as "type=flow action.name=flow", distinguish the type. Path is the
// path of its value, like a tag. The type without words holds what fits no other.
type Place struct{ Words, Path string }

// Shapes holds the shapes of all structs, and of the types of each sealed interface. Once compiled it is never written, and safe for
// concurrent use.
type Shapes struct {
	structs    map[reflect.Type]shape
	fields     map[reflect.Type][]field
	unions     map[reflect.Type]union
	incomplete map[reflect.Type]bool // the structs whose objects lack fields; empty once compiled
}

// field is a field of a struct with a tag.
type field struct {
	name  string
	index []int
	rules []rule

	// How it is written.
	typ     reflect.Type
	value   *leaf
	path    []segment // in the object of the struct, or empty
	isWhole bool      // it is the whole JSON of the struct
}

// union has the types of a sealed interface.
type union struct {
	variants []variant // whose objects have words
	rawType  reflect.Type
	raw      shape // nil if there is no raw type
}

type variant struct {
	typ    reflect.Type
	object *object
}

// A shape describes how a Go value is encoded as one JSON value. There is one type for each construct of a path. A shape is given the
// whole struct that it belongs to, and reads the field at its index.
type shape interface {
	// isZero reports whether the JSON value would hold nothing but zero values. It is then left out, unless it must always be written.
	isZero(v reflect.Value) bool
	// write writes the JSON value. The position is that of the list element that is written or read.
	write(w *Writer, v reflect.Value, position int)
	// read reads the JSON value, which is not null, into a Go value.
	read(r reader, value any, to reflect.Value, position int) Fit
}

// leaf is the value of a field, written as its Go type.
type leaf struct {
	index  []int  // of the field; nil is the whole value
	text   bool   // numbers are written as text
	preset string // is written in place of an empty text
}

// object is a JSON object of words, which are constant, and of members with values.
type object struct {
	words []word
	parts []part
}

// word is a member of an object with a constant text, or "#" for the position of the list element that the object is.
type word struct{ name, text string }

// part is one member of an object, or the members that belong to one sealed interface.
type part interface {
	has(name string) bool
	isZero(v reflect.Value) bool
	write(w *Writer, v reflect.Value, position int)
	read(r reader, members map[string]any, to reflect.Value, position int) Fit
}

// member is a member of an object.
type member struct {
	name   string
	always bool // it is written even if it is zero, and required when it is read
	shape  shape
}

// choice is a sealed interface whose value has members in the object that holds it: type&action.
type choice struct {
	index []int // of the field
	names []string
}

// single is a list with one element, the value: parameters[].
type single struct{ value *leaf }

// set is a list of objects that differ by their words, in any order: parameters[type=ttl].
type set struct{ elements []*element }

type element struct {
	words  string
	always bool // as of a member
	object *object
}

// list is a list with an object for each element of the value: buttons[each type=reply].
type list struct {
	index  []int // of the field; nil is the whole value
	object *object
}

// valueAt returns the field with an index, or v itself if index is nil.
func valueAt(v reflect.Value, index []int) reflect.Value {
	if index == nil {
		return v
	}
	return v.FieldByIndex(index)
}

func (l *leaf) isZero(v reflect.Value) bool {
	value := valueAt(v, l.index)
	if at, ok := reflect.TypeAssert[time.Time](value); ok {
		return at.IsZero()
	}
	return value.IsZero()
}

// isZero does not count words, which are written only together with a value.
func (o *object) isZero(v reflect.Value) bool {
	for _, p := range o.parts {
		if !p.isZero(v) {
			return false
		}
	}
	return true
}

func (m *member) isZero(v reflect.Value) bool { return !m.always && m.shape.isZero(v) }

// A choice is never zero: the object that holds it is written even if the sealed interface is nil.
func (*choice) isZero(reflect.Value) bool { return false }

func (s *single) isZero(v reflect.Value) bool { return s.value.isZero(v) }

func (s *set) isZero(v reflect.Value) bool {
	for _, e := range s.elements {
		if !e.isZero(v) {
			return false
		}
	}
	return true
}

func (e *element) isZero(v reflect.Value) bool { return !e.always && e.object.isZero(v) }

func (l *list) isZero(v reflect.Value) bool { return valueAt(v, l.index).IsZero() }

// variantOf returns the shape of a value of a sealed interface. It is nil for nil and for pointers, which cannot be sent.
func (s *Shapes) variantOf(t reflect.Type, v reflect.Value) shape {
	if !v.IsValid() {
		return nil
	}
	u := s.unions[t]
	for _, variant := range u.variants {
		if variant.typ == v.Type() {
			return variant.object
		}
	}
	if v.Type() == u.rawType {
		return u.raw
	}
	return nil
}

// IsValue reports whether a sealed interface holds a value that can be written: not nil, not a pointer, and not a struct that only embeds one
// of the types.
func (s *Shapes) IsValue(v any) bool {
	if v == nil {
		return false
	}
	t := reflect.TypeOf(v)
	switch t.Kind() {
	case reflect.Pointer:
		return false
	case reflect.Struct:
		return s.structs[t] != nil
	default:
		return true
	}
}
