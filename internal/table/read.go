package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf8"
)

// read returns the JSON value in text: objects as map[string]any, lists as []any, numbers as json.Number. It reads token by
// token because encoding/json drops all but the last of several members with one key. It returns false if there is no value
// to go on with; a repeated key is a problem that does not stop it.
func read(text []byte, found *Problems) (any, bool) {
	switch {
	case len(text) > maxBytes:
		found.add("", "the overlay is larger than "+strconv.Itoa(maxBytes)+" bytes")
		return nil, false
	case len(bytes.TrimSpace(text)) == 0:
		found.add("", "the overlay is empty; one that changes nothing is {}")
		return nil, false
	case !utf8.Valid(text):
		found.add("", "the overlay is not valid UTF-8")
		return nil, false
	}
	// The syntax is checked first, since a decoder that reads tokens cannot tell where in the text a fault is.
	var whole json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil {
		found.add("", "the overlay is not one JSON value"+position(text, err))
		return nil, false
	}
	r := reader{decoder: json.NewDecoder(bytes.NewReader(text)), found: found}
	r.decoder.UseNumber()
	return r.value("", 0)
}

// position returns near which line of text err was met, if err says. It leaves out the words of err, which quote the text, and
// the column, which differs by one between implementations of encoding/json.
func position(text []byte, err error) string {
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok || syntax.Offset < 1 || syntax.Offset > int64(len(text)) {
		return ""
	}
	return ", near line " + strconv.Itoa(1+bytes.Count(text[:syntax.Offset-1], []byte("\n")))
}

type reader struct {
	decoder *json.Decoder
	found   *Problems
}

func (r *reader) value(path string, depth int) (any, bool) {
	token, ok := r.token(path)
	if !ok {
		return nil, false
	}
	opening, ok := token.(json.Delim)
	if !ok {
		return token, true
	}
	if depth == maxDepth {
		r.found.add(path, "nests deeper than "+strconv.Itoa(maxDepth)+" levels")
		return nil, false
	}
	var result any
	if opening == '{' {
		result, ok = r.object(path, depth+1)
	} else {
		result, ok = r.list(path, depth+1)
	}
	if !ok {
		return nil, false
	}
	_, ok = r.token(path) // the closing delimiter
	return result, ok
}

func (r *reader) object(path string, depth int) (map[string]any, bool) {
	object := map[string]any{}
	for r.decoder.More() {
		token, ok := r.token(path)
		if !ok {
			return nil, false
		}
		key, _ := token.(string)
		if _, twice := object[key]; twice {
			r.found.add(join(path, key), "stands there twice")
		}
		if object[key], ok = r.value(join(path, key), depth); !ok {
			return nil, false
		}
	}
	return object, true
}

func (r *reader) list(path string, depth int) ([]any, bool) {
	list := []any{}
	for r.decoder.More() {
		value, ok := r.value(at(path, len(list)), depth)
		if !ok {
			return nil, false
		}
		list = append(list, value)
	}
	return list, true
}

func (r *reader) token(path string) (json.Token, bool) {
	token, err := r.decoder.Token()
	if err != nil {
		r.found.add(path, "cannot be read")
		return nil, false
	}
	return token, true
}
