package shape

import (
	"reflect"
	"slices"
	"strings"
	"time"
)

// New compiles the types of these values, and all that they hold. It panics if a tag is not as the package documentation says.
func New(values ...any) *Shapes {
	s := &Shapes{
		structs: map[reflect.Type]shape{},
		fields:  map[reflect.Type][]field{},
		unions:  map[reflect.Type]union{},
		filling: map[reflect.Type]bool{},
	}
	for _, v := range values {
		s.add(reflect.TypeOf(v))
	}
	return s
}

// AddUnion adds a sealed interface, given a value of each of its types.
func AddUnion[T any](s *Shapes, placeOf func(T) Place, values ...T) {
	var u union
	for _, v := range values {
		t := reflect.TypeOf(v)
		s.add(t)
		place := placeOf(v)
		if place.Words == "" {
			u.rawType = t
			u.raw = s.structOf(t)
			continue
		}
		path, options, _ := strings.Cut(place.Path, ",")
		value, found := parseOptions(t.String(), options, t)
		if len(found) > 0 {
			panic("shape: the Place of " + t.String() + " has a rule, which only a field can have: " + options)
		}
		u.variants = append(u.variants, variant{typ: t, object: s.objectWith(place.Words, parsePath(path), value, t)})
	}
	s.unions[reflect.TypeFor[T]()] = u
}

// add adds the struct that a type leads to. Structs may hold one another, so its shape is in structs before the structs that it holds are added.
// Its object is filled after theirs.
func (s *Shapes) add(t reflect.Type) {
	t = elemOf(t)
	if !isStruct(t) || s.structs[t] != nil {
		return
	}
	fields := parseFields(t)
	s.fields[t] = fields
	s.structs[t] = shapeOf(fields)
	s.filling[t] = true
	for _, f := range fields {
		s.add(f.typ)
	}
	s.fillObject(t)
	delete(s.filling, t)
}

// fillObject puts the fields of a struct into its object, if it has one.
func (s *Shapes) fillObject(t reflect.Type) {
	o, isObject := s.structs[t].(*object)
	if !isObject {
		return
	}
	for _, f := range s.fields[t] {
		if len(f.path) > 0 {
			placement{shapes: s, value: f.value, typ: f.typ}.put(o, f.path)
		}
	}
}

// structOf returns the shape of a struct, or of the structs in a list or behind a pointer. It is nil for other types.
func (s *Shapes) structOf(t reflect.Type) shape { return s.structs[elemOf(t)] }

// elemOf returns the type that lists and pointers of type t lead to, or t itself.
func elemOf(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

func isStruct(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]()
}

// shapeOf returns the shape of a struct: the value of the field that is the whole JSON, or an empty object.
func shapeOf(fields []field) shape {
	for _, f := range fields {
		if f.isWhole {
			return f.value
		}
	}
	return new(object)
}

// parseFields parses the tags of a struct.
func parseFields(t reflect.Type) (fields []field) {
	for _, f := range reflect.VisibleFields(t) {
		tag, hasTag := f.Tag.Lookup("at")
		switch {
		case hasTag:
			fields = append(fields, parseField(t, f, tag))
		case f.IsExported() && !f.Anonymous:
			panic("shape: " + t.String() + "." + f.Name + " has no tag: at")
		}
	}
	return fields
}

func parseField(t reflect.Type, f reflect.StructField, tag string) field {
	path, options, _ := strings.Cut(tag, ",")
	value, found := parseOptions(t.String()+"."+f.Name, options, f.Type)
	value.index = f.Index
	parsed := field{name: f.Name, index: f.Index, rules: found, typ: f.Type, value: value, isWhole: path == ""}
	if path != "-" {
		parsed.path = parsePath(path)
	}
	return parsed
}

// objectWith returns an object that has words, and a value of type t at a path. Without a path, the members of the value are members of the
// object.
func (s *Shapes) objectWith(words string, path []segment, value *leaf, t reflect.Type) *object {
	o := new(object)
	o.addWords(words)
	if len(path) > 0 {
		placement{shapes: s, value: value, typ: t}.put(o, path)
		return o
	}
	if s.filling[elemOf(t)] {
		panic("shape: " + elemOf(t).String() + " holds itself, so its value next to " + words + " needs a path")
	}
	inner, isObject := s.structOf(t).(*object)
	if !isObject {
		panic("shape: " + t.String() + " has no members to put next to " + words)
	}
	o.parts = slices.Clone(inner.parts)
	return o
}

// addWords adds words such as "type=flow action.name=flow".
func (o *object) addWords(words string) {
	for text := range strings.FieldsSeq(words) {
		path, value, _ := strings.Cut(text, "=")
		names := strings.Split(path, ".")
		inner := o
		for _, name := range names[:len(names)-1] {
			inner = inner.member(name).asObject()
		}
		inner.words = append(inner.words, word{name: names[len(names)-1], text: value})
	}
}

// A placement puts one value at its path. The members and elements on the path are always written if the path says so, or if the value is.
type placement struct {
	shapes *Shapes
	value  *leaf
	typ    reflect.Type // of the value
}

// put puts the value at a path of an object. It reports whether the object is then always written.
func (p placement) put(o *object, path []segment) (isAlways bool) {
	first := path[0]
	if first.kind == ofChoice {
		o.parts = append(o.parts, &choice{index: p.value.index, names: first.choice})
		return false
	}
	m := o.member(first.name)
	isAlways = p.fill(m, path) || first.always
	m.always = m.always || isAlways
	return isAlways
}

// fill puts the value into the member that the first segment of a path names. It reports whether the value of the member is then always written.
func (p placement) fill(m *member, path []segment) (isAlways bool) {
	first := path[0]
	rest := path[1:]
	switch {
	case first.kind == ofSingle:
		m.set(&single{p.value})
		return false
	case first.kind == ofElement:
		e := m.asSet().element(first.words)
		isAlways = p.put(e.object, rest) || first.always
		e.always = e.always || isAlways
		return isAlways
	case first.kind == ofEach: // how many elements there are decides
		m.set(&list{index: p.value.index, object: p.shapes.objectWith(first.words, rest, new(leaf), p.typ.Elem())})
		return false
	case len(rest) > 0:
		return p.put(m.asObject(), rest)
	default:
		m.set(p.value)
		return p.value.preset != ""
	}
}

// member returns the member with a name. It adds the member if there is none.
func (o *object) member(name string) *member {
	for _, p := range o.parts {
		if m, isMember := p.(*member); isMember && m.name == name {
			return m
		}
	}
	m := &member{name: name}
	o.parts = append(o.parts, m)
	return m
}

// set sets the shape of a new member.
func (m *member) set(value shape) {
	if m.shape != nil {
		panic("shape: two paths give the member " + m.name + " different values")
	}
	m.shape = value
}

// asObject returns the object that a member holds. A new member gets one.
func (m *member) asObject() *object {
	if o, isObject := m.shape.(*object); isObject {
		return o
	}
	o := new(object)
	m.set(o)
	return o
}

// asSet returns the set that a member holds. A new member gets one.
func (m *member) asSet() *set {
	if s, isSet := m.shape.(*set); isSet {
		return s
	}
	s := new(set)
	m.set(s)
	return s
}

// element returns the element with these words. It adds the element if there is none.
func (s *set) element(words string) *element {
	for _, e := range s.elements {
		if e.words == words {
			return e
		}
	}
	e := &element{words: words, object: new(object)}
	e.object.addWords(words)
	s.elements = append(s.elements, e)
	return e
}
