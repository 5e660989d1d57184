package wire

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
)

// Store encodes a message, a pointer to a struct, for storage: each field that is not zero under its json tag, or else under its
// name. A struct behind a pointer is an object. A field of an interface holds a struct of one of the kinds, by the name that is
// stored beside its fields as "type". Kinds may be nil if there is no such field.
func Store(message any, kinds map[string]any) ([]byte, error) {
	fields, err := fieldsToStore(message, kinds)
	if err != nil {
		return nil, err
	}
	return EncodeStored(fields)
}

// Restore decodes what Store encodes into a message. A key that the message does not have, or that comes twice, is an error:
// nothing is lost silently. A null is absent. Numbers in an any become json.Number. Errors never repeat a value.
func Restore(data []byte, message any, kinds map[string]any) error {
	return decodeStored(data, storedFields(message, kinds))
}

// storedFields returns pointers to the fields of a message, by their keys.
func storedFields(message any, kinds map[string]any) map[string]any {
	fields := map[string]any{}
	v := reflect.ValueOf(message).Elem()
	for i := range v.NumField() {
		field := v.Type().Field(i)
		key := cmp.Or(field.Tag.Get("json"), field.Name)
		pointer := v.Field(i).Addr().Interface()
		switch d, isDuration := pointer.(*time.Duration); {
		case isDuration:
			pointer = (*StoredDuration)(d)
		case field.Type.Kind() == reflect.Interface:
			pointer = union{field.Name, key, v.Field(i), kinds}
		case field.Type.Kind() == reflect.Pointer && field.Type.Elem().Kind() == reflect.Struct:
			pointer = optional{v.Field(i)}
		}
		fields[key] = pointer
	}
	return fields
}

// fieldsToStore is storedFields without those that are zero.
func fieldsToStore(message any, kinds map[string]any) (fields map[string]any, err error) {
	fields = storedFields(message, kinds)
	for key, field := range fields {
		var isZero bool
		switch f := field.(type) {
		case union:
			fields[key], err = f.members()
			isZero = f.field.IsNil()
		case optional:
			fields[key] = f.pointer.Interface()
			isZero = f.pointer.IsNil()
		case *time.Time:
			isZero = f.IsZero() // in any zone
		default:
			isZero = reflect.ValueOf(field).Elem().IsZero()
		}
		if err != nil {
			return nil, err
		}
		if isZero {
			delete(fields, key)
		}
	}
	return fields, nil
}

// EncodeStored encodes a message for storage. Text that is not valid UTF-8 would change on the way and is an error. Errors
// never repeat a value.
func EncodeStored(value any) ([]byte, error) {
	raw, err := EncodeText(value)
	switch {
	case errors.Is(err, errInvalidUTF8):
		return nil, errors.New("it holds text that is not valid UTF-8")
	case err != nil:
		return nil, fmt.Errorf("it holds a value that is no JSON (%T)", err)
	}
	return raw, nil
}

// decodeStored decodes a JSON object into fields.
func decodeStored(data []byte, fields map[string]any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if open, err := d.Token(); err != nil || open != json.Delim('{') || !json.Valid(data) || !utf8.Valid(data) {
		return errors.New("want a JSON object in valid UTF-8")
	}
	seen := map[string]bool{}
	for d.More() {
		key, _ := d.Token() // it is valid
		name, _ := key.(string)
		target, known := fields[name]
		switch {
		case !known:
			return fmt.Errorf("unknown key %s", quoteKey(name))
		case seen[name]:
			return fmt.Errorf("%q comes twice", name)
		}
		seen[name] = true
		inner, isInner := target.(restorer)
		var raw json.RawMessage
		if isInner {
			target = &raw
		}
		if err := d.Decode(target); err != nil {
			return fmt.Errorf("%q must be %s", name, kindOf(target))
		}
		if isInner && string(raw) != "null" {
			if err := inner.restore(raw); err != nil {
				return err
			}
		}
	}
	return nil
}

// restorer is a field that is an object with fields of its own.
type restorer interface {
	restore(data []byte) error
}

// optional is a struct behind a pointer.
type optional struct{ pointer reflect.Value }

func (o optional) restore(data []byte) error {
	decoded := reflect.New(o.pointer.Type().Elem())
	err := Restore(data, decoded.Interface(), nil)
	o.pointer.Set(decoded)
	return err
}

// union is a field of an interface.
type union struct {
	name, key string
	field     reflect.Value
	kinds     map[string]any
}

// members returns what is stored, or nil.
func (u union) members() (map[string]any, error) {
	if u.field.IsNil() {
		return nil, nil
	}
	for kind, example := range u.kinds {
		if held := u.field.Elem(); held.Type() == reflect.TypeOf(example) {
			pointer := reflect.New(held.Type())
			pointer.Elem().Set(held)
			members, err := fieldsToStore(pointer.Interface(), nil)
			if err == nil {
				members["type"] = kind
			}
			return members, err
		}
	}
	return nil, errors.New(u.name + " " + cmp.Or(CheckValue(u.field.Interface()), "holds an unknown type"))
}

func (u union) restore(data []byte) error {
	var kind struct{ Type string }
	if err := json.Unmarshal(data, &kind); err != nil {
		return fmt.Errorf("%q must be an object with a type", u.key)
	}
	example, known := u.kinds[kind.Type]
	if !known {
		return fmt.Errorf("%q has a type that is none of %s", u.key, strings.Join(slices.Sorted(maps.Keys(u.kinds)), ", "))
	}
	decoded := reflect.New(reflect.TypeOf(example))
	fields := storedFields(decoded.Interface(), nil)
	fields["type"] = &kind.Type
	err := decodeStored(data, fields)
	u.field.Set(decoded.Elem())
	return err
}

// StoredDuration is a duration that is stored as Go writes it, such as "1m30s".
type StoredDuration time.Duration

// MarshalText returns the duration as text.
func (d StoredDuration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText parses the duration.
func (d *StoredDuration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = StoredDuration(parsed)
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
	case *StoredDuration:
		return `a duration such as "1m30s"`
	case *time.Time:
		return `a time such as "2026-10-03T14:44:23Z"`
	default:
		return "an object"
	}
}
