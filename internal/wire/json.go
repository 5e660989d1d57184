package wire

import (
	"bytes"
	"encoding"
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

// ErrInvalidUTF8 is the error of EncodeText.
var ErrInvalidUTF8 = errors.New("a text is not valid UTF-8")

// EncodeText is Encode, except that a text which is not valid UTF-8 is ErrInvalidUTF8: encoding/json would replace the invalid bytes.
func EncodeText(value any) ([]byte, error) {
	raw, err := Encode(value)
	if err != nil {
		return nil, err
	}
	// In place of an invalid byte, encoding/json writes U+FFFD, or before Go 1.27 its escape. The value may also have that character itself.
	hasReplacement := bytes.ContainsRune(raw, utf8.RuneError) || hasEscape(raw, `\ufffd`)
	hasInvalidText := hasReplacement && !make(textCheck).isValid(reflect.ValueOf(value))
	if hasInvalidText || !utf8.Valid(raw) {
		return nil, ErrInvalidUTF8
	}
	return raw, nil
}

// A textCheck checks the texts that encoding/json takes from a value. It holds the pointers and maps that were checked: a value may hold
// itself where encoding/json does not look.
type textCheck map[reference]bool

// A reference is a pointer or a map.
type reference struct {
	kind    reflect.Type
	address uintptr
}

func (c textCheck) isValid(v reflect.Value) bool {
	switch kind := v.Kind(); {
	case kind == reflect.Invalid || writesItself(v.Type()):
		return true
	case kind == reflect.String:
		return utf8.ValidString(v.String())
	case kind == reflect.Interface:
		return c.isValid(v.Elem())
	case kind == reflect.Pointer:
		return c.isChecked(v) || c.isValid(v.Elem())
	case kind == reflect.Map:
		return c.isChecked(v) || c.hasValidEntries(v)
	case kind == reflect.Slice || kind == reflect.Array:
		return c.hasValidElements(v)
	case kind == reflect.Struct:
		return c.hasValidFields(v)
	default:
		return true
	}
}

// writesItself reports whether a type has a method that writes its JSON or its text.
func writesItself(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// isChecked reports whether a pointer or a map was checked before.
func (c textCheck) isChecked(v reflect.Value) bool {
	r := reference{v.Type(), v.Pointer()}
	wasChecked := c[r]
	c[r] = true
	return wasChecked
}

func (c textCheck) hasValidEntries(v reflect.Value) bool {
	for entries := v.MapRange(); entries.Next(); {
		if !c.isValid(entries.Key()) || !c.isValid(entries.Value()) {
			return false
		}
	}
	return true
}

func (c textCheck) hasValidElements(v reflect.Value) bool {
	for i := range v.Len() {
		if !c.isValid(v.Index(i)) {
			return false
		}
	}
	return true
}

func (c textCheck) hasValidFields(v reflect.Value) bool {
	for field, value := range v.Fields() {
		isEncoded := (field.IsExported() || field.Anonymous) && field.Tag.Get("json") != "-"
		if isEncoded && !c.isValid(value) {
			return false
		}
	}
	return true
}

// hasEscape reports whether a text in JSON has an escape.
func hasEscape(raw []byte, escape string) bool {
	for {
		before, after, isFound := bytes.Cut(raw, []byte(escape))
		if !isFound {
			return false
		}
		backslashes := len(before) - len(bytes.TrimRight(before, `\`))
		if backslashes%2 == 0 { // the backslash of the escape is not escaped itself
			return true
		}
		raw = after
	}
}
