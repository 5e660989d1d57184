package shape

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// Decode returns one JSON value, with numbers as json.Number; nil if data is anything else.
func Decode(data []byte) (value any) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return nil
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil
	}
	return value
}

// RawOf returns a decoded value as JSON again, nil for null.
func RawOf(value any) json.RawMessage {
	if value == nil {
		return nil
	}
	raw, _ := wire.Encode(value)
	return raw
}

// NumberText returns a number, or one in quotes, as it is written; "" if value is neither.
func NumberText(value any) string {
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

// isEmpty reports whether a value means the same as its absence: null, false, an empty text or list, or an object of such values.
func isEmpty(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		for _, member := range v {
			if !isEmpty(member) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	default:
		return value == nil || value == false || value == ""
	}
}
