package learn

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

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

// source is a file of examples.
type source struct {
	file string // its name, if there are several
	text string
}

// section is the part of a file that has one example.
type section struct {
	kind    string
	heading place
	lines   []string // below the heading
}

// Parse reads a file of examples. It joins an error for each invalid line.
func Parse(text string) (*Examples, error) { return parseFiles([]source{{text: text}}) }

// parseFiles reads files of examples. It joins an error for each invalid line.
func parseFiles(files []source) (*Examples, error) {
	sections, err := splitFiles(files)
	if err != nil {
		return nil, err
	}
	var all []*Example
	for _, s := range sections {
		e, err := s.read()
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return newExamples(all)
}

// splitFiles splits files at their headings.
func splitFiles(files []source) ([]section, error) {
	length := 0
	for _, f := range files {
		length += len(f.text)
	}
	if length > maxText {
		return nil, errors.New("the examples are longer than 1 MiB")
	}
	var sections []section
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
	return sections, nil
}

// heading begins an example: three equals signs and its kind.
var heading = regexp.MustCompile(`^===\s*(\S*)\s*$`)

// split splits a file at its headings.
func (s source) split() ([]section, error) {
	var sections []section
	at := place{file: s.file}
	for line := range strings.Lines(s.text) {
		at.line++
		line = strings.TrimRight(line, "\r\n")
		if found := heading.FindStringSubmatch(line); found != nil {
			sections = append(sections, section{kind: found[1], heading: at})
			continue
		}
		if len(sections) > 0 {
			last := &sections[len(sections)-1]
			last.lines = append(last.lines, line)
		} else if strings.TrimSpace(line) != "" {
			return nil, fmt.Errorf("line %s: want a heading such as === request", at)
		}
	}
	return sections, nil
}

var (
	// keyLine names a value of an example.
	keyLine = regexp.MustCompile(`^([a-zA-Z]+):\s*(.*?)\s*$`)

	// assignment is a line that should be a keyLine. A form has more than one parameter.
	assignment = regexp.MustCompile(`^([a-zA-Z]+)\s*=[^&]*$`)
)

// read reads the lines of a section: the values of its example, an empty line, and the text.
func (s section) read() (*Example, error) {
	keys := keysOf(s.kind)
	if keys == nil {
		kinds := []string{kindRequest, kindAccepted, kindRefused, kindRow, kindInbound, kindDelivery}
		return nil, fmt.Errorf("line %s: want one of === %s", s.heading, strings.Join(kinds, ", "))
	}
	e := &Example{kind: s.kind, heading: s.heading, values: map[string]string{}}
	for i, line := range s.lines {
		at := s.heading.plus(1 + i)
		if wrong := assignment.FindStringSubmatch(line); wrong != nil {
			return nil, fmt.Errorf(`line %s: "%s=" is no "name: value"; want "%s: " and the value, or an empty line in front of the text`,
				at, wrong[1], wrong[1])
		}
		found := keyLine.FindStringSubmatch(line)
		if found == nil {
			e.setText(at, s.lines[i:])
			break
		}
		key := found[1]
		value := found[2]
		if !slices.Contains(keys, key) {
			return nil, fmt.Errorf("line %s: unknown key %q; want one of %s, or an empty line in front of the text", at, key, strings.Join(keys, ", "))
		}
		if _, ok := e.values[key]; ok {
			return nil, fmt.Errorf("line %s: the key %q is repeated", at, key)
		}
		if value != "" {
			e.values[key] = value
		}
	}
	return e, nil
}

// setText sets the text of an example, the first line of which is at a place, and may be empty.
func (e *Example) setText(at place, lines []string) {
	isEmpty := func(line string) bool { return strings.TrimSpace(line) == "" }
	for len(lines) > 0 && isEmpty(lines[0]) {
		at = at.plus(1)
		lines = lines[1:]
	}
	e.begins = at
	e.whole = strings.TrimSpace(strings.Join(lines, "\n"))
	e.text = e.whole
}

// newExamples sorts examples by their kinds. It joins an error for each invalid one.
func newExamples(all []*Example) (*Examples, error) {
	examples := new(Examples)
	var problems []error
	for _, e := range all {
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

// add reads an example and adds it to the others of its kind.
func (examples *Examples) add(e *Example) error {
	switch e.kind {
	case kindRequest:
		if examples.request != nil {
			return e.errorf("there is one on line %s; want one", examples.request.heading)
		}
		examples.request = e
		return e.readRequest()
	case kindAccepted:
		examples.accepted = append(examples.accepted, e)
		return e.readAccepted()
	case kindRefused:
		examples.refused = append(examples.refused, e)
		return e.readRefused()
	case kindRow:
		if examples.row != nil {
			return e.errorf("there is one on line %s; want one", examples.row.heading)
		}
		examples.row = e
		return e.readRow()
	case kindInbound:
		examples.inbound = append(examples.inbound, e)
		return e.readInbound()
	default:
		examples.delivery = append(examples.delivery, e)
		return e.readDelivery()
	}
}
