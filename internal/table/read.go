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
	value := r.value("", 0)
	return value, !r.tooDeep
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

// reader reads a text whose syntax was checked.
type reader struct {
	decoder *json.Decoder
	found   *Problems
	tooDeep bool // it has stopped
}

func (r *reader) value(path string, depth int) any {
	switch token := r.token(); {
	case token != json.Delim('{') && token != json.Delim('['):
		return token
	case depth == maxDepth:
		r.found.add(path, "nests deeper than "+strconv.Itoa(maxDepth)+" levels")
		r.tooDeep = true
		return nil
	case token == json.Delim('{'):
		object := map[string]any{}
		for r.more() {
			key, _ := r.token().(string)
			place := join(path, key)
			if _, twice := object[key]; twice {
				r.found.add(place, "stands there twice")
			}
			object[key] = r.value(place, depth+1)
		}
		return object
	default:
		list := []any{}
		for r.more() {
			list = append(list, r.value(at(path, len(list)), depth+1))
		}
		return list
	}
}

// more reports whether an object or a list goes on, and reads its end if not.
func (r *reader) more() bool {
	if !r.tooDeep && !r.decoder.More() {
		r.token()
		return false
	}
	return !r.tooDeep
}

func (r *reader) token() json.Token {
	token, _ := r.decoder.Token()
	return token
}
