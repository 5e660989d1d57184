package chatapp2

import (
	"reflect"
	"strings"
	"sync"
)

// The tag "at" of a field says where its value stands in the JSON of the platform:
//
//	at:"to"                             the member to
//	at:"body.text"                      the member text of the object body
//	at:"type&action"                    these members of the object itself belong to the value, which is of a sealed interface
//	at:"parameters[type=ttl].ttl"       in the list parameters, the member ttl of the object that has the type ttl
//	at:"parameters[]"                   the only element of the list parameters
//	at:"cards[each index=#].card"       the value is a list: each element is the member card of an object that has its index
//	at:""                               the whole value
//
// What is zero is not written, nor is an object or an element that would hold nothing else; but with an exclamation mark behind a
// name or bracket, it is written all the same. A field has further options after a comma:
//
//	text          numbers are written as text; reading takes both, everywhere
//	milli         a time is in milliseconds since 1970, and not in seconds
//	default=3     an empty text is written as 3, which is read as an empty one
//	optional      what is always written may be missing when it is read
//	or=name       a text is read like an object that has it as the member name
//
// A duration is a number of minutes.
//
// A value of a sealed interface stands in an object as its kind says. Encoding builds a tree of nodes. Decoding fills the type
// leniently, encodes what it got, and compares that with what it read: so nothing is lost, and there is only one description.

// kind describes a type of a sealed interface. Words are the members that tell it from the others, such as "type=flow"; a name
// without a dot must match, in any case, for the kind to be tried. Path says, like a tag, where the value itself stands. A kind
// without words keeps what no other holds exactly.
type kind struct {
	value any
	words string
	path  string
}

// place is a path with its options.
type place struct {
	steps    []step
	text     bool
	milli    bool
	optional bool
	preset   string // the default
	or       string
	always   bool // something is written even for the zero value
}

// step is a part of a place.
type step struct {
	name    string
	members []string // of the object itself, in place of a name
	list    bool     // the member is a list, and the place goes on in the element that has these words
	each    bool     // in every element
	words   []word
	key     string // the words as text
	always  bool
}

// word is a member with a fixed text, at a place without lists. The text "#" is the index of an element.
type word struct {
	path []string
	text string
}

// schema is the description of all types. It is compiled once, and then never written.
type schema struct {
	structs  map[reflect.Type][]field
	first    map[reflect.Type]string // the member that names the type of what the object holds, which is written first
	unions   map[reflect.Type][]variant
	anywhere place // without options
}

// field is a field of a struct, also one of an embedded struct.
type field struct {
	name  string
	index []int
	rule  string
	place *place
}

// variant is a compiled kind.
type variant struct {
	typ   reflect.Type
	words []word
	place *place
}

var schemaOnce = sync.OnceValue(func() *schema { //nolint:gochecknoglobals // never written
	s := &schema{structs: map[reflect.Type][]field{}, first: map[reflect.Type]string{}, unions: map[reflect.Type][]variant{}}
	addUnion[Content](s, contentKinds())
	addUnion[Action](s, actions())
	addUnion[Header](s, headers())
	addUnion[CardAction](s, cardActions())
	addUnion[Component](s, components())
	addUnion[Parameter](s, parameters())
	s.add(reflect.TypeFor[Raw]())
	s.add(reflect.TypeFor[replyContext]())
	s.add(reflect.TypeFor[storedFallback]())
	return s
})

func addUnion[T any](s *schema, kinds []kind) {
	all := make([]variant, len(kinds))
	for i, k := range kinds {
		all[i] = variant{reflect.TypeOf(k.value), parseWords(k.words), parsePlace(k.path)}
		s.add(all[i].typ)
	}
	s.unions[reflect.TypeFor[T]()] = all
}

// add compiles a struct, and those in it.
func (s *schema) add(t reflect.Type) {
	switch t.Kind() {
	case reflect.Slice, reflect.Pointer:
		s.add(t.Elem())
	case reflect.Struct:
		if _, done := s.structs[t]; done {
			return
		}
		s.structs[t] = nil
		var fields []field
		for _, f := range reflect.VisibleFields(t) {
			if f.Anonymous || !f.IsExported() {
				continue
			}
			p := parsePlace(f.Tag.Get("at"))
			if len(p.steps) > 0 && p.steps[0].members != nil {
				s.first[t] = p.steps[0].members[0]
			}
			fields = append(fields, field{f.Name, f.Index, f.Tag.Get("rule"), p})
			s.add(f.Type)
		}
		s.structs[t] = fields
	default:
	}
}

func parsePlace(tag string) *place {
	path, options, _ := strings.Cut(tag, ",")
	p := new(place)
	p.always = strings.Contains(path, "!")
	for option := range strings.SplitSeq(options, ",") {
		name, value, _ := strings.Cut(option, "=")
		switch name {
		case "text":
			p.text = true
		case "milli":
			p.milli = true
		case "optional":
			p.optional = true
		case "default":
			p.preset, p.always = value, true
		case "or":
			p.or = value
		}
	}
	for part := range strings.SplitSeq(path, ".") {
		if part != "" {
			p.steps = append(p.steps, parseStep(part))
		}
	}
	return p
}

func parseStep(part string) step {
	var s step
	part, s.always = strings.CutSuffix(part, "!")
	if strings.Contains(part, "&") {
		s.members = strings.Split(part, "&")
		return s
	}
	if part, s.list = strings.CutSuffix(part, "]"); s.list {
		var words string
		part, words, _ = strings.Cut(part, "[")
		words, s.each = strings.CutPrefix(words, "each")
		s.words, s.key = parseWords(words), words
	}
	s.name = part
	return s
}

func parseWords(texts string) []word {
	var words []word
	for one := range strings.FieldsSeq(texts) {
		path, text, _ := strings.Cut(one, "=")
		words = append(words, word{strings.Split(path, "."), text})
	}
	return words
}

// matches reports whether an object has the word, in any case.
func (w word) matches(value any) bool {
	for _, name := range w.path {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	text, ok := value.(string)
	return ok && strings.EqualFold(text, w.text)
}
