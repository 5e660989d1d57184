package learn

import (
	"cmp"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The methods of this file read the examples of each kind: they check the lines, and take the request, the status line and the header away
// from the text.

func (e *Example) readRequest() error {
	if err := e.checkPath(); err != nil {
		return err
	}
	return e.require("to", "text")
}

func (e *Example) readAccepted() error {
	e.splitResponse()
	const ok = 200
	if err := e.readStatus(ok); err != nil {
		return err
	}
	if e.status/100 != 2 {
		return e.errorf("http: want 200 to 299, got %d", e.status)
	}
	return errors.Join(e.require(), e.checkJSON("the response", e.text))
}

func (e *Example) readRefused() error {
	e.splitResponse()
	if err := e.readStatus(0); err != nil {
		return err
	}
	class := e.values["class"]
	if _, ok := sentinels()[class]; !ok {
		return e.errorf("class: want one of %s, got %q", strings.Join(slices.Sorted(maps.Keys(sentinels())), ", "), class)
	}
	isClientError := e.status >= 400 && e.status <= 499
	if e.status/100 != 2 && !isClientError {
		return e.errorf("http: want the status of a refusal, 200 to 299 or 400 to 499, got %d", e.status)
	}
	return e.checkJSON("the response", e.text) // it may have no body
}

func (e *Example) readRow() error {
	if err := e.checkPath(); err != nil {
		return err
	}
	if e.values["id"] == "" && e.values["reference"] == "" {
		return e.errorf("want the line id: or reference: and its value in the row")
	}
	if err := e.splitRequest(); err != nil {
		return err // whatever else is found would follow from it
	}
	return errors.Join(e.checkRequestKeys(), e.setMeaning(), e.require())
}

// splitRequest reads the curl command above a row, and removes it from the text.
func (e *Example) splitRequest() error {
	if requestLine.MatchString(e.text) {
		return e.errorf("a row is a response; remove the request above it")
	}
	if !isCurl(e.text) {
		e.splitResponse()
		return e.checkJSON("the response", e.text)
	}
	command, rest := cutCurl(e.text)
	e.text = rest
	e.splitResponse()
	listing, err := parseCurl(command)
	if err != nil {
		return e.errorf("a row is a response; remove the request above it, or correct it: %w", err)
	}
	err = errors.Join(e.checkJSON("the body of the request", listing.body), e.checkJSON("the response", e.text))
	if err != nil {
		return err
	}
	isRow := isObject(e.text) || isList(e.text)
	if !listing.canList() || !isRow {
		return e.errorf("a row is a response; remove the request above it")
	}
	e.listing = listing
	return nil
}

// checkRequestKeys returns an error for a value of the request above a row if there is no request.
func (e *Example) checkRequestKeys() error {
	for _, key := range requestKeys() {
		if e.values[key] != "" && e.listing == nil {
			return e.errorf("%s: want the curl command of the listing above the response", key)
		}
	}
	isAbsent := func(key string) bool { return e.values[key] == "" }
	if positions := slices.DeleteFunc([]string{"page", "offset", "cursor"}, isAbsent); len(positions) > 1 {
		return e.errorf("want one of the lines page:, offset: and cursor:")
	}
	for _, key := range []string{"page", "offset", "pageSize"} {
		if value := e.values[key]; value != "" && !isCount(value) {
			return e.errorf("%s: want a number; for a cursor, write the line cursor:", key)
		}
	}
	return nil
}

// isCount reports whether a text is the number of a page or of rows.
func isCount(text string) bool {
	_, err := strconv.ParseUint(text, 10, 31)
	return err == nil
}

func (e *Example) readInbound() error { return e.require("from") }

func (e *Example) readDelivery() error {
	if e.values["id"] == "" && e.values["reference"] == "" {
		return e.errorf("want the line id: or reference: and its value in the report")
	}
	return errors.Join(e.setMeaning(), e.require("status"))
}

// require returns an error for each missing key, and for a missing text.
func (e *Example) require(keys ...string) error {
	var problems []error
	for _, key := range keys {
		if e.values[key] == "" {
			problems = append(problems, e.errorf("want the line %s: and its value in the example", key))
		}
	}
	if e.text == "" {
		problems = append(problems, e.errorf("the text of the example is missing"))
	}
	return errors.Join(problems...)
}

// checkPath returns an error for a line path: that has no path.
func (e *Example) checkPath() error {
	if path := e.values["path"]; path != "" && !strings.HasPrefix(path, "/") {
		return e.errorf("path: want a path that begins with /, got %q", path)
	}
	return nil
}

// statusLine matches the first line of an HTTP response.
var statusLine = regexp.MustCompile(`^HTTP/[0-9.]+\s+(\d{3})\b`)

// splitResponse reads the status line, and removes it and the header from the text.
func (e *Example) splitResponse() {
	found := statusLine.FindStringSubmatch(e.text)
	if found == nil {
		return
	}
	e.status, _ = strconv.Atoi(found[1]) // three digits
	_, body, _ := strings.Cut(e.text, "\n\n")
	e.text = strings.TrimSpace(body)
}

// readStatus reads the HTTP status. The default is for an example without one; 0 means that it is required.
func (e *Example) readStatus(status int) error {
	if text := e.values["http"]; text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return e.errorf("http: want an HTTP status, got %q", text)
		}
		e.status = n
	}
	e.status = cmp.Or(e.status, status)
	if e.status == 0 {
		return e.errorf("want the line http: and the HTTP status")
	}
	return nil
}

// setMeaning sets the meaning of a status that the default contract knows, and requires it of others.
func (e *Example) setMeaning() error {
	word := e.values["status"]
	if word == "" {
		return nil
	}
	meaning := cmp.Or(e.values["means"], usualMeaning(word))
	known := strings.Join(meanings(), ", ")
	switch {
	case meaning == "":
		return e.errorf("want the line means: and the meaning of the status %q, one of %s", word, known)
	case !slices.Contains(meanings(), meaning):
		return e.errorf("means: want one of %s, got %q", known, meaning)
	}
	e.values["means"] = meaning
	return nil
}
