package webhook

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

// object is a JSON object of which only the members are decoded, in their order. A nil object has no members. Of members with
// the same name the first counts.
type object []member

// member is a member of an object. Name and value are parts of the document.
type member struct {
	name    []byte
	value   json.RawMessage
	repeats bool // an earlier member has the same name and another value
}

// objectOf returns the members of an object in valid JSON. It returns nil if raw is not an object.
func objectOf(raw []byte) object {
	s := jsonscan.Scanner{Doc: raw}
	if s.Peek() != '{' {
		return nil
	}
	o := object{}
	var many names // once the members are many
	for more := s.Open('}'); more; more = s.Next('}') {
		m := member{name: s.Name()}
		s.Peek()
		start := s.Pos
		s.Skip()
		if s.Err() != nil {
			break
		}
		m.value = raw[start:s.Pos:s.Pos]
		first := o.index(m.name, &many, len(raw)/shortestMember)
		m.repeats = first >= 0 && !bytes.Equal(o[first].value, m.value)
		if len(o) == cap(o) {
			o = slices.Grow(o, max(6, len(o))) // most have a few
		}
		o = append(o, m)
	}
	return o
}

// shortestMember is about how many bytes a member takes at least, with its quotes, in an object that has many.
const shortestMember = 8

// names finds members of an object with many of them, by a hash of their names that a sender cannot foresee.
type names struct {
	seed  maphash.Seed
	first map[uint64]int // the index of the first member of a hash
}

// index returns the index of the first member of that name, or -1. It keeps an index of its own, with room for most members, for an object
// with many.
func (o object) index(name []byte, many *names, most int) int {
	const few = 16 // members, among which a search is faster than a map
	if len(o) < few {
		return o.search(name)
	}
	if many.first == nil {
		many.seed = maphash.MakeSeed()
		many.first = make(map[uint64]int, most)
		for i, m := range slices.Backward(o) {
			many.first[maphash.Bytes(many.seed, m.name)] = i
		}
	}
	hash := maphash.Bytes(many.seed, name)
	i, ok := many.first[hash]
	switch {
	case !ok:
		many.first[hash] = len(o)
		return -1
	case bytes.Equal(o[i].name, name):
		return i
	default: // two names have one hash
		return o.search(name)
	}
}

func (o object) search(name []byte) int {
	return slices.IndexFunc(o, func(m member) bool { return bytes.Equal(m.name, name) })
}

// get returns the value of a member, or nil.
func (o object) get(name string) json.RawMessage {
	for i := range o {
		if string(o[i].name) == name {
			return o[i].value
		}
	}
	return nil
}

// repeats reports whether two members have the same name and different values.
func (o object) repeats() bool {
	return slices.ContainsFunc(o, func(m member) bool { return m.repeats })
}

func (o object) hasList(name string) bool {
	return slices.ContainsFunc(o, func(m member) bool { return string(m.name) == name && isNested(m.value, '[') })
}

// word returns the text of the first of the members that is a string, a number, true or false, and not blank.
func (o object) word(members ...string) string {
	for _, member := range members {
		if text, _ := o.text(member); !isBlank(text) {
			return text
		}
	}
	return ""
}

// text returns the text of a member, which may be white space. The second result is false if the member has none.
func (o object) text(member string) (string, bool) {
	raw := o.get(member)
	text, nested := scalar(raw)
	if nested {
		return "", false
	}
	return text, raw != nil
}

func (o object) time(member string) time.Time {
	return moment(o.word(member), time.UTC).UTC()
}

func (o object) object(member string) object { return objectOf(o.get(member)) }

// list returns the elements of a member that is a list, and of all lists of that name; nil if there is none. It stops after
// one more than most.
func (o object) list(name string, most int) (list []json.RawMessage) {
	for _, m := range o {
		switch {
		case string(m.name) != name || !isNested(m.value, '['):
		case list == nil:
			list = elements(m.value, most)
		default:
			list = append(list, elements(m.value, most-len(list))...)
		}
	}
	return list
}

// elements returns the elements of a JSON list. It stops after one more than most.
func elements(list json.RawMessage, most int) []json.RawMessage {
	all := []json.RawMessage{}
	for element := range jsonscan.Elements(list) {
		if len(all) > most {
			break
		}
		all = append(all, element)
	}
	return all
}

// isNested reports whether a JSON value, without white space around it, is an object or a list: it begins with the bracket.
func isNested(raw []byte, opening byte) bool { return len(raw) > 0 && raw[0] == opening }

// scalar returns the text of a JSON value: the content of a string, a number, true or false as written, "" for null. An
// object or a list is nested, and its text is its JSON.
func scalar(raw json.RawMessage) (text string, nested bool) {
	if isNested(raw, '{') || isNested(raw, '[') {
		return string(raw), true
	}
	text, _ = jsonscan.Word(raw)
	return text, false
}

// paths are paths into JSON, such as results.0.from. "" is all of it.
type paths struct {
	tree  jsonscan.Paths
	texts []string
	slots []int
}

func newPaths(texts ...string) *paths {
	p := new(paths)
	for _, text := range texts {
		p.add(text)
	}
	return p
}

func (p *paths) add(text string) {
	p.texts = append(p.texts, text)
	p.slots = append(p.slots, p.tree.Add(text)...)
}

// in returns what valid JSON holds at each path, nil for nothing, and reports whether a member on the way came twice with different
// values.
func (p *paths) in(raw []byte) (found []json.RawMessage, repeats bool) {
	if p == nil {
		return nil, false
	}
	w := jsonscan.NewWalker(raw)
	values, _ := p.tree.Find(w, nil)
	for _, slot := range p.slots {
		found = append(found, values[slot].Raw(raw))
	}
	return found, w.Differs
}

// first is like in, for the first path alone.
func (p *paths) first(raw []byte) (found json.RawMessage, repeats bool) {
	all, repeats := p.in(raw)
	return all[0], repeats
}

// shape says where the fields of a struct are in a JSON object. It is made of their tags, such as `at:"name.first_name"`, as the page of internal/shape explains; of
// several paths the first that has a value counts.
type shape struct {
	tree     jsonscan.Paths
	slots    [][]int  // by field
	elements []*shape // by field, of the elements of a slice
}

// shapes are the shapes of the types that fill is called with, made once.
var shapes = sync.OnceValue(func() map[reflect.Type]*shape { //nolint:gochecknoglobals // never written
	all := map[reflect.Type]*shape{}
	for _, sample := range []any{Media{}, Location{}, Contact{}, Product{}, Order{}, OrderItem{}, System{}, CallPermission{}, Context{}, Referral{}} {
		all[reflect.TypeOf(sample)] = newShape(reflect.TypeOf(sample))
	}
	return all
})

func newShape(of reflect.Type) *shape {
	s := new(shape)
	for field := range of.Fields() {
		tag := strings.FieldsFunc(field.Tag.Get("at"), func(r rune) bool { return r == '|' })
		s.slots = append(s.slots, s.tree.Add(tag...))
		var element *shape
		if field.Type.Kind() == reflect.Slice && len(tag) > 0 {
			element = newShape(field.Type.Elem())
		}
		s.elements = append(s.elements, element)
	}
	return s
}

// fill reads a struct from an object in valid JSON. The result is zero if raw is not an object, as for a message in parameters.
func fill[T any](raw json.RawMessage) T {
	if !isNested(raw, '{') {
		var zero T
		return zero
	}
	to := new(T)
	shapes()[reflect.TypeFor[T]()].fill(reflect.ValueOf(to).Elem(), raw)
	return *to
}

func (s *shape) fill(to reflect.Value, raw json.RawMessage) {
	found, _ := s.tree.Find(jsonscan.NewWalker(raw), nil)
	for i, slots := range s.slots {
		field := to.Field(i)
		for _, slot := range slots {
			if field.IsZero() {
				s.set(field, i, found[slot].Raw(raw))
			}
		}
	}
}

// set sets the field with an index to a JSON value.
func (s *shape) set(field reflect.Value, index int, raw json.RawMessage) {
	text, nested := scalar(raw)
	if nested || isBlank(text) {
		text = ""
	}
	switch field.Kind() {
	case reflect.String:
		field.SetString(text)
	case reflect.Bool:
		field.SetBool(text == "true")
	case reflect.Int:
		if n, err := strconv.Atoi(text); err == nil {
			field.SetInt(int64(n))
		}
	case reflect.Slice:
		for _, one := range elements(raw, maxParts-1) {
			part := reflect.New(field.Type().Elem()).Elem()
			s.elements[index].fill(part, one)
			field.Set(reflect.Append(field, part))
		}
	default:
		field.Set(reflect.ValueOf(moment(text, time.UTC).UTC()))
	}
}

// records reads a list of objects; nil if it is nil or longer than most.
func records[T any](list []json.RawMessage, most int) []T {
	if list == nil || len(list) > most {
		return nil
	}
	all := make([]T, len(list))
	for i, raw := range list {
		all[i] = fill[T](raw)
	}
	return all
}
