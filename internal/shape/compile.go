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
		structs:    map[reflect.Type]shape{},
		fields:     map[reflect.Type][]field{},
		unions:     map[reflect.Type]union{},
		incomplete: map[reflect.Type]bool{},
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
			u.raw = s.structs[elemOf(t)]
			continue
		}
		path, options, _ := strings.Cut(place.Path, ",")
		value, rules := parseOptions(t.String(), options, t)
		if len(rules) > 0 {
			panic("shape: the Place of " + t.String() + " has a rule, which only a field can have: " + options)
		}
		p := placement{shapes: s, value: value, typ: t}
		hasPreset := value.preset != ""
		u.variants = append(u.variants, variant{typ: t, object: p.object(place.Words, parsePath(path, hasPreset))})
	}
	s.unions[reflect.TypeFor[T]()] = u
}

// add adds the struct that a type leads to. Structs may hold one another, so its shape is in structs before the structs that it holds are added,
// and its object gets its fields after theirs.
func (s *Shapes) add(t reflect.Type) {
	t = elemOf(t)
	if !isStruct(t) || s.structs[t] != nil {
		return
	}
	fields := parseFields(t)
	s.fields[t] = fields
	s.structs[t] = shapeOf(fields)
	s.incomplete[t] = true
	for _, f := range fields {
		s.add(f.typ)
	}
	if o, isObject := s.structs[t].(*object); isObject {
		s.addFields(o, fields)
	}
	delete(s.incomplete, t)
}

func (s *Shapes) addFields(o *object, fields []field) {
	for _, f := range fields {
		if len(f.path) > 0 {
			placement{shapes: s, value: f.value, typ: f.typ}.put(o, f.path)
		}
	}
}

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

func parseField(t reflect.Type, sf reflect.StructField, tag string) field {
	path, options, _ := strings.Cut(tag, ",")
	value, rules := parseOptions(t.String()+"."+sf.Name, options, sf.Type)
	value.index = sf.Index
	f := field{name: sf.Name, index: sf.Index, rules: rules, typ: sf.Type, value: value, isWhole: path == ""}
	if path != "-" {
		hasPreset := value.preset != ""
		f.path = parsePath(path, hasPreset)
	}
	return f
}

// A placement puts a value into objects.
type placement struct {
	shapes *Shapes
	value  *leaf
	typ    reflect.Type // of the value
}

// object returns an object that has words, and the value at a path. Without a path, the members of the value are members of the object.
func (p placement) object(words string, path []segment) *object {
	o := new(object)
	o.addWords(words)
	if len(path) > 0 {
		p.put(o, path)
		return o
	}
	t := elemOf(p.typ)
	if p.shapes.incomplete[t] {
		panic("shape: " + t.String() + " holds itself, so its value next to " + words + " needs a path")
	}
	inner, isObject := p.shapes.structs[t].(*object)
	if !isObject {
		panic("shape: " + p.typ.String() + " has no members to put next to " + words)
	}
	o.parts = slices.Clone(inner.parts)
	return o
}

// put puts the value at a path of an object. It adds the members and elements on the path that other values have not added.
func (p placement) put(o *object, path []segment) {
	first := path[0]
	rest := path[1:]
	if first.kind == ofChoice {
		o.parts = append(o.parts, &choice{index: p.value.index, names: first.choice})
		return
	}
	m := o.member(first.name)
	m.always = m.always || first.always
	switch {
	case first.kind == ofSingle:
		m.setShape(&single{p.value})
	case first.kind == ofElement:
		e := m.asSet().element(first.words)
		e.always = e.always || first.always
		p.put(e.object, rest)
	case first.kind == ofEach:
		element := placement{shapes: p.shapes, value: new(leaf), typ: p.typ.Elem()}
		m.setShape(&list{index: p.value.index, object: element.object(first.words, rest)})
	case len(rest) > 0:
		p.put(m.asObject(), rest)
	default:
		m.setShape(p.value)
	}
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

// setShape sets the shape of a new member.
func (m *member) setShape(s shape) {
	if m.shape != nil {
		panic("shape: two paths give the member " + m.name + " different values")
	}
	m.shape = s
}

// asObject returns the object that a member holds. A new member gets one.
func (m *member) asObject() *object {
	if o, isObject := m.shape.(*object); isObject {
		return o
	}
	o := new(object)
	m.setShape(o)
	return o
}

// asSet returns the set that a member holds. A new member gets one.
func (m *member) asSet() *set {
	if s, isSet := m.shape.(*set); isSet {
		return s
	}
	s := new(set)
	m.setShape(s)
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
