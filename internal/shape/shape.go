package shape

import (
	"reflect"
	"slices"
	"strings"
	"time"
)

// Place says how an object holds a type of a sealed interface. Words, such as "type=flow action.name=flow", distinguish the type. Path is the
// path of its value, like a tag. The type without words holds what fits no other.
type Place struct{ Words, Path string }

// shape describes how one value is encoded in JSON.
type shape struct {
	name    string // of a member, or the words of an element of a set
	form    form
	index   []int    // of the field that holds the value; nil is the value itself
	members []*shape // of an object; the elements of a set; the one element of a list
	word    string
	names   []string // of the members that belong to a choice

	always bool   // it is written even if it is zero, and required when it is read
	text   bool   // numbers are written as text
	milli  bool   // a time is in milliseconds
	preset string // is written in place of an empty text
}

type form int

const (
	formValue  form = iota // as its Go type is written
	formChoice             // of a sealed interface, whose members are members of the object that holds it
	formWord               // a constant text, or "#" for the index of the element
	formObject
	formSet  // a list of elements that differ by their words, in any order
	formList // a list with an element for each of the value
)

// Shapes holds the shapes of all structs, and of the types of each sealed interface. Once compiled it is never written, and safe for
// concurrent use.
type Shapes struct {
	structs map[reflect.Type]*shape
	fields  map[reflect.Type][]field
	unions  map[reflect.Type][]variant
	plain   *shape // of a value outside of a field
}

type variant struct {
	typ   reflect.Type
	shape *shape
	isRaw bool
}

// field is a field of a struct, with what holds for it.
type field struct {
	name  string
	index []int
	rules string
}

// New compiles the types of these values, and all that they hold. It panics if a tag is not as the package documentation says.
func New(values ...any) *Shapes {
	s := &Shapes{
		structs: map[reflect.Type]*shape{},
		fields:  map[reflect.Type][]field{},
		unions:  map[reflect.Type][]variant{},
		plain:   new(shape),
	}
	for _, v := range values {
		s.structOf(reflect.TypeOf(v))
	}
	return s
}

// AddUnion adds a sealed interface, given a value of each of its types. The raw one is the last.
func AddUnion[T any](s *Shapes, placeOf func(T) Place, values ...T) {
	var variants []variant
	for _, v := range values {
		t := reflect.TypeOf(v)
		place := placeOf(v)
		isRaw := place.Words == ""
		sh := s.structOf(t)
		if !isRaw {
			sh = &shape{form: formObject}
			sh.addWords(place.Words)
			path, options, _ := strings.Cut(place.Path, ",")
			leaf := new(shape)
			leaf.setOptions(t.Name(), options)
			sh.add(s, path, leaf, t)
		}
		variants = append(variants, variant{typ: t, shape: sh, isRaw: isRaw})
	}
	s.unions[reflect.TypeFor[T]()] = variants
}

// structOf returns the shape of a struct, or of the structs in a list. It is nil for other types.
func (s *Shapes) structOf(t reflect.Type) *shape {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if known := s.structs[t]; known != nil || t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() {
		return known
	}
	sh := &shape{form: formObject}
	s.structs[t] = sh
	for _, f := range reflect.VisibleFields(t) {
		tag, ok := f.Tag.Lookup("at")
		switch {
		case ok:
			path, options, _ := strings.Cut(tag, ",")
			leaf := &shape{index: f.Index}
			rules := leaf.setOptions(t.String()+"."+f.Name, options)
			s.fields[t] = append(s.fields[t], field{name: f.Name, index: f.Index, rules: rules})
			if path != "-" {
				sh.add(s, path, leaf, f.Type)
			}
		case f.IsExported() && !f.Anonymous:
			panic("shape: " + t.String() + "." + f.Name + " has no tag: at")
		}
	}
	return sh
}

// setOptions sets how the value of a field is written, and returns its rules.
func (sh *shape) setOptions(of, options string) string {
	var rules []string
	for option := range strings.SplitSeq(options, ",") {
		switch name, text, _ := strings.Cut(option, "="); name {
		case "text":
			sh.text = true
		case "milli":
			sh.milli = true
		case "default":
			sh.preset = text
			sh.always = true
		case "required", "present", "notblank", "max", "oneof", "name", "alnum", "trimmed", "unique", "url", "currency", "date", "index",
			"degrees", "object":
			rules = append(rules, option)
		case "":
		default:
			panic("shape: " + of + " has an unknown option: " + option)
		}
	}
	return strings.Join(rules, ",")
}

// add adds a value of a type to an object, or to an element of a list, at a path.
func (sh *shape) add(s *Shapes, path string, leaf *shape, t reflect.Type) {
	value := s.structOf(t)
	hasWords := len(sh.members) > 0
	switch {
	case path != "":
		sh.addMember(s, path, leaf, t)
	case value != nil && hasWords:
		sh.members = append(sh.members, value.members...)
	default:
		sh.replaceWith(leaf)
	}
}

// replaceWith replaces a shape by leaf, under its name.
func (sh *shape) replaceWith(leaf *shape) {
	leaf.name = sh.name
	leaf.always = leaf.always || sh.always
	*sh = *leaf
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

// parseSegment parses a part of a path, such as "body", "parameters[type=text]!" or "buttons[each type=reply]".
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

func (sh *shape) addMember(s *Shapes, path string, leaf *shape, t reflect.Type) {
	first, rest, _ := strings.Cut(path, ".")
	seg := parseSegment(first)
	if len(seg.choice) > 0 {
		leaf.form = formChoice
		leaf.names = seg.choice
		sh.members = append(sh.members, leaf)
		return
	}
	member := sh.member(seg.name)
	member.always = member.always || seg.always
	switch {
	case seg.forEach:
		element := &shape{form: formObject}
		element.addWords(seg.words)
		element.add(s, rest, &shape{}, t.Elem())
		member.form = formList
		member.index = leaf.index
		member.members = []*shape{element}
	case seg.isList:
		member.form = formSet
		element := member.member(seg.words)
		if element.form != formObject {
			element.form = formObject
			element.addWords(seg.words)
		}
		element.always = element.always || seg.always
		element.add(s, rest, leaf, t)
	default:
		member.form = formObject
		member.add(s, rest, leaf, t)
	}
	sh.always = sh.always || member.always
}

// member returns the member of an object, or the element of a set. It adds a member that is missing.
func (sh *shape) member(name string) *shape {
	for _, member := range sh.members {
		if member.name == name {
			return member
		}
	}
	member := &shape{name: name}
	sh.members = append(sh.members, member)
	return member
}

func (sh *shape) addWords(words string) {
	for field := range strings.FieldsSeq(words) {
		path, text, _ := strings.Cut(field, "=")
		at := sh
		for name := range strings.SplitSeq(path, ".") {
			at.form = formObject
			at = at.member(name)
		}
		at.form = formWord
		at.word = text
	}
}

// variantOf returns the shape of a value of a sealed interface. It is nil for nil and for pointers, which cannot be sent.
func (s *Shapes) variantOf(t reflect.Type, v reflect.Value) *shape {
	for _, variant := range s.unions[t] {
		if v.IsValid() && variant.typ == v.Type() {
			return variant.shape
		}
	}
	return nil
}

// of returns the field that sh describes, or v itself if it has none.
func (sh *shape) of(v reflect.Value) reflect.Value {
	if sh.index == nil {
		return v
	}
	return v.FieldByIndex(sh.index)
}

// present reports whether the shape of a value is written.
func (sh *shape) present(v reflect.Value) bool {
	switch {
	case sh.form == formWord: // which is written only together with something else
		return false
	case sh.always || sh.form == formChoice:
		return true
	case sh.form == formObject || sh.form == formSet:
		return slices.ContainsFunc(sh.members, func(member *shape) bool { return member.present(v) })
	default:
		return !isZero(sh.of(v))
	}
}

func isZero(v reflect.Value) bool {
	if at, ok := reflect.TypeAssert[time.Time](v); ok {
		return at.IsZero()
	}
	return v.IsZero()
}
