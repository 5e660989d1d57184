package chatapp2

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// The tag "at" of a field says where its value stands in the JSON of the platform:
//
//	at:"to"                              the member to
//	at:"body.text"                       the member text of the object body
//	at:"type&action"                     these members of the object itself belong to the value, which is of a sealed interface
//	at:"parameters[type=ttl].ttl"        the member ttl of the one element of the list parameters that has the type ttl
//	at:"parameters[]"                    the only element of the list parameters
//	at:"buttons[each type=reply].reply"  the value is a list, and each element stands in an object that has the type reply
//	at:"cards[each index=#]"             each element is itself an object, which also has its index
//	at:""                                the whole JSON
//
// A value that is zero is not written, nor is an object or element that would hold no value. An exclamation mark behind a name or
// a bracket says that it is written all the same, and required when it is read. Options follow after a comma:
//
//	text       numbers are written as text; reading takes both, everywhere
//	milli      a time is in milliseconds since 1970, and not in seconds
//	default=3  an empty text is written as 3, which is read as an empty one
//	optional   what is always written may be absent when it is read
//	or=name    a text is read like an object that has it as the member name
//
// A duration is a number of minutes. The tags are compiled into shapes, by which write.go encodes and read.go decodes.

// place says how a type of a sealed interface stands in an object: with words, such as "type=flow action.name=flow", and with its value
// at a path, which is like a tag. The type that has no words holds what fits no other.
type place struct{ words, path string }

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

// shapes holds the shapes of all structs, and of the types of each sealed interface. It is compiled once and then never written.
type shapes struct {
	structs map[reflect.Type]*shape
	unions  map[reflect.Type][]variant
}

// variant is a type of a sealed interface.
type variant struct {
	typ   reflect.Type
	shape *shape
	isRaw bool
}

// compiled is compiled when it is first used. A variable of sync.OnceValue would link this whole package into every program that
// sends an SMS.
var compiled struct { //nolint:gochecknoglobals // written once
	once   sync.Once
	shapes *shapes
}

func allShapes() *shapes {
	compiled.once.Do(func() { compiled.shapes = compileShapes() })
	return compiled.shapes
}

func compileShapes() *shapes {
	s := &shapes{map[reflect.Type]*shape{}, map[reflect.Type][]variant{}}
	s.structOf(reflect.TypeFor[replyContext]())
	s.structOf(reflect.TypeFor[storedFallback]())
	addUnion[Content](s, func(c Content) place { return place{"type=" + c.kind(), c.kind() + "!"} }, contents()...)
	addUnion[Action](s, Action.action,
		ReplyButtons{}, List{}, CTAURL{}, LocationRequest{}, Flow{}, Product{}, ProductList{}, CatalogMessage{}, AddressMessage{},
		VoiceCall{}, CallPermissionRequest{}, Carousel{}, OrderDetails{}, OrderStatus{}, ContactRequest{}, RawAction{})
	addUnion[Header](s, Header.header, HeaderText{}, Image{}, Video{}, Document{})
	addUnion[CardAction](s, CardAction.cardAction, CTAURL{}, ReplyButtons{}, Product{})
	addUnion[Component](s, Component.component,
		TemplateHeader{}, TemplateBody{}, TemplateCards{}, LimitedTimeOffer{}, TapTarget{}, TemplateOrderStatus{}, QuickReplyButton{},
		URLButton{}, CopyCodeButton{}, CatalogButton{}, ProductsButton{}, FlowButton{}, VoiceCallButton{}, OrderDetailsButton{},
		RawComponent{})
	addUnion[Parameter](s, Parameter.parameter,
		TextParam{}, Currency{}, DateTime{}, Image{}, Video{}, Document{}, GIF{}, Location{}, Product{}, RawParameter{})
	return s
}

// addUnion adds a sealed interface, given a value of each of its types.
func addUnion[T any](s *shapes, placeOf func(T) place, values ...T) {
	var variants []variant
	for _, one := range values {
		t, at := reflect.TypeOf(one), placeOf(one)
		own := s.structOf(t)
		if at.words != "" {
			own = &shape{form: object}
			own.addWords(at.words)
			path, options, _ := strings.Cut(at.path, ",")
			leaf := new(shape)
			leaf.setOptions(options)
			own.add(s, path, leaf, t)
		}
		variants = append(variants, variant{t, own, at.words == ""})
	}
	s.unions[reflect.TypeFor[T]()] = variants
}

// structOf returns the shape of a struct, or of the structs in a list. It is nil for other types.
func (s *shapes) structOf(t reflect.Type) *shape {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if known := s.structs[t]; known != nil || t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() {
		return known
	}
	own := &shape{form: object}
	s.structs[t] = own
	for _, f := range reflect.VisibleFields(t) {
		if tag, ok := f.Tag.Lookup("at"); ok {
			path, options, _ := strings.Cut(tag, ",")
			leaf := &shape{index: f.Index}
			leaf.setOptions(options)
			own.add(s, path, leaf, f.Type)
		}
	}
	return own
}

func (sh *shape) setOptions(options string) {
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
		}
	}
}

// add adds a value of a type to an object, or to an element of a list, at a path.
func (sh *shape) add(s *shapes, path string, leaf *shape, t reflect.Type) {
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

func (sh *shape) addMember(s *shapes, path string, leaf *shape, t reflect.Type) {
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
func (s *shapes) variantOf(t reflect.Type, v reflect.Value) *shape {
	for _, one := range s.unions[t] {
		if v.IsValid() && one.typ == v.Type() {
			return one.shape
		}
	}
	return nil
}

// of returns the value of the shape in the value that has it.
func (sh *shape) of(v reflect.Value) reflect.Value {
	if sh.index == nil {
		return v
	}
	return v.FieldByIndex(sh.index)
}

// present reports whether the shape of a value is written.
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
