package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// StoredFields returns pointers to the fields of a message by their json tags, for DecodeStored. Message is a pointer to a
// struct. A field without a tag is stored under its own name.
func StoredFields(message any) map[string]any {
	fields := map[string]any{}
	v := reflect.ValueOf(message).Elem()
	for i := range v.NumField() {
		pointer := v.Field(i).Addr().Interface()
		if d, ok := pointer.(*time.Duration); ok {
			pointer = (*StoredDuration)(d)
		}
		field := v.Type().Field(i)
		fields[cmp.Or(field.Tag.Get("json"), field.Name)] = pointer
	}
	return fields
}

// FieldsToStore is StoredFields without those that are zero, for EncodeStored.
func FieldsToStore(message any) map[string]any {
	fields := StoredFields(message)
	maps.DeleteFunc(fields, func(_ string, field any) bool {
		if at, ok := field.(*time.Time); ok {
			return at.IsZero() // in any zone
		}
		return reflect.ValueOf(field).Elem().IsZero()
	})
	return fields
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

// DecodeStored decodes a JSON object that EncodeStored wrote into fields, which map each key to a pointer. A key that is not
// among them, or that comes twice, is an error: nothing is lost silently. A null is absent. Numbers in an any become
// json.Number. Errors never repeat a value.
func DecodeStored(data []byte, fields map[string]any) error {
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
		if err := d.Decode(target); err != nil {
			return fmt.Errorf("%q must be %s", name, kindOf(target))
		}
		if raw, ok := target.(*json.RawMessage); ok && string(*raw) == "null" {
			*raw = nil
		}
	}
	return nil
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
