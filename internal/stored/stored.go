// Package stored writes messages for storage and reads them back, such as for a queue. The json tags of a message say how it is stored.
package stored

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// Encode encodes a message, or a part of one, for storage. Text that is not valid UTF-8 would change on the way and is an error. Errors
// never repeat a value.
func Encode(value any) ([]byte, error) {
	raw, err := wire.EncodeText(value)
	switch {
	case errors.Is(err, wire.ErrInvalidUTF8):
		return nil, errors.New("it holds text that is not valid UTF-8")
	case err != nil:
		return nil, fmt.Errorf("it holds a value that is no JSON (%T)", err)
	}
	return raw, nil
}

// ErrUnknownKey is the error of Decode for a key that the value does not have. A later version of this library may have written it.
var ErrUnknownKey = errors.New("unknown key")

// Decode decodes an object that Encode encoded. An unknown key, or a key that comes twice in an object at any depth, is an error: nothing is
// lost silently. Numbers in an any become json.Number. Errors never repeat a value.
func Decode(data []byte, value any) error {
	scanner := &jsonscan.Scanner{Doc: data}
	if scanner.Peek() != '{' || jsonscan.Check(data) != nil || !utf8.Valid(data) {
		return errors.New("want a JSON object in valid UTF-8")
	}
	if name, isRepeated := repeatedKey(scanner, reflect.TypeOf(value)); isRepeated {
		return fmt.Errorf("%s comes twice", quoteKey(name))
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	decoder.DisallowUnknownFields()
	return describe(decoder.Decode(value))
}

// repeatedKey returns the first key that comes twice in an object of a document of a type, and whether there is one. Two keys are the same if
// they are of the same field, which encoding/json finds in any case. In the keys of a map, case counts.
func repeatedKey(s *jsonscan.Scanner, t reflect.Type) (name string, isRepeated bool) {
	switch s.Peek() {
	case '{':
		fields := fieldsOf(t)
		seen := map[string]bool{}
		for more := s.Open('}'); more; more = s.Next('}') {
			name = string(s.Name())
			key, valueType := fieldOf(fields, name)
			if seen[key] {
				return name, true
			}
			seen[key] = true
			if name, isRepeated = repeatedKey(s, valueType); isRepeated {
				return name, true
			}
		}
	case '[':
		for more := s.Open(']'); more; more = s.Next(']') {
			if name, isRepeated = repeatedKey(s, t); isRepeated { // no type that is stored has a list of structs
				return name, true
			}
		}
	default:
		s.Skip()
	}
	return "", false
}

// fieldsOf returns the fields of a struct, or of a struct behind a pointer. Other types have none.
func fieldsOf(t reflect.Type) []reflect.StructField {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	return reflect.VisibleFields(t)
}

// fieldOf returns the name and the type of the field that a key fills. A key without a field keeps its name, and its value may be anything.
func fieldOf(fields []reflect.StructField, key string) (name string, valueType reflect.Type) {
	for _, field := range fields {
		name, _, _ = strings.Cut(field.Tag.Get("json"), ",")
		if strings.EqualFold(name, key) {
			return name, field.Type
		}
	}
	return key, reflect.TypeFor[any]()
}

// describe returns an error of encoding/json without the values that it repeats.
func describe(err error) error {
	const unknown = "json: unknown field "
	switch wrong, isType := errors.AsType[*json.UnmarshalTypeError](err); {
	case err == nil, errors.Is(err, errDuration):
		return err
	case isType:
		name := wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:] // after the names of the structs that it is in
		return fmt.Errorf("%q must hold %s", name, kindOf(wrong.Type))
	case strings.HasPrefix(err.Error(), unknown):
		name, _ := strconv.Unquote(strings.TrimPrefix(err.Error(), unknown))
		return fmt.Errorf("%w %s", ErrUnknownKey, quoteKey(name))
	default:
		return fmt.Errorf("it holds a value that cannot be read (%T)", err)
	}
}

func kindOf(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[string]():
		return "a string"
	case reflect.TypeFor[int64]():
		return "a whole number"
	case reflect.TypeFor[bool]():
		return "true or false"
	case reflect.TypeFor[Duration]():
		return `a duration such as "1m30s"`
	default:
		return "an object"
	}
}

// Duration is a duration that is stored as Go writes it, such as "1m30s".
type Duration time.Duration

var errDuration = errors.New(`a duration must be such as "1m30s"`)

// MarshalText returns the duration as text.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText parses the duration. The error does not repeat the text.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return errDuration
	}
	*d = Duration(parsed)
	return nil
}

// quoteKey quotes a key from outside, unless it may be a number or a text.
func quoteKey(name string) string {
	const longest = 40
	odd := func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsDigit(r) || r == ' ' }
	if len(name) > longest || strings.ContainsFunc(name, odd) {
		return "(a key that is not shown)"
	}
	return strconv.Quote(name)
}
