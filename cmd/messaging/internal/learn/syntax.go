package learn

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// jsonStart matches the start of a text that is meant as JSON.
var jsonStart = regexp.MustCompile(`^(\{|\[\s*[[{"\]])`)

// checkJSON returns an error if a body of the example is meant as JSON and is not valid. what names the body.
func (e *Example) checkJSON(what, body string) error {
	if !jsonStart.MatchString(body) {
		return nil
	}
	var document json.RawMessage
	err := json.Unmarshal([]byte(body), &document)
	if err == nil {
		return nil
	}
	return e.errorf("%s is not JSON%s: %w", what, e.placeOf(body, err), err)
}

// placeOf returns where in the file a body has an error, or "" if the example writes the body differently, such as in quotes of a shell.
func (e *Example) placeOf(body string, err error) string {
	syntax, isSyntax := errors.AsType[*json.SyntaxError](err)
	start := strings.LastIndex(e.whole, body)
	if !isSyntax || start < 0 {
		return ""
	}
	at := min(max(0, int(syntax.Offset)-1), len(body))
	before := e.whole[:start+at]
	line := e.begins.plus(strings.Count(before, "\n"))
	column := 1 + utf8.RuneCountInString(before[1+strings.LastIndex(before, "\n"):])
	return fmt.Sprintf(", near line %s, column %d", line, column)
}
