package shape

import (
	"reflect"
	"slices"
	"strings"
	"time"
)

// Place says how a type of a sealed interface stands in an object: with words, such as "type=flow action.name=flow", and with its value
// at a path, which is like a tag. The type that has no words holds what fits no other.
type Place struct{ Words, Path string }

// shape is what stands at one place in JSON.
type shape struct {
	name    string // of a member, or the words of an element of a set
	form    form
	index   []int    // of the field that holds the value; nil is the value itself
	members []*shape // of an object; the elements of a set; the one element of a list
	word    string
	names   []string // of the members that belong to a choice

	always, optional, text, milli bool
	preset, or                    string
}

type form int

const (
	value  form = iota // as its Go type is written
	choice             // of a sealed interface, whose members are members of the object in which it stands
	word               // a constant text, or "#" for the index of the element
	object
	set  // a list of elements that differ by their words, in any order
	list // a list with an element for each of the value
)

// Shapes holds the shapes of all structs, and of the types of each sealed interface. Once compiled it is never written, and safe for
// concurrent use.
type Shapes struct {
	structs map[reflect.Type]*shape
	fields  map[reflect.Type][]field
	unions  map[reflect.Type][]variant
	plain   *shape // of a value that stands in no field
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
	s := &Shapes{map[reflect.Type]*shape{}, map[reflect.Type][]field{}, map[reflect.Type][]variant{}, new(shape)}
	for _, one := range values {
		s.structOf(reflect.TypeOf(one))
	}
	return s
}

// AddUnion adds a sealed interface, given a value of each of its types. The raw one is the last.
func AddUnion[T any](s *Shapes, placeOf func(T) Place, values ...T) {
	var variants []variant
	for _, one := range values {
		t, at := reflect.TypeOf(one), placeOf(one)
		own := s.structOf(t)
		if at.Words != "" {
			own = &shape{form: object}
			own.addWords(at.Words)
			path, options, _ := strings.Cut(at.Path, ",")
			leaf := new(shape)
			leaf.setOptions(t.Name(), options)
			own.add(s, path, leaf, t)
		}
		variants = append(variants, variant{t, own, at.Words == ""})
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
	own := &shape{form: object}
	s.structs[t] = own
	for _, f := range reflect.VisibleFields(t) {
		tag, ok := f.Tag.Lookup("at")
		switch {
		case ok:
			path, options, _ := strings.Cut(tag, ",")
			leaf := &shape{index: f.Index}
			rules := leaf.setOptions(t.String()+"."+f.Name, options)
			s.fields[t] = append(s.fields[t], field{f.Name, f.Index, rules})
			if path != "-" {
				own.add(s, path, leaf, f.Type)
			}
		case f.IsExported() && !f.Anonymous:
			panic("shape: " + t.String() + "." + f.Name + " has no tag: at")
		}
	}
	return own
}

// setOptions sets how the value of a field is written, and returns the rules that hold for it.
func (sh *shape) setOptions(of, options string) string {
	var rules []string
	for option := range strings.SplitSeq(options, ",") {
		switch name, text, _ := strings.Cut(option, "="); name {
		case "text":
			sh.text = true
		case "milli":
			sh.milli = true
		case "optional":
			sh.optional = true
		case "default":
			sh.preset, sh.always = text, true
		case "or":
			sh.or = text
		case "required", "present", "notblank", "max", "oneof", "name", "alnum", "reference", "trimmed", "unique", "url", "currency",
			"date", "minutes", "index", "degrees", "object":
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
	own := s.structOf(t)
	switch {
	case path != "":
		sh.addMember(s, path, leaf, t)
	case own != nil && len(sh.members) > 0: // beside words
		sh.members = append(sh.members, own.members...)
	default:
		leaf.name, leaf.always = sh.name, leaf.always || sh.always
		*sh = *leaf
	}
}

func (sh *shape) addMember(s *Shapes, path string, leaf *shape, t reflect.Type) {
	part, rest, _ := strings.Cut(path, ".")
	if strings.Contains(part, "&") {
		leaf.form, leaf.names = choice, strings.Split(part, "&")
		sh.members = append(sh.members, leaf)
		return
	}
	part, always := strings.CutSuffix(part, "!")
	name, words, isList := strings.Cut(strings.TrimSuffix(part, "]"), "[")
	words, each := strings.CutPrefix(words, "each ")
	member := sh.member(name)
	member.always = member.always || always
	switch {
	case each:
		element := &shape{form: object}
		element.addWords(words)
		element.add(s, rest, &shape{}, t.Elem())
		member.form, member.index, member.members = list, leaf.index, []*shape{element}
	case isList:
		member.form = set
		element := member.member(words)
		if element.form != object {
			element.form = object
			element.addWords(words)
		}
		element.always = element.always || always
		element.add(s, rest, leaf, t)
	default:
		member.form = object
		member.add(s, rest, leaf, t)
	}
	sh.always = sh.always || member.always
}

// member returns the member of an object, or the element of a set, which is added if there is none.
func (sh *shape) member(name string) *shape {
	for _, one := range sh.members {
		if one.name == name {
			return one
		}
	}
	one := &shape{name: name}
	sh.members = append(sh.members, one)
	return one
}

func (sh *shape) addWords(words string) {
	for one := range strings.FieldsSeq(words) {
		path, text, _ := strings.Cut(one, "=")
		at := sh
		for name := range strings.SplitSeq(path, ".") {
			at.form = object
			at = at.member(name)
		}
		at.form, at.word = word, text
	}
}

// variantOf returns the kind of a value of a sealed interface. There is none for nil, and for a pointer, which is never sent.
func (s *Shapes) variantOf(t reflect.Type, v reflect.Value) *shape {
	for _, one := range s.unions[t] {
		if v.IsValid() && one.typ == v.Type() {
			return one.shape
		}
	}
	return nil
}

func (sh *shape) of(v reflect.Value) reflect.Value {
	if sh.index == nil {
		return v
	}
	return v.FieldByIndex(sh.index)
}

func (sh *shape) present(v reflect.Value) bool {
	switch {
	case sh.form == word: // which is written if something else is
		return false
	case sh.always || sh.form == choice:
		return true
	case sh.form == object || sh.form == set:
		return slices.ContainsFunc(sh.members, func(one *shape) bool { return one.present(v) })
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
