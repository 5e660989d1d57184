package learn

import (
	"cmp"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// learn finds the known values of callbacks in them.
func (names *callbackNames) learn(examples []*Example, concepts []string) error {
	for i, example := range examples {
		c, err := example.parseCallback()
		if err != nil {
			return err
		}
		found, err := example.locate(c.leaves, concepts)
		if err != nil {
			return err
		}
		names.setEncoding(c)
		events, isList := c.eventsOf(found)
		isFirst := i == 0
		if err := names.setEvents(example, events, isFirst); err != nil {
			return err
		}
		names.addParams(found, isList)
	}
	return nil
}

// setEncoding sets the encoding by what a callback shows: a form alone may be the query of a GET.
func (names *callbackNames) setEncoding(c *callback) {
	switch {
	case c.isJSON:
		names.Encoding = "json"
	case c.isPOST:
		names.Encoding = "form"
	}
}

// setEvents sets the path of the list of events, which all examples have at the same place. It is "" for a callback without one, or one that is
// the list.
func (names *callbackNames) setEvents(example *Example, path string, isFirst bool) error {
	if path == "" {
		return nil
	}
	if !isFirst && !slices.Equal(names.Events, []string{path}) {
		return example.errorf("the events are at %q here, and elsewhere in the examples before", path)
	}
	names.Events = []string{path}
	return nil
}

// addParams adds the names of the values that were found, in the callback or in an element of its list.
func (names *callbackNames) addParams(found map[string]leaf, isList bool) {
	for concept, name := range elementPaths(found, isList) {
		names.Params.add(concept, name)
	}
}

// callback is an example of a callback.
type callback struct {
	isPOST bool // false for a form alone, which may be the query of a GET
	isJSON bool
	text   string // the JSON, or the query
	leaves []leaf
}

// parseCallback reads the callback of an example.
func (e *Example) parseCallback() (*callback, error) {
	body, _ := callbackBody(e.text)
	if err := e.checkJSON("the callback", body); err != nil {
		return nil, err
	}
	c, err := parseCallback(e.text)
	if err != nil {
		return nil, e.errorf("%w", err)
	}
	return c, nil
}

// parseCallback reads a callback.
func parseCallback(text string) (*callback, error) {
	text, isPOST := callbackBody(text)
	c := &callback{text: text, isJSON: isObject(text) || isList(text)}
	c.isPOST = isPOST || c.isJSON
	switch {
	case c.isJSON:
		c.leaves = leavesOf(text)
	case strings.HasPrefix(text, "<") || !strings.Contains(text, "="):
		return nil, errors.New("want JSON, a form, or a URL with parameters")
	default:
		c.text = strings.ReplaceAll(text, "\n", "")
		c.leaves = formLeaves(c.text)
	}
	return c, nil
}

// callbackURL is the URL of a callback by GET, with its query.
var callbackURL = regexp.MustCompile(`^(?:[A-Za-z]+://|/)[^\s?]*\?(\S+)$`)

// callbackBody returns the body or the query of a callback: JSON, a form, the URL of a GET, or an HTTP request.
func callbackBody(text string) (body string, isPOST bool) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if requestLine.MatchString(text) {
		r := parseHTTP(text)
		return cmp.Or(r.body, r.query), r.method == http.MethodPost
	}
	if found := callbackURL.FindStringSubmatch(text); found != nil {
		return found[1], false
	}
	return text, false
}

// eventsOf returns the list in which a callback has its values. A form has none: its names only look like paths.
func (c *callback) eventsOf(found map[string]leaf) (list string, isList bool) {
	if !c.isJSON {
		return "", false
	}
	return listOf(found)
}
