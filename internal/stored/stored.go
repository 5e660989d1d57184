// Package stored writes messages for storage and reads them back, such as for a queue.
package stored

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// Encode encodes a message of a package, a pointer to a struct, for storage: each field that is not zero under its json tag, or else
// under its name. A struct behind a pointer is an object. A field of an interface holds a struct of one of the kinds, by the name that
// is stored beside its fields as "type". Kinds may be nil if there is no such field.
func Encode(of string, message any, kinds map[string]any) ([]byte, error) {
	var data []byte
	fields, err := fieldsOf(reflect.ValueOf(message).Elem(), kinds)
	if err == nil {
		data, err = EncodeValue(fields)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: the message cannot be encoded: %w", of, err)
	}
	return data, nil
}

// fieldsOf returns the fields of a struct that are not zero as they are stored, by their keys.
func fieldsOf(v reflect.Value, kinds map[string]any) (fields map[string]any, err error) {
	fields = map[string]any{}
	for field, value := range v.Fields() {
		held := value.Interface()
		at, isTime := held.(time.Time)
		if value.IsZero() || isTime && at.IsZero() { // in any zone
			continue
		}
		if ttl, ok := held.(time.Duration); ok {
			held = Duration(ttl)
		}
		if value.Kind() == reflect.Interface {
			if held, err = unionOf(field.Name, value.Elem(), kinds); err != nil {
				return nil, err
			}
		}
		fields[keyOf(field)] = held
	}
	return fields, nil
}

func keyOf(field reflect.StructField) string { return cmp.Or(field.Tag.Get("json"), field.Name) }

func unionOf(name string, v reflect.Value, kinds map[string]any) (any, error) {
	for kind, example := range kinds {
		if v.Type() == reflect.TypeOf(example) {
			fields, err := fieldsOf(v, nil)
			if err == nil {
				fields["type"] = kind
			}
			return fields, err
		}
	}
	return nil, errors.New(name + " " + cmp.Or(wire.CheckValue(v.Interface()), "holds an unknown type"))
}

// EncodeValue encodes a message for storage. Text that is not valid UTF-8 would change on the way and is an error. Errors
// never repeat a value.
func EncodeValue(value any) ([]byte, error) {
	raw, err := wire.EncodeText(value)
	switch {
	case errors.Is(err, wire.ErrInvalidUTF8):
		return nil, errors.New("it holds text that is not valid UTF-8")
	case err != nil:
		return nil, fmt.Errorf("it holds a value that is no JSON (%T)", err)
	}
	return raw, nil
}

// Decode decodes what Encode encodes, and replaces the whole message. A key that the message does not have, or that comes twice, is an
// error: nothing is lost silently. A null is absent. Numbers in an any become json.Number. Errors never repeat a value.
func Decode[M any](of string, data []byte, message *M, kinds map[string]any) error {
	var decoded M
	if err := restore(data, reflect.ValueOf(&decoded).Elem(), kinds, ""); err != nil {
		return fmt.Errorf("%s: the message cannot be decoded: %w", of, err)
	}
	*message = decoded
	return nil
}

// restore decodes a JSON object into a struct. The object may also have the ignored key.
func restore(data []byte, to reflect.Value, kinds map[string]any, ignored string) error {
	members := jsonscan.Members(data)
	if members == nil || jsonscan.Check(data) != nil || !utf8.Valid(data) {
		return errors.New("want a JSON object in valid UTF-8")
	}
	fields := map[string]reflect.Value{}
	for field, value := range to.Fields() {
		fields[keyOf(field)] = value
	}
	for _, m := range members {
		field, known := fields[m.Name]
		switch {
		case !known && (ignored == "" || m.Name != ignored):
			return fmt.Errorf("unknown key %s", quoteKey(m.Name))
		case m.Again:
			return fmt.Errorf("%q comes twice", m.Name)
		case !known || string(m.Value) == "null":
			continue
		}
		if err := restoreField(m.Name, m.Value, field, kinds); err != nil {
			return err
		}
	}
	return nil
}

func restoreField(name string, data []byte, field reflect.Value, kinds map[string]any) error {
	switch {
	case field.Kind() == reflect.Interface:
		var kind struct{ Type string }
		if json.Unmarshal(data, &kind) != nil {
			return fmt.Errorf("%q must be an object with a type", name)
		}
		example, known := kinds[kind.Type]
		if !known {
			return fmt.Errorf("%q has a type that is none of %s", name, strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
		}
		decoded := reflect.New(reflect.TypeOf(example)).Elem()
		err := restore(data, decoded, nil, "type")
		field.Set(decoded)
		return err
	case field.Kind() == reflect.Pointer:
		field.Set(reflect.New(field.Type().Elem()))
		return restore(data, field.Elem(), nil, "")
	}
	target := field.Addr().Interface()
	if ttl, ok := target.(*time.Duration); ok {
		target = (*Duration)(ttl)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if d.Decode(target) != nil {
		return fmt.Errorf("%q must be %s", name, kindOf(target))
	}
	return nil
}

// Duration is a duration that is stored as Go writes it, such as "1m30s".
type Duration time.Duration

// MarshalText returns the duration as text.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText parses the duration.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// quoteKey quotes a key that was made up by somebody else, unless it may be a number or a text.
func quoteKey(name string) string {
	const longest = 40
	odd := func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsDigit(r) || r == ' ' }
	if len(name) > longest || strings.ContainsFunc(name, odd) {
		return "(a key that is not shown)"
	}
	return strconv.Quote(name)
}

func kindOf(target any) string {
	switch target.(type) {
	case *string:
		return "a string"
	case *int64:
		return "a whole number"
	case *bool:
		return "true or false"
	case *Duration:
		return `a duration such as "1m30s"`
	case *time.Time:
		return `a time such as "2026-10-03T14:44:23Z"`
	default:
		return "an object"
	}
}
