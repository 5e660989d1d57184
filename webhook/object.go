package webhook

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

// object is a JSON object of which only the members are decoded, in their order. A nil object has no members. Of members with
// the same name the first counts.
type object []member

// member is a member of an object. Name and value are parts of the document.
type member struct {
	name     []byte
	value    json.RawMessage
	isRepeat bool // the first member of this name has another value
}

// objectOf returns the members of an object in valid JSON. It returns nil if raw is not an object.
func objectOf(raw []byte) object {
	s := jsonscan.Scanner{Doc: raw}
	if s.Peek() != '{' {
		return nil
	}
	const usual = 6 // members
	o := object{}
	for more := s.Open('}'); more; more = s.Next('}') {
		name := s.Name()
		s.Peek()
		start := s.Pos
		s.Skip()
		if s.Err() != nil {
			break
		}
		if len(o) == cap(o) {
			larger := make(object, len(o), len(o)+max(usual, len(o)))
			copy(larger, o)
			o = larger
		}
		o = append(o, member{name: name, value: raw[start:s.Pos:s.Pos]})
	}
	o.markRepeats()
	return o
}

// markRepeats marks the members whose name came before with another value. A sender decides how many members there are, so many are sorted
// by name first.
func (o object) markRepeats() {
	const few = 16
	if len(o) <= few {
		for i := range o {
			first := slices.IndexFunc(o[:i], func(m member) bool { return bytes.Equal(m.name, o[i].name) })
			o[i].isRepeat = first >= 0 && !bytes.Equal(o[first].value, o[i].value)
		}
		return
	}
	byName := make([]*member, len(o))
	for i := range o {
		byName[i] = &o[i]
	}
	slices.SortStableFunc(byName, func(a, b *member) int { return bytes.Compare(a.name, b.name) })
	first := byName[0]
	for _, m := range byName {
		if !bytes.Equal(m.name, first.name) {
			first = m
		}
		m.isRepeat = !bytes.Equal(m.value, first.value)
	}
}

// hasRepeats reports whether two members have the same name and different values.
func (o object) hasRepeats() bool {
	return slices.ContainsFunc(o, func(m member) bool { return m.isRepeat })
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

// object returns the object that is the value of a member, or nil.
func (o object) object(name string) object { return objectOf(o.get(name)) }

// text returns the text of a member, which may be white space. The second result is false if the member has none.
func (o object) text(name string) (string, bool) {
	raw := o.get(name)
	text, isNested := scalar(raw)
	if isNested {
		return "", false
	}
	return text, raw != nil
}

// word returns the first text of the members that is neither blank nor has a zero byte. It is for names and codes; what a person wrote is
// read by text.
func (o object) word(names ...string) string {
	for _, name := range names {
		if text, _ := o.text(name); !isBlank(text) && !hasZeroByte(text) {
			return text
		}
	}
	return ""
}

// name returns the first word of the members that names a person or an event, and is not a placeholder.
func (o object) name(names ...string) string {
	for _, name := range names {
		if word := o.word(name); isName(word) {
			return word
		}
	}
	return ""
}

func (o object) time(name string) time.Time { return moment(o.word(name), time.UTC).UTC() }

func (o object) hasList(name string) bool {
	return slices.ContainsFunc(o, func(m member) bool { return string(m.name) == name && isList(m.value) })
}

// list returns the elements of all lists with a name, so that none is lost if the name comes twice. It returns nil if there is no list, and
// stops after one more element than most.
func (o object) list(name string, most int) (list []json.RawMessage) {
	for _, m := range o {
		switch {
		case string(m.name) != name || !isList(m.value):
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

// isObject reports whether JSON, without white space in front of it, is an object: it begins like one.
func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }

// isList is like isObject, for a list.
func isList(raw []byte) bool { return len(raw) > 0 && raw[0] == '[' }

// scalar returns the text of a JSON value: the content of a string, a number, true or false as written, "" for null. An
// object or a list is nested, and its text is its JSON.
func scalar(raw json.RawMessage) (text string, isNested bool) {
	if isObject(raw) || isList(raw) {
		return string(raw), true
	}
	text, _ = jsonscan.Word(raw)
	return text, false
}
