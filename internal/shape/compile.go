package shape

import (
	"reflect"
	"slices"
	"strings"
	"time"
)

// New compiles the types of these values, and all that they hold. It panics if a tag is not as the package documentation says.
func New(values ...any) *Shapes {
	s := &Shapes{structs: map[reflect.Type]shape{}, fields: map[reflect.Type][]field{}, unions: map[reflect.Type]union{}}
	for _, v := range values {
		s.structOf(reflect.TypeOf(v))
	}
	return s
}

// AddUnion adds a sealed interface, given a value of each of its types.
func AddUnion[T any](s *Shapes, placeOf func(T) Place, values ...T) {
	var u union
	for _, v := range values {
		t := reflect.TypeOf(v)
		whole := s.structOf(t)
		place := placeOf(v)
		if place.Words == "" {
			u.rawType = t
			u.raw = whole
			continue
		}
		path, options, _ := strings.Cut(place.Path, ",")
		value, _ := parseOptions(t.String(), options, t)
		u.variants = append(u.variants, variant{typ: t, object: s.objectWith(place.Words, parsePath(path), value, t)})
	}
	s.unions[reflect.TypeFor[T]()] = u
}

// structOf returns the shape of a struct, or of the structs in a list or behind a pointer. It is nil for other types.
func (s *Shapes) structOf(t reflect.Type) shape {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	known, isKnown := s.structs[t]
	if isKnown || t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() {
		return known
	}
	o := new(object)
	s.structs[t] = o // before its fields, which may hold the same type
	for _, f := range reflect.VisibleFields(t) {
		tag, hasTag := f.Tag.Lookup("at")
		switch {
		case hasTag:
			s.addField(t, o, f, tag)
		case f.IsExported() && !f.Anonymous:
			panic("shape: " + t.String() + "." + f.Name + " has no tag: at")
		}
	}
	return s.structs[t]
}

// addField adds a field of the struct t, whose object is o.
func (s *Shapes) addField(t reflect.Type, o *object, f reflect.StructField, tag string) {
	s.structOf(f.Type)
	path, options, _ := strings.Cut(tag, ",")
	value, rules := parseOptions(t.String()+"."+f.Name, options, f.Type)
	value.index = f.Index
	s.fields[t] = append(s.fields[t], field{name: f.Name, index: f.Index, rules: rules})
	switch path {
	case "-":
	case "": // the whole JSON
		s.structs[t] = value
	default:
		o.add(s, parsePath(path), value, f.Type)
	}
}

// parseOptions returns a leaf with the encoding options of a field of type t, and its rules.
func parseOptions(name, options string, t reflect.Type) (value *leaf, rules string) {
	value = new(leaf)
	var found []string
	for option := range strings.SplitSeq(options, ",") {
		switch key, text, _ := strings.Cut(option, "="); {
		case key == "text":
			value.text = true
		case key == "default":
			value.preset = text
		case slices.Contains(rulesFor(t.Kind()), key):
			found = append(found, option)
		case key != "":
			panic("shape: " + name + " has an option that is unknown, or not for its type: " + option)
		}
	}
	if len(found) > 1 && t.Kind() != reflect.String {
		panic("shape: " + name + " has several rules, which only a text can have")
	}
	return value, strings.Join(found, ",")
}

// rulesFor returns the rules that a field of a kind may have.
func rulesFor(kind reflect.Kind) []string {
	switch kind {
	case reflect.String:
		return []string{
			"required", "notblank", "max", "oneof", "name", "alnum", "trimmed", "unique", "url", "currency", "date",
		}
	case reflect.Int:
		return []string{"index"}
	case reflect.Float64:
		return []string{"degrees"}
	case reflect.Struct:
		return []string{"present"}
	case reflect.Interface:
		return []string{"required", "object"}
	default:
		return nil
	}
}

// segment is the part of a path between two dots.
type segment struct {
	name    string   // of the member
	words   string   // of the elements of a list
	choice  []string // the members of a sealed interface
	isList  bool
	forEach bool // the list has an element for each of the value
	always  bool
}

// parsePath parses a path, such as "type&action", "parameters[type=text]!.text" or "buttons[each type=reply].reply".
func parsePath(path string) []segment {
	var segments []segment
	for text := range strings.SplitSeq(path, ".") {
		if text != "" {
			segments = append(segments, parseSegment(text))
		}
	}
	return segments
}

func parseSegment(text string) segment {
	if strings.Contains(text, "&") {
		return segment{choice: strings.Split(text, "&")}
	}
	var seg segment
	text, seg.always = strings.CutSuffix(text, "!")
	seg.name, seg.words, seg.isList = strings.Cut(strings.TrimSuffix(text, "]"), "[")
	seg.words, seg.forEach = strings.CutPrefix(seg.words, "each ")
	return seg
}

// objectWith returns an object that has words, and a value of type t at a path. Without a path, the members of the value are members of the
// object.
func (s *Shapes) objectWith(words string, path []segment, value *leaf, t reflect.Type) *object {
	o := new(object)
	o.addWords(words)
	if len(path) > 0 {
		o.add(s, path, value, t)
		return o
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
			inner = inner.member(name).object()
		}
		inner.words = append(inner.words, word{name: names[len(names)-1], text: value})
	}
}

// add adds a value of type t at a path. It reports whether the object must then always be written, because a part of it must.
func (o *object) add(s *Shapes, path []segment, value *leaf, t reflect.Type) (always bool) {
	first, rest := path[0], path[1:]
	if first.choice != nil {
		o.parts = append(o.parts, &choice{index: value.index, names: first.choice})
		return false
	}
	m := o.member(first.name)
	always = first.always
	switch {
	case first.forEach:
		m.shape = &list{index: value.index, object: s.objectWith(first.words, rest, new(leaf), t.Elem())}
	case first.isList && first.words == "":
		m.shape = &single{value}
	case first.isList && len(rest) == 0:
		panic("shape: an element with words needs a path to its value: " + first.name + "[" + first.words + "]")
	case first.isList:
		e := m.set().element(first.words)
		e.always = e.object.add(s, rest, value, t) || first.always || e.always
	case len(rest) > 0:
		always = m.object().add(s, rest, value, t) || first.always
	default:
		m.shape = value
		always = value.preset != "" || first.always
	}
	m.always = always || m.always
	return m.always
}

// member returns the member with a name. It adds a member that is missing.
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

// object returns the object that a member is. A new member becomes an object.
func (m *member) object() *object {
	o, isObject := m.shape.(*object)
	if !isObject {
		o = new(object)
		m.shape = o
	}
	return o
}

// set returns the set that a member is. A new member becomes a set.
func (m *member) set() *set {
	s, isSet := m.shape.(*set)
	if !isSet {
		s = new(set)
		m.shape = s
	}
	return s
}

// element returns the element with these words. It adds an element that is missing.
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
