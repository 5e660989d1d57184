package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
		value, err := Encode(extra[name])
		if err != nil {
			return nil, fmt.Errorf("%s cannot be encoded: %T", place, err)
		}
		object = object[:len(object)-1] // its closing brace
		if len(object) > 1 {
			object = append(object, ',')
		}
		object = append(append(append(append(object, key...), ':'), value...), '}')
	}
	return object, nil
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
