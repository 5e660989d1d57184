package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"unicode/utf8"
)

// Encode returns value as JSON, without the escapes that HTML needs.
func Encode(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// EncodeText is Encode, except that a text which is not valid UTF-8 is an error: encoding/json would replace the invalid bytes.
func EncodeText(value any) ([]byte, error) {
	raw, err := Encode(value) // first: it ends if a value holds itself
	if err == nil && !isUTF8(reflect.ValueOf(value)) {
		return nil, ErrInvalidUTF8
	}
	return raw, err
}

// ErrInvalidUTF8 is the error of EncodeText.
var ErrInvalidUTF8 = errors.New("a text is not valid UTF-8")

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
