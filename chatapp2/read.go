package chatapp2

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// fit says how well a type holds a JSON value. A lower one wins: min combines them.
type fit int

const (
	misfit  fit = iota // a member is of another kind, or is missing though the type would write it
	partial            // all known members are held, but there are others
	exact              // the type holds all of it
)

// exactIf returns f if the condition holds, and else misfit.
func (f fit) exactIf(condition bool) fit {
	if condition {
		return f
	}
	return misfit
}

// reader is a type that reads itself from a decoded value.
type reader interface{ read(value any) fit }

// shaper is a type whose fields are not the platform's shape.
type shaper interface{ shape() any }

// shapeOf returns a value in the platform's shape, for encoding/json.
func shapeOf(value any) any {
	if s, ok := value.(shaper); ok {
		return s.shape()
	}
	return value
}

// decode decodes one JSON value, with numbers as json.Number.
func decode(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value")
	}
	return value, nil
}

// decodeValid decodes JSON that is known to be valid.
func decodeValid(raw json.RawMessage) any {
	value, _ := decode(raw)
	return value
}

// rawOf returns a decoded value as JSON again, nil for null.
func rawOf(value any) json.RawMessage {
	if value == nil {
		return nil
	}
	raw, _ := wire.Encode(value)
	return raw
}

// readAs reads a value into a type whose json tags are its shape.
func readAs[T any](value any) (T, fit) {
	var to T
	if value == nil {
		return to, misfit
	}
	f := read(value, &to)
	return to, f
}

// named returns the one of kinds that has a name, in any case; nil if none has.
func named[T any](kinds []T, nameOf func(T) string, name string) T {
	name = strings.ToLower(name)
	for _, kind := range kinds {
		if nameOf(kind) == name {
			return kind
		}
	}
	return *new(T)
}

// readLike reads a value into the type of kind, which may be nil.
func readLike[T any](kind T, value any) (T, fit) {
	if value == nil || any(kind) == nil {
		return kind, misfit
	}
	to := reflect.New(reflect.TypeOf(kind)).Elem()
	f := readValue(value, to)
	return to.Interface().(T), f
}

// read reads a decoded value into what to points to. It goes by json tags like encoding/json, with these differences: names
// are matched exactly, numbers may be in quotes, null is absent, unknown members are reported, and so is a member that is
// missing though its tag has no omitzero.
func read(value, to any) fit { return readValue(value, reflect.ValueOf(to).Elem()) }

func readValue(value any, to reflect.Value) fit {
	if value == nil {
		return exact
	}
	switch target := to.Addr().Interface().(type) {
	case reader:
		return target.read(value)
	case *any:
		*target = value
		return exact
	case *json.RawMessage:
		*target = rawOf(value)
		return exact
	case *map[string]string:
		return readTexts(value, target)
	case encoding.TextUnmarshaler:
		text, ok := value.(string)
		return exact.exactIf(ok && target.UnmarshalText([]byte(text)) == nil)
	}
	switch to.Kind() {
	case reflect.String:
		text, ok := value.(string)
		to.SetString(text)
		return exact.exactIf(ok)
	case reflect.Bool:
		is, ok := value.(bool)
		to.SetBool(is)
		return exact.exactIf(ok)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(numberText(value), 10, 64)
		to.SetInt(n)
		return exact.exactIf(err == nil && !to.OverflowInt(n))
	case reflect.Float64:
		n, err := strconv.ParseFloat(numberText(value), 64)
		to.SetFloat(n)
		return exact.exactIf(err == nil)
	case reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return readValue(value, to.Elem())
	case reflect.Slice:
		return readList(value, to)
	case reflect.Struct:
		return readObject(value, to)
	default:
		return misfit
	}
}

// numberText returns a number, or one in quotes, as it is written; "" if value is neither.
func numberText(value any) string {
	switch v := value.(type) {
	case json.Number:
		return v.String()
	case string:
		if strings.Trim(v, "+-.0123456789eE") == "" {
			return v
		}
	}
	return ""
}

func readList(value any, to reflect.Value) fit {
	list, ok := value.([]any)
	if !ok {
		return misfit
	}
	to.Set(reflect.MakeSlice(to.Type(), len(list), len(list)))
	f := exact
	for i, element := range list {
		f = min(f, readValue(element, to.Index(i)).exactIf(element != nil))
	}
	return f
}

func readTexts(value any, to *map[string]string) fit {
	object, ok := value.(map[string]any)
	*to = make(map[string]string, len(object))
	for name, member := range object {
		text, isText := member.(string)
		(*to)[name], ok = text, ok && isText
	}
	return exact.exactIf(ok)
}

func readObject(value any, to reflect.Value) fit {
	object, ok := value.(map[string]any)
	if !ok {
		return misfit
	}
	f, known := exact, 0
	for _, field := range reflect.VisibleFields(to.Type()) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		optional := strings.Contains(options, "omitzero")
		member, present := object[name]
		if present {
			known++
		}
		if member == nil {
			f = f.exactIf(optional)
			continue
		}
		target := to.FieldByIndex(field.Index)
		f = min(f, readValue(member, target))
		f = f.exactIf(!optional || !target.IsZero() || isEmpty(member)) // a zero field is not written
	}
	if known < len(object) {
		f = min(f, partial)
	}
	return f
}

// isEmpty reports whether a value means the same as its absence: false, an empty text, or an object of such values.
func isEmpty(value any) bool {
	object, ok := value.(map[string]any)
	for _, member := range object {
		ok = ok && isEmpty(member)
	}
	return ok || value == nil || value == false || value == ""
}

// valueOf returns what p points to, or the zero value.
func valueOf[T any](p *T) T {
	if p == nil {
		return *new(T)
	}
	return *p
}

// each returns what f makes of each element, nil for nil.
func each[A, B any](list []A, f func(A) B) []B {
	if list == nil {
		return nil
	}
	all := make([]B, len(list))
	for i, element := range list {
		all[i] = f(element)
	}
	return all
}
