package webhook

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
)

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

// fill reads a struct from an object in valid JSON. The tag "at" of a field says where it stands, as the page of internal/shape explains:
// `at:"name.first_name"`, and `at:"url|link"` for the first of several that has a value.
func fill[T any](raw json.RawMessage) (to T) {
	if isNested(raw, '{') { // as not of a message in parameters
		fillStruct(reflect.ValueOf(&to).Elem(), raw)
	}
	return to
}

func fillStruct(to reflect.Value, raw json.RawMessage) {
	var paths jsonscan.Paths
	var slots [][]int // by field
	for field := range to.Type().Fields() {
		tag := strings.FieldsFunc(field.Tag.Get("at"), func(r rune) bool { return r == '|' })
		slots = append(slots, paths.Add(tag...))
	}
	found, _ := paths.Find(jsonscan.NewWalker(raw), nil)
	for i, list := range slots {
		for _, slot := range list {
			if value := to.Field(i); value.IsZero() {
				set(value, found[slot].Raw(raw))
			}
		}
	}
}

func set(value reflect.Value, raw json.RawMessage) {
	text, nested := scalar(raw)
	if nested || isBlank(text) {
		text = ""
	}
	switch value.Kind() {
	case reflect.String:
		value.SetString(text)
	case reflect.Bool:
		value.SetBool(text == "true")
	case reflect.Int:
		if n, err := strconv.Atoi(text); err == nil {
			value.SetInt(int64(n))
		}
	case reflect.Slice:
		for _, one := range elements(raw, maxParts-1) {
			part := reflect.New(value.Type().Elem()).Elem()
			fillStruct(part, one)
			value.Set(reflect.Append(value, part))
		}
	default:
		value.Set(reflect.ValueOf(moment(text, time.UTC).UTC()))
	}
}

// object is a JSON object of which only the members are decoded, in their order. A nil object has no members. Of members with
// the same name the first counts.
type object []jsonscan.Member

// objectOf returns nil if raw is not an object.
func objectOf(raw json.RawMessage) object { return jsonscan.Members(raw) }

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

func (o object) get(name string) json.RawMessage {
	value, _ := o.find(name)
	return value
}

// find returns the first member of that name, or nil, and reports whether another one has a different value.
func (o object) find(name string) (value json.RawMessage, repeats bool) {
	for _, m := range o {
		switch {
		case m.Name != name:
		case value == nil:
			value = m.Value
		default:
			repeats = repeats || !bytes.Equal(value, m.Value)
		}
	}
	return value, repeats
}

// repeats reports whether two members have the same name and different values.
func (o object) repeats() bool {
	return slices.ContainsFunc(o, func(m jsonscan.Member) bool { return m.Differs })
}

func (o object) hasList(members ...string) bool {
	return slices.ContainsFunc(o, func(m jsonscan.Member) bool { return slices.Contains(members, m.Name) && isNested(m.Value, '[') })
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
		if m.Name == name && isNested(m.Value, '[') {
			list = append(list, elements(m.Value, most-len(list))...)
		}
	}
	return list
}

// isNested reports whether a JSON value, without white space around it, is an object or a list: it begins with the bracket.
func isNested(raw json.RawMessage, opening byte) bool { return len(raw) > 0 && raw[0] == opening }

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
	p.texts, p.slots = append(p.texts, text), append(p.slots, p.tree.Add(text)...)
}

// in returns what stands at each path in valid JSON, nil for nothing, and reports whether a member on the way came twice with different
// values.
func (p *paths) in(raw json.RawMessage) (found []json.RawMessage, repeats bool) {
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

// first is in for the first path alone.
func (p *paths) first(raw json.RawMessage) (found json.RawMessage, repeats bool) {
	all, repeats := p.in(raw)
	return all[0], repeats
}

// isOneOf reports whether a path leads through a list that has, at the same place of another element, a value other than found. Of a
// list of reports, it then reads one alone.
func isOneOf(path string, raw, found json.RawMessage) bool {
	names := strings.Split(path, ".")
	for i, name := range names {
		if !table.IsPosition(name) {
			continue
		}
		list, _ := newPaths(strings.Join(names[:i], ".")).first(raw)
		inElement := newPaths(strings.Join(names[i+1:], "."))
		for element := range jsonscan.Elements(list) {
			other, _ := inElement.first(element)
			if text, nested := scalar(other); !nested && !isBlank(text) && !bytes.Equal(other, found) {
				return true
			}
		}
	}
	return false
}

// scalar returns the text of a JSON value: the content of a string, a number, true or false as written, "" for null. An
// object or a list is nested, and its text is its JSON.
func scalar(raw json.RawMessage) (text string, nested bool) {
	if isNested(raw, '{') || isNested(raw, '[') {
		return string(raw), true
	}
	text, _ = jsonscan.Word(raw)
	return text, false
}
