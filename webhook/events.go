package webhook

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
)

// A JSON body can hold several events, in a list at one of the paths that the contract names. Each is then read like a body of its own,
// and what is around the list says nothing about it.

// element is an event of a list.
type element = json.RawMessage

// split returns the list of events in a body, or nil if there is none.
func (c *callback) split(raw []byte) (list []element, err error) {
	list, err = c.events.events(raw)
	if list == nil && err == nil && c.takesList && isNested(raw, '[') {
		list = elementsOf(raw)
	}
	switch {
	case err != nil:
		return nil, c.name.refuse(err)
	case len(list) > maxEvents:
		return nil, c.name.refuse(ErrTooLarge)
	default:
		return list, nil
	}
}

// events returns the list of events at the paths. The first path counts at which there are some, or else the first at which there is an
// empty list. A value that is neither a list nor an object is an error.
func (p *paths) events(raw []byte) (list []element, err error) {
	found, repeats := p.in(raw)
	for i, value := range found {
		if repeats {
			if _, twice := newPaths(p.texts[i]).first(raw); twice { // to read one list would lose the other
				return nil, ErrUnreadable
			}
		}
		isList := isNested(value, '[') || isNested(value, '{') || string(value) == "null"
		switch {
		case value == nil:
			continue
		case !isList:
			return nil, ErrUnreadable
		}
		elements := elementsOf(value)
		if len(elements) > 0 {
			return elements, nil
		}
		if list == nil {
			list = elements
		}
	}
	return list, nil
}

// elementsOf returns the elements of a list, an object as the only element, and none of null.
func elementsOf(value json.RawMessage) []element {
	if isNested(value, '{') {
		return []element{value}
	}
	return elements(value, maxEvents)
}

// position is a path of the contract that leads through a list, into the element with a number.
type position struct {
	path, list, inElement *paths
}

// newPositions returns the positions on a path.
func newPositions(path string) (all []position) {
	names := strings.Split(path, ".")
	for i, name := range names {
		if table.IsPosition(name) {
			list, inElement := strings.Join(names[:i], "."), strings.Join(names[i+1:], ".")
			all = append(all, position{newPaths(path), newPaths(list), newPaths(inElement)})
		}
	}
	return all
}

// isOneOf reports whether another element of the list has another value at the same place. The path then reads one report of several.
func (p *position) isOneOf(raw []byte) bool {
	found, _ := p.path.first(raw)
	if found == nil {
		return false
	}
	list, _ := p.list.first(raw)
	for element := range jsonscan.Elements(list) {
		other, _ := p.inElement.first(element)
		text, nested := scalar(other)
		if !nested && !isBlank(text) && !bytes.Equal(other, found) {
			return true
		}
	}
	return false
}
