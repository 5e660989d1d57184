package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

// readOverlay returns the JSON value in text: objects as map[string]any, lists as []any, numbers as json.Number. It returns false if
// there is no value to go on with; a repeated key is a problem that does not stop it.
func readOverlay(text []byte, problems *Problems) (any, bool) {
	switch {
	case len(text) > maxBytes:
		problems.add("", "the overlay is larger than "+strconv.Itoa(maxBytes)+" bytes")
		return nil, false
	case len(bytes.TrimSpace(text)) == 0:
		problems.add("", "the overlay is empty; one that changes nothing is {}")
		return nil, false
	case !utf8.Valid(text):
		problems.add("", "the overlay is not valid UTF-8")
		return nil, false
	}
	var whole json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil {
		problems.add("", "the overlay is not one JSON value"+position(text, err))
		return nil, false
	}
	r := reader{problems: problems}
	value := r.value(whole, "", 0)
	return value, !r.isTooDeep
}

// position returns the line and the column near a syntax error in text, or "". The column differs by one between implementations of
// encoding/json. The words of err are left out, because they quote the text.
func position(text []byte, err error) string {
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok || syntax.Offset < 1 || syntax.Offset > int64(len(text)) {
		return ""
	}
	before := text[:syntax.Offset-1]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return ", near line " + strconv.Itoa(line) + ", column " + strconv.Itoa(column)
}

// reader reads JSON whose syntax was checked.
type reader struct {
	problems  *Problems
	isTooDeep bool // reading has stopped
}

func (r *reader) value(text []byte, path string, depth int) any {
	isObject := text[0] == '{'
	isList := text[0] == '['
	switch {
	case r.isTooDeep:
		return nil
	case (isObject || isList) && depth == maxDepth:
		r.problems.add(path, "nests deeper than "+strconv.Itoa(maxDepth)+" levels")
		r.isTooDeep = true
		return nil
	case isObject:
		return r.object(text, path, depth)
	case isList:
		return r.list(text, path, depth)
	default:
		var value any
		mustDecode(string(text), &value)
		return value
	}
}

func (r *reader) object(text []byte, path string, depth int) map[string]any {
	object := map[string]any{}
	for _, member := range jsonscan.Members(text) {
		place := join(path, member.Name)
		if member.Again {
			r.problems.add(place, "is there twice")
		}
		object[member.Name] = r.value(member.Value, place, depth+1)
	}
	return object
}

func (r *reader) list(text []byte, path string, depth int) []any {
	list := []any{}
	for element := range jsonscan.Elements(text) {
		list = append(list, r.value(element, elementPath(path, len(list)), depth+1))
	}
	return list
}
