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
)

// records reads a list of objects; nil if it is nil or longer than most.
func records[T any](list []json.RawMessage, most int) []T {
	if list == nil || len(list) > most {
		return nil
	}
	all := make([]T, len(list))
	for i, raw := range list {
		all[i] = fill[T](objectOf(raw))
	}
	return all
}

// fill reads a struct from an object. The tags of its fields name members by their paths, as in `platform:"name.first_name"`; of
// several members the first one that has a value counts.
func fill[T any](o object) T {
	if o == nil { // as of a message in parameters
		return *new(T)
	}
	to := new(T)
	o.fill(reflect.ValueOf(to).Elem())
	return *to
}

func (o object) fill(to reflect.Value) {
	for field, value := range to.Fields() {
		paths, _ := field.Tag.Lookup("platform")
		for path := range strings.FieldsFuncSeq(paths, func(r rune) bool { return r == ',' }) {
			names := strings.Split(path, ".")
			last := len(names) - 1
			holder := o
			for _, name := range names[:last] {
				holder = holder.object(name)
			}
			if value.IsZero() {
				holder.set(value, names[last])
			}
		}
	}
}

func (o object) set(value reflect.Value, member string) {
	switch to := value.Addr().Interface().(type) {
	case *bool:
		*to = o.word(member) == "true"
	case *int:
		if n, err := strconv.Atoi(o.word(member)); err == nil {
			*to = n
		}
	case *time.Time:
		*to = o.time(member)
	default:
		if value.Kind() == reflect.String {
			value.SetString(o.word(member))
			return
		}
		for _, raw := range o.list(member, maxParts-1) {
			part := reflect.New(value.Type().Elem()).Elem()
			objectOf(raw).fill(part)
			value.Set(reflect.Append(value, part))
		}
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
	if !slices.ContainsFunc(o, func(m jsonscan.Member) bool { return m.Again }) {
		return false
	}
	first := map[string][]byte{}
	for _, m := range o {
		if !m.Again {
			first[m.Name] = m.Value
		} else if !bytes.Equal(first[m.Name], m.Value) {
			return true
		}
	}
	return false
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

// path is a place in a JSON body, such as results.0.from. One without names is the body itself.
type path struct {
	text  string
	names []string
}

func newPath(text string) path {
	return path{text: text, names: strings.FieldsFunc(text, func(r rune) bool { return r == '.' })}
}

// in returns the value at the path in valid JSON, or nil, and reports whether a member on the way came twice with different
// values: the first counts. A number is a position in a list, or the name of a member.
func (p path) in(raw json.RawMessage) (found json.RawMessage, repeats bool) {
	for _, name := range p.names {
		member, again := objectOf(raw).find(name)
		repeats = repeats || again
		if position, err := strconv.Atoi(name); err == nil && position >= 0 {
			if list := elements(raw, position); position < len(list) {
				member = list[position]
			}
		}
		raw = member
	}
	return raw, repeats
}

// isOneOf reports whether the path leads through a list that has, at the same place of another element, a value other than found. Of a
// list of reports, it then reads one alone.
func (p path) isOneOf(raw, found json.RawMessage) bool {
	for i, name := range p.names {
		if _, err := strconv.Atoi(name); err != nil {
			continue
		}
		list, _ := path{names: p.names[:i]}.in(raw)
		for element := range jsonscan.Elements(list) {
			other, _ := path{names: p.names[i+1:]}.in(element)
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
