package chatapp2

import (
	"encoding/json"
	"maps"
	"reflect"
	"strconv"
	"strings"
)

// members reads a JSON object member by member. Once something was not understood, whole reports false.
type members struct {
	left   map[string]any
	failed bool
	open   bool // what is left does not matter
}

// open is an object of which only what is known counts.
type open map[string]any

// opened gives a value with its objects open.
func opened(value any) any {
	switch v := value.(type) {
	case map[string]any:
		object := make(open, len(v))
		for name, member := range v {
			object[name] = opened(member)
		}
		return object
	case []any:
		list := make([]any, len(v))
		for i, element := range v {
			list[i] = opened(element)
		}
		return list
	default:
		return value
	}
}

// membersOf begins to read a value, which must be an object; nothing counts as an empty one.
func membersOf(value any) *members {
	m := new(members)
	switch v := value.(type) {
	case map[string]any:
		m.left = maps.Clone(v)
	case open:
		m.left, m.open = maps.Clone(map[string]any(v)), true
	case nil:
	default:
		m.failed = value != ""
	}
	if m.left == nil {
		m.left = map[string]any{}
	}
	return m
}

// take removes a member and gives its value, nil where there is none.
func (m *members) take(name string) any {
	value := m.left[name]
	delete(m.left, name)
	return value
}

// into reads a member that a field holds.
func (m *members) into(name string, to any) {
	if value := m.take(name); !fill(value, to) {
		m.failed = true
	}
}

// object begins to read a member that is an object itself. Its own reader must end whole.
func (m *members) object(name string) *members { return membersOf(m.take(name)) }

// list gives the elements of a member, nil where it is absent.
func (m *members) list(name string) []any {
	value := m.take(name)
	list, ok := value.([]any)
	if !ok && value != nil && value != "" {
		m.failed = true
	}
	return list
}

// word takes a member that holds one of a set of words, in lower case.
func (m *members) word(name string) string {
	value := m.take(name)
	word, ok := value.(string)
	if !ok && value != nil {
		m.failed = true
	}
	return strings.ToLower(word)
}

// is takes a member that must hold a word, or be absent.
func (m *members) is(name, want string) {
	if word := m.word(name); word != want && word != "" {
		m.failed = true
	}
}

// whole tells whether everything was understood, and nothing is left.
func (m *members) whole() bool {
	if m.failed || m.open {
		return !m.failed
	}
	for _, value := range m.left {
		if value != nil {
			return false
		}
	}
	return true
}

// fill puts a decoded JSON value into what to points to, and tells whether that holds all of it. It goes by the json tags, like
// encoding/json, but takes names exactly, refuses what it does not know, and reads numbers in quotes. Null is absent.
func fill(value, to any) bool { return fillValue(value, reflect.ValueOf(to).Elem()) }

// filler is a type that is filled in another way than by its tags.
type filler interface{ fillFrom(value any) bool }

func fillValue(value any, to reflect.Value) bool {
	if value == nil {
		return true
	}
	switch target := to.Addr().Interface().(type) {
	case *any:
		*target = value
		return true
	case *json.RawMessage:
		*target = rawOf(value)
		return true
	case filler:
		return target.fillFrom(value)
	}
	switch v := value.(type) {
	case bool:
		return fillBool(v, to)
	case json.Number:
		return fillNumber(v.String(), to)
	case string:
		return fillString(v, to)
	case []any:
		return fillList(v, to)
	case map[string]any:
		return fillObject(v, to, false)
	case open:
		return fillObject(v, to, true)
	default:
		return false
	}
}

func fillBool(value bool, to reflect.Value) bool {
	switch to.Kind() {
	case reflect.Bool:
		to.SetBool(value)
		return true
	case reflect.Pointer:
		return fillPointer(value, to)
	default:
		return false
	}
}

func fillNumber(digits string, to reflect.Value) bool {
	switch to.Kind() {
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(digits, 10, 64)
		to.SetInt(n)
		return err == nil
	case reflect.Float64:
		n, err := strconv.ParseFloat(digits, 64)
		to.SetFloat(n)
		return err == nil && json.Valid([]byte(digits)) // no NaN
	case reflect.Pointer:
		return fillPointer(json.Number(digits), to)
	default:
		return false
	}
}

func fillString(text string, to reflect.Value) bool {
	switch to.Kind() {
	case reflect.String:
		to.SetString(text)
		return true
	case reflect.Pointer:
		return text == "" && to.Type().Elem().Kind() != reflect.String || fillPointer(text, to)
	case reflect.Int, reflect.Int64, reflect.Float64:
		return text == "" || fillNumber(text, to)
	default:
		return text == ""
	}
}

func fillPointer(value any, to reflect.Value) bool {
	target := reflect.New(to.Type().Elem())
	if !fillValue(value, target.Elem()) {
		return false
	}
	to.Set(target)
	return true
}

func fillList(list []any, to reflect.Value) bool {
	if to.Kind() != reflect.Slice {
		return false
	}
	elements := reflect.MakeSlice(to.Type(), len(list), len(list))
	to.Set(elements)
	for i, value := range list {
		if value == nil || !fillValue(value, elements.Index(i)) {
			return false
		}
	}
	return true
}

func fillObject(object map[string]any, to reflect.Value, isOpen bool) bool {
	switch to.Kind() {
	case reflect.Pointer:
		if isOpen {
			return fillPointer(open(object), to)
		}
		return fillPointer(object, to)
	case reflect.Map: // of strings to strings
		values := reflect.MakeMap(to.Type())
		to.Set(values)
		for name, value := range object {
			text, ok := value.(string)
			if !ok {
				return false
			}
			values.SetMapIndex(reflect.ValueOf(name), reflect.ValueOf(text))
		}
		return true
	case reflect.Struct:
		known := 0
		for _, field := range reflect.VisibleFields(to.Type()) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			value, ok := object[name]
			if name == "" || !ok {
				continue
			}
			known++
			if !fillValue(value, to.FieldByIndex(field.Index)) {
				return false
			}
		}
		return isOpen || known == len(object)
	default:
		return false
	}
}
