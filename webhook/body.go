package webhook

import (
	"cmp"
	"encoding/json"
	"errors"
)

// Where the events of a JSON body are:
//
//  1. In the list at one of the paths of the contract before "". The rest of the body is no event then.
//  2. In the body itself, if it is a list.
//  3. The body is an event by itself (see isEvent). Nothing is looked for in it.
//  4. At one of the paths after "".
//  5. The body is read as an event anyway: its only ID may have the name id, which often is that of the callback.
//
// What may hold an event and cannot be read is an error, along with the events that can be read.

// readJSON appends the events of a JSON body.
func (f *fields) readJSON(in *request, events []event) ([]event, error) {
	list, err := f.listIn(in.json)
	switch {
	case err != nil:
		return nil, err
	case list != nil:
		return f.readList(list, events)
	default:
		return f.readBody(in, events)
	}
}

// listIn returns the list of events in a body. It returns nil for a body without a list.
func (c *callback) listIn(body []byte) ([]json.RawMessage, error) {
	list, err := c.events.firstList(body)
	switch {
	case err != nil:
		return nil, c.name.refuse(err)
	case list == nil && c.takesList && isNested(body, '['):
		return eventsOf(body), nil
	default:
		return list, nil
	}
}

// eventsOf returns the events at a path: the elements of a list, or a single object. Null has none.
func eventsOf(value json.RawMessage) []json.RawMessage {
	if isNested(value, '{') {
		return []json.RawMessage{value}
	}
	return elements(value, maxEvents)
}

// readList appends the events of a list in a body. Each is read like a body of its own. If one cannot be read, the others are.
func (f *fields) readList(list []json.RawMessage, events []event) (_ []event, problem error) {
	if len(list) > maxEvents {
		return nil, f.name.refuse(ErrTooLarge)
	}
	copies := len(list) * len(f.params) // each event has the parameters around the list in its Params
	if copies > 16*f.maxParams {
		return nil, f.name.refuse(ErrTooLong)
	}
	for _, element := range list {
		var err error
		events, err = f.readElement(element, events)
		if len(events) > maxEvents || errors.Is(err, ErrTooLarge) {
			return nil, f.name.refuse(ErrTooLarge)
		}
		problem = cmp.Or(problem, err)
	}
	return events, problem
}

// readElement appends the events of one element of a list. The fields are those of the parameters around the list.
func (f *fields) readElement(raw json.RawMessage, events []event) ([]event, error) {
	if !isNested(raw, '{') {
		return events, f.name.refuse(ErrUnreadable)
	}
	outer := len(f.params)
	element := fields{callback: f.callback, query: f.query, count: outer, outer: outer}
	element.ambiguous = f.rawJSON != nil && f.rawJSON.isCut
	element.params = make(Params, 0, outer+8)
	element.params = append(element.params, f.params...)
	element.readObject(f.withoutSecrets(raw, objectOf(raw)))
	element.compareOuter()
	return element.appendEvents(events)
}

// readBody appends the events of a body that is an object: an event, or an object that holds events.
func (f *fields) readBody(in *request, events []event) ([]event, error) {
	query := *f // the parameters around the events within the body
	f.readObject(f.withoutSecrets(in.json, in.members))
	if f.isEvent() {
		return f.appendEvents(events)
	}
	values, isTwice := f.inner.in(in.json)
	if isTwice { // to read one list would lose the other
		body, err := f.appendEvents(events)
		return body, cmp.Or[error](err, f.name.refuse(ErrUnreadable))
	}
	inner, problem, loss := query.readFirst(values, events)
	if len(inner) > len(events) {
		return inner, loss
	}
	isSure := f.isSure()
	body, err := f.appendEvents(events)
	if err == nil && isSure {
		return body, loss
	}
	return body, cmp.Or(problem, err) // problem says why the events within were not read, err only that the body is no event
}

// isEvent reports whether the parameters are an event by themselves.
func (f *fields) isEvent() bool {
	switch {
	case f.bodyJSON.isEvent():
		return true
	case f.name == CallbackDelivery:
		return f.namesMessage() && f.has(conceptStatus)
	default:
		return f.has(conceptFrom)
	}
}

// isSure reports whether parameters that are read as an event are one. A report may have the ID of the callback, and no status. A message has
// its sender.
func (f *fields) isSure() bool {
	if f.name != CallbackDelivery || f.bodyJSON.isEnvelope() {
		return true
	}
	return f.namesMessage() || f.isKnownStatus(f.values[conceptStatus].value)
}

// namesMessage reports whether the parameters have the ID of a message. The name id does not suffice: it is often the ID of the callback, with
// the report within.
func (f *fields) namesMessage() bool { return f.has(conceptID) || f.has(conceptReference) }

// readFirst appends the events of the first value that holds any. The values are those at the paths within a body. The problem is the first
// of a value without events, and loss the first problem by which events may be lost even if others were read.
func (f *fields) readFirst(values []json.RawMessage, events []event) (_ []event, problem, loss error) {
	for _, value := range values {
		if !isNested(value, '[') && !isNested(value, '{') {
			continue
		}
		inner, err := f.readList(eventsOf(value), events)
		if len(inner) > len(events) {
			return inner, problem, cmp.Or(loss, err)
		}
		problem = cmp.Or(problem, err)
		if !f.isDetail(value) {
			loss = cmp.Or(loss, err)
		}
	}
	return events, problem, loss
}

// isDetail reports whether a value without events is an object that describes the event around it, such as its campaign. A list, a status
// without an ID and what has the shape of the platform may be events that cannot be read.
func (c *callback) isDetail(value json.RawMessage) bool {
	if !isNested(value, '{') {
		return false
	}
	object := fields{callback: c}
	object.readObject(value, objectOf(value))
	isComplete := object.count <= c.maxParams
	return isComplete && !object.bodyJSON.isEnvelope() && !object.has(conceptStatus)
}
