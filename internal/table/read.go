package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

// read returns the JSON value in text: objects as map[string]any, lists as []any, numbers as json.Number. It returns false if
// there is no value to go on with; a repeated key is a problem that does not stop it.
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
	var whole json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil {
		found.add("", "the overlay is not one JSON value"+position(text, err))
		return nil, false
	}
	r := reader{found: found}
	value := r.value(whole, "", 0)
	return value, !r.tooDeep
}

// position returns near which line and column of text err was met, if err says. The column differs by one between implementations of
// encoding/json. The words of err are left out, because they quote the text.
func position(text []byte, err error) string {
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok || syntax.Offset < 1 || syntax.Offset > int64(len(text)) {
		return ""
	}
	before := text[:syntax.Offset-1]
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return ", near line " + strconv.Itoa(1+bytes.Count(before, []byte("\n"))) + ", column " + strconv.Itoa(column)
}

// reader reads JSON whose syntax was checked.
type reader struct {
	found   *Problems
	tooDeep bool // reading has stopped
}

func (r *reader) value(text []byte, path string, depth int) (value any) {
	isNested := text[0] == '{' || text[0] == '['
	switch {
	case r.tooDeep:
	case isNested && depth == maxDepth:
		r.found.add(path, "nests deeper than "+strconv.Itoa(maxDepth)+" levels")
		r.tooDeep = true
	case text[0] == '{':
		object := map[string]any{}
		for _, m := range jsonscan.Members(text) {
			place := join(path, m.Name)
			if m.Again {
				r.found.add(place, "is there twice")
			}
			object[m.Name] = r.value(m.Value, place, depth+1)
		}
		return object
	case text[0] == '[':
		list := []any{}
		for element := range jsonscan.Elements(text) {
			list = append(list, r.value(element, elementPath(path, len(list)), depth+1))
		}
		return list
	default:
		_ = decodeInto(string(text), &value)
	}
	return value
}
