package learn

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The kinds of examples.
const (
	kindRequest  = "request"
	kindAccepted = "accepted"
	kindRefused  = "refused"
	kindRow      = "row"
	kindInbound  = "inbound"
	kindDelivery = "delivery"
)

// keysOf returns the keys that an example of a kind may have.
func keysOf(kind string) []string {
	switch kind {
	case kindRequest:
		return []string{"from", "to", "text", "callback", "reference", "token", "key", "secret", "path"}
	case kindAccepted:
		return append([]string{"http", "status", "to"}, responseConcepts()...)
	case kindRefused:
		return []string{"http", "class", "code", "status", "request"}
	case kindRow:
		return slices.Concat([]string{"path", "means", "layout", "next"}, requestKeys(), rowConcepts())
	case kindInbound:
		return []string{"id", "from", "to", "text", "time", "reference", "operator", "keyword"}
	case kindDelivery:
		return append([]string{"means"}, reportConcepts()...)
	}
	return nil
}

// responseConcepts are the values that are looked for in an accepted response.
func responseConcepts() []string {
	return []string{"id", "request", "reference", "parts", "unitCost", "cost", "currency", "balance", "operator"}
}

// rowConcepts are the values that are looked for in a row of the listing.
func rowConcepts() []string {
	return []string{
		"status", "sendStatus", "id", "request", "reference", "category", "from", "to", "text", "parts", "price", "currency", "created", "sent",
		"operator", "country", "description",
	}
}

// reportConcepts are the values that are looked for in a delivery report.
func reportConcepts() []string {
	return []string{"id", "reference", "status", "errorCode", "time", "from", "to"}
}

// Example is one example of a provider's documentation.
type Example struct {
	kind    string
	file    string            // its name, if there are several
	line    int               // of its heading
	lines   []string          // below the heading
	values  map[string]string // the known values in it, by key
	text    string            // the example as the documentation has it
	whole   string            // the text before a request above it, a status line and a header were removed
	begins  int               // the line on which the whole begins
	status  int               // of a response: its HTTP status
	listing *request          // of a row: the request above it, or nil
}

// name returns the name of the example in errors.
func (e *Example) name() string { return fmt.Sprintf("line %s, %s", e.number(e.line), e.kind) }

// number returns the number of a line for errors, with the name of the file if there are several.
func (e *Example) number(line int) string { return lineIn(e.file, line) }

func lineIn(file string, line int) string {
	if file == "" {
		return strconv.Itoa(line)
	}
	return fmt.Sprintf("%d of %s", line, file)
}

func (e *Example) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: %w", e.name(), fmt.Errorf(format, args...))
}

// Examples are the examples of one provider.
type Examples struct {
	request  *Example
	accepted []*Example
	refused  []*Example
	row      *Example
	inbound  []*Example
	delivery []*Example
}

// isListingAlone reports whether the examples have a row and no send, because only the listing of the account differs from the default.
func (examples *Examples) isListingAlone() bool {
	hasSend := examples.request != nil || len(examples.accepted) > 0 || len(examples.refused) > 0
	return examples.row != nil && !hasSend
}

// The bounds of a file of examples.
const (
	maxExamples = 200
	maxText     = 1 << 20
)

// heading begins an example: three equals signs and its kind.
var heading = regexp.MustCompile(`^===\s*(\S*)\s*$`)

// keyLine names a value of an example.
var keyLine = regexp.MustCompile(`^([a-zA-Z]+):\s*(.*?)\s*$`)

// assignment is a line that should be a keyLine. A form has more than one parameter.
var assignment = regexp.MustCompile(`^([a-zA-Z]+)\s*=[^&]*$`)

// source is a file of examples.
type source struct {
	file string // its name, if there are several
	text string
}

// Parse reads a file of examples. It joins an error for each invalid line.
func Parse(text string) (*Examples, error) { return parseFiles([]source{{text: text}}) }

// parseFiles reads files of examples. It joins an error for each invalid line.
func parseFiles(files []source) (*Examples, error) {
	length := 0
	for _, f := range files {
		length += len(f.text)
	}
	if length > maxText {
		return nil, errors.New("the examples are longer than 1 MiB")
	}
	sections, err := splitFiles(files)
	if err != nil {
		return nil, err
	}
	examples := new(Examples)
	var problems []error
	for _, e := range sections {
		problems = append(problems, examples.add(e))
	}
	if examples.request == nil && !examples.isListingAlone() {
		problems = append(problems, errors.New("there is no example of a request: add a section === request"))
	}
	if len(examples.accepted) == 0 && !examples.isListingAlone() {
		problems = append(problems, errors.New("there is no example of an accepted response: add a section === accepted"))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return examples, nil
}

// splitFiles splits files at their headings, and reads the lines of the examples.
func splitFiles(files []source) ([]*Example, error) {
	var sections []*Example
	for _, f := range files {
		found, err := f.split()
		if err != nil {
			return nil, err
		}
		sections = append(sections, found...)
	}
	if len(sections) > maxExamples {
		return nil, fmt.Errorf("there are %d examples, want at most %d", len(sections), maxExamples)
	}
	for _, e := range sections {
		if err := e.read(); err != nil {
			return nil, err
		}
	}
	return sections, nil
}

// split splits a file at its headings.
func (s source) split() ([]*Example, error) {
	var sections []*Example
	number := 0
	for line := range strings.Lines(s.text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if found := heading.FindStringSubmatch(line); found != nil {
			sections = append(sections, &Example{kind: found[1], file: s.file, line: number, values: map[string]string{}})
			continue
		}
		if len(sections) > 0 {
			last := sections[len(sections)-1]
			last.lines = append(last.lines, line)
		} else if strings.TrimSpace(line) != "" {
			return nil, fmt.Errorf("line %s: want a heading such as === request", lineIn(s.file, number))
		}
	}
	return sections, nil
}

// read reads the lines of an example: its values, an empty line, and its text.
func (e *Example) read() error {
	keys := keysOf(e.kind)
	if keys == nil {
		kinds := []string{kindRequest, kindAccepted, kindRefused, kindRow, kindInbound, kindDelivery}
		return fmt.Errorf("line %s: want one of === %s", e.number(e.line), strings.Join(kinds, ", "))
	}
	for i, line := range e.lines {
		number := e.number(e.line + 1 + i)
		if wrong := assignment.FindStringSubmatch(line); wrong != nil {
			return fmt.Errorf(`line %s: "%s=" is no "name: value"; want "%s: " and the value, or an empty line in front of the text`,
				number, wrong[1], wrong[1])
		}
		found := keyLine.FindStringSubmatch(line)
		if found == nil {
			e.setText(i)
			break
		}
		key := found[1]
		value := found[2]
		if !slices.Contains(keys, key) {
			return fmt.Errorf("line %s: unknown key %q; want one of %s, or an empty line in front of the text",
				number, key, strings.Join(keys, ", "))
		}
		if _, ok := e.values[key]; ok {
			return fmt.Errorf("line %s: the key %q is repeated", number, key)
		}
		if value != "" {
			e.values[key] = value
		}
	}
	return nil
}

// setText sets the text of an example, which begins at one of its lines.
func (e *Example) setText(first int) {
	for first < len(e.lines) && strings.TrimSpace(e.lines[first]) == "" {
		first++
	}
	e.begins = e.line + 1 + first
	e.whole = strings.TrimSpace(strings.Join(e.lines[first:], "\n"))
	e.text = e.whole
}

// add checks an example and adds it to the others of its kind.
func (examples *Examples) add(e *Example) error {
	switch e.kind {
	case kindRequest:
		if examples.request != nil {
			return e.errorf("there is one on line %s; want one", examples.request.number(examples.request.line))
		}
		examples.request = e
		return e.checkRequest()
	case kindAccepted:
		examples.accepted = append(examples.accepted, e)
		return e.checkAccepted()
	case kindRefused:
		examples.refused = append(examples.refused, e)
		return e.checkRefused()
	case kindRow:
		if examples.row != nil {
			return e.errorf("there is one on line %s; want one", examples.row.number(examples.row.line))
		}
		examples.row = e
		return e.checkRow()
	case kindInbound:
		examples.inbound = append(examples.inbound, e)
		return e.checkInbound()
	default:
		examples.delivery = append(examples.delivery, e)
		return e.checkDelivery()
	}
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

func (e *Example) checkRequest() error {
	if path := e.values["path"]; path != "" && !strings.HasPrefix(path, "/") {
		return e.errorf("path: want a path that begins with /, got %q", path)
	}
	return e.require("to", "text")
}

func (e *Example) checkAccepted() error {
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

func (e *Example) checkRefused() error {
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

// readStatus reads the HTTP status. The default is for an example without one; 0 means that it is required.
func (e *Example) readStatus(status int) error {
	if text := e.values["http"]; text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return e.errorf("http: want an HTTP status, got %q", text)
		}
		e.status = n
	}
	if e.status = cmp.Or(e.status, status); e.status == 0 {
		return e.errorf("want the line http: and the HTTP status")
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

func (e *Example) checkRow() error {
	if path := e.values["path"]; path != "" && !strings.HasPrefix(path, "/") {
		return e.errorf("path: want a path that begins with /, got %q", path)
	}
	if e.values["id"] == "" && e.values["reference"] == "" {
		return e.errorf("want the line id: or reference: and its value in the row")
	}
	if err := e.splitRequest(); err != nil {
		return err // whatever else is found would follow from it
	}
	return errors.Join(e.checkRequestKeys(), e.checkMeaning(), e.require())
}

// checkRequestKeys returns an error for a value of the request above a row if there is no request.
func (e *Example) checkRequestKeys() error {
	for _, key := range requestKeys() {
		if e.values[key] != "" && e.listing == nil {
			return e.errorf("%s: want the curl command of the listing above the response", key)
		}
	}
	if e.values["page"] != "" && e.values["offset"] != "" {
		return e.errorf("want the line page: or offset:, and not both")
	}
	return nil
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

func (e *Example) checkInbound() error { return e.require("from") }

func (e *Example) checkDelivery() error {
	if e.values["id"] == "" && e.values["reference"] == "" {
		return e.errorf("want the line id: or reference: and its value in the report")
	}
	return errors.Join(e.checkMeaning(), e.require("status"))
}

// checkMeaning sets the meaning of a status that the default contract knows, and requires it of others.
func (e *Example) checkMeaning() error {
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
