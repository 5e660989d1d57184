package webhook

import (
	"bytes"
	"encoding/json"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
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

// set sets a value from a member.
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
type object []pair

// pair is a member of an object.
type pair struct {
	name string
	raw  json.RawMessage
}

// objectOf returns a valid JSON object, or nil if raw is anything else.
func objectOf(raw json.RawMessage) object {
	if !isNested(raw, '{') {
		return nil
	}
	o := object{}
	for name, value := range parts(raw) {
		o = append(o, pair{name, value})
	}
	return o
}

// parts yields the members of a valid JSON object, or the elements of a list, which have no names. It copies nothing, which a
// json.Decoder would do at every level.
func parts(raw json.RawMessage) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		name, begin, depth, inString, escaped := "", 0, 0, false, false
		for i, c := range raw {
			switch {
			case escaped:
				escaped = false
			case inString:
				escaped, inString = c == '\\', c != '"'
			case c == '"':
				inString = true
			case c == '{', c == '[':
				if depth++; depth == 1 {
					begin = i + 1
				}
			case c == ':' && depth == 1:
				name, _ = scalar(raw[begin:i])
				begin = i + 1
			case depth == 1 && (c == ',' || c == '}' || c == ']'):
				if part := bytes.TrimSpace(raw[begin:i]); len(part) > 0 && !yield(name, part) {
					return
				}
				begin = i + 1
			case c == '}', c == ']':
				depth--
			}
		}
	}
}

// elements returns the elements of a valid JSON list. It stops after one more than most.
func elements(list json.RawMessage, most int) []json.RawMessage {
	all := []json.RawMessage{}
	for _, element := range parts(list) {
		if len(all) > most {
			break
		}
		all = append(all, element)
	}
	return all
}

func (o object) get(name string) json.RawMessage {
	for _, m := range o {
		if m.name == name {
			return m.raw
		}
	}
	return nil
}

// repeats reports whether two members have the same name and different values.
func (o object) repeats() bool {
	sorted := slices.Clone(o)
	slices.SortFunc(sorted, func(a, b pair) int { return strings.Compare(a.name, b.name) })
	for i := 1; i < len(sorted); i++ {
		if sorted[i-1].name == sorted[i].name && !bytes.Equal(sorted[i-1].raw, sorted[i].raw) {
			return true
		}
	}
	return false
}

// hasList reports whether one of the members is a list.
func (o object) hasList(members ...string) bool {
	return slices.ContainsFunc(o, func(m pair) bool { return slices.Contains(members, m.name) && isNested(m.raw, '[') })
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
		if m.name == name && isNested(m.raw, '[') {
			list = append(list, elements(m.raw, most-len(list))...)
		}
	}
	return list
}

// isNested reports whether a JSON value, without white space around it, is an object or a list: what begins so.
func isNested(raw json.RawMessage, opening byte) bool {
	return len(raw) > 0 && raw[0] == opening
}

// path is a place in a JSON body, such as results.0.from.
type path struct {
	text  string
	names []string
}

func newPath(text string) path {
	if text == "" {
		return path{} // the body itself
	}
	return path{text: text, names: strings.Split(text, ".")}
}

// in returns the value at the path in valid JSON, or nil, and reports whether a member on the way came twice with different
// values: the first counts. A number is a position in a list, or the name of a member.
func (p path) in(raw json.RawMessage) (found json.RawMessage, repeats bool) {
	for _, name := range p.names {
		found = nil
		isList, index := isNested(raw, '['), 0
		position, err := strconv.Atoi(name)
		for have, value := range parts(raw) {
			isIt := have == name
			if isList {
				isIt = err == nil && index == position
				index++
			}
			switch {
			case !isIt:
			case found == nil:
				found = value
			default:
				repeats = repeats || !bytes.Equal(found, value)
			}
		}
		raw = found
	}
	return raw, repeats
}

// scalar returns the text of a valid JSON value: the content of a string, a number, true or false as written, "" for null. An
// object or a list is nested, and its text is its JSON.
func scalar(raw json.RawMessage) (text string, nested bool) {
	text = string(bytes.TrimSpace(raw))
	switch {
	case text == "", text == "null":
		return "", false
	case text[0] == '{', text[0] == '[':
		return text, true
	case strings.Contains(text, `\`):
		var word string
		_ = json.Unmarshal(raw, &word) // it is valid
		return word, false
	case text[0] == '"':
		return text[1 : len(text)-1], false
	default:
		return text, false
	}
}
