package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"
)

// AppendExtra encodes a message: a JSON object, and further members under their wire names, in the order of those. A name that
// is taken is an error, as is a value that cannot be encoded; both name the field and repeat nothing of it.
func AppendExtra(object []byte, extra map[string]any, field string, taken func(name string) bool) ([]byte, error) {
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		place := field + "[" + strconv.Quote(name) + "]"
		if taken(name) {
			return nil, errors.New(place + " is the name of a field of the message")
		}
		if !utf8.ValidString(name) {
			return nil, errors.New(place + ": a name must be valid UTF-8")
		}
		key, err := Encode(name)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be encoded: %T", place, err)
		}
		value, err := EncodeText(extra[name])
		if err != nil {
			return nil, fmt.Errorf("%s cannot be encoded: %s", place, describe(err))
		}
		object = object[:len(object)-1] // its closing brace
		if len(object) > 1 {
			object = append(object, ',')
		}
		object = append(append(append(append(object, key...), ':'), value...), '}')
	}
	return object, nil
}

// describe says why a value cannot be encoded, without what encoding/json repeats of it.
func describe(err error) string {
	if errors.Is(err, errNoUTF8) {
		return err.Error()
	}
	return fmt.Sprintf("%T", err)
}

// EncodeText is Encode for what is to be read again: a text that is not valid UTF-8 would be another then, and is an error.
func EncodeText(value any) ([]byte, error) {
	raw, err := Encode(value) // first, since it ends where a value holds itself
	if err == nil && !IsUTF8(value) {
		return nil, errNoUTF8
	}
	return raw, err
}

var errNoUTF8 = errors.New("a text is not valid UTF-8")

// IsUTF8 tells whether every text in a value is valid.
func IsUTF8(value any) bool { return isUTF8(reflect.ValueOf(value)) }

func isUTF8(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return utf8.ValidString(v.String())
	case reflect.Pointer, reflect.Interface:
		return v.IsNil() || isUTF8(v.Elem())
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v.Kind() == reflect.Array || utf8.Valid(v.Bytes())
		}
		for i := range v.Len() {
			if !isUTF8(v.Index(i)) {
				return false
			}
		}
	case reflect.Map:
		for key, value := range v.Seq2() {
			if !isUTF8(key) || !isUTF8(value) {
				return false
			}
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			if !isUTF8(field) {
				return false
			}
		}
	}
	return true
}

// Encode is json.Marshal without the escapes that HTML needs.
func Encode(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
