package webhook

import (
	"cmp"
	"encoding/json"
	"errors"
)

// Where the events of a JSON body are:
//
//  1. In the list at one of the paths of the contract before "". Then the rest of the body is not an event.
//  2. In the body itself, if it is a list.
//  3. The body is an event by itself (see isEvent). Nothing is looked for in it.
//  4. At one of the paths after "".
//  5. The body itself, although its only ID may have the name id, which often is the ID of the callback.
//
// What may hold an event and cannot be read is an error, along with the events that can be read.
//
// The receiver of readJSON, readList, readElement and readPaths holds the parameters of the query, which are around every event.

// readJSON returns the events of a JSON body, by the rules above. The buffer is that of read.
func (f *fields) readJSON(in *request, buffer []event) ([]event, error) {
	list, err := f.listIn(in.json)
	if err != nil {
		return nil, err
	}
	if list != nil { // rules 1 and 2
		return f.readList(list, buffer)
	}
	body := *f
	body.readObject(f.withoutSecrets(in.json, in.members))
	if body.isEvent() { // rule 3
		return body.appendEvents(buffer)
	}
	within := f.readPaths(in.json)
	if len(within.events) > 0 { // rule 4
		return within.events, within.loss
	}
	events, err := body.appendEvents(buffer) // rule 5
	return events, body.errorNextTo(within, err)
}

// errorNextTo returns the error of a body that was read by rule 5, after nothing within it was an event. The argument err is that of reading the
// body itself.
func (f *fields) errorNextTo(within eventsWithin, err error) error {
	isEvent := err == nil && !f.mayBeWrapper()
	if isEvent { // a value within that is no event may describe the body
		return within.loss
	}
	if within.refusal != nil { // it is more specific than the error of the body
		return within.refusal
	}
	return cmp.Or(err, within.loss)
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

// maxCopies bounds the memory of a list: the copies of the parameters around it may be so many times the parameters of one event.
const maxCopies = 16

// readList returns the events of a list in a body. Each is read like a body of its own. If one cannot be read, the others are, and the error
// is the first.
func (f *fields) readList(list []json.RawMessage, buffer []event) (events []event, problem error) {
	if len(list) > maxEvents {
		return nil, f.name.refuse(ErrTooLarge)
	}
	copies := len(list) * len(f.params) // each event has the parameters around the list in its Params
	if copies > maxCopies*f.maxParams {
		return nil, f.name.refuse(ErrTooLong)
	}
	events = buffer
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

// readElement appends the events of one element of a list.
func (f *fields) readElement(raw json.RawMessage, events []event) ([]event, error) {
	if !isNested(raw, '{') {
		return events, f.name.refuse(ErrUnreadable)
	}
	element := f.newElement()
	element.readObject(f.withoutSecrets(raw, objectOf(raw)))
	element.compareOuter()
	return element.appendEvents(events)
}

// newElement returns the fields of an element of a list, before its members are read: it has the parameters around the list.
func (f *fields) newElement() fields {
	const room = 8 // for the parameters of the element
	outer := len(f.params)
	params := make(Params, 0, outer+room)
	return fields{
		callback:    f.callback,
		params:      append(params, f.params...),
		outer:       outer,
		count:       outer,
		query:       f.query,
		hasConflict: f.rawJSON != nil && f.rawJSON.isCut,
	}
}

// eventsWithin is the result of looking for events at the paths within a body.
type eventsWithin struct {
	events  []event // at the first path that holds any
	refusal error   // why the first value that might hold events holds none
	loss    error   // the first problem by which an event may be lost, even if others were read
}

// readPaths looks for events at the paths within a body.
func (f *fields) readPaths(body []byte) (within eventsWithin) {
	values, isTwice := f.inner.in(body)
	if isTwice { // to read one list would lose the other
		return eventsWithin{loss: f.name.refuse(ErrUnreadable)}
	}
	for _, value := range values {
		if !isNested(value, '[') && !isNested(value, '{') {
			continue
		}
		events, err := f.readList(eventsOf(value), nil)
		if len(events) > 0 {
			within.events = events
			within.loss = cmp.Or(within.loss, err)
			return within
		}
		within.refusal = cmp.Or(within.refusal, err)
		if !f.isDetail(value) {
			within.loss = cmp.Or(within.loss, err)
		}
	}
	return within
}

// isEvent reports whether the parameters are an event by themselves. JSON in the shape of the platform is an event if it holds a status, or a
// message with a sender: a callback may have a type, too, and its content under that name, but no sender.
func (f *fields) isEvent() bool {
	body := f.bodyJSON
	switch {
	case body.holdsItems() && (len(body.statuses) > 0 || body.hasSender()):
		return true
	case f.name == CallbackDelivery:
		return f.namesMessage() && f.has(conceptStatus)
	default:
		return f.has(conceptFrom)
	}
}

// mayBeWrapper reports whether the parameters of a delivery callback may be those around a report, with an ID of its own and no status.
func (f *fields) mayBeWrapper() bool {
	if f.name != CallbackDelivery {
		return false
	}
	isEnvelope := shapeOf(f.bodyJSON) == shapeEnvelope
	hasKnownStatus := f.status(f.values[conceptStatus].value) != StatusUnknown
	return !isEnvelope && !f.namesMessage() && !hasKnownStatus
}

// namesMessage reports whether the parameters have the ID of a message. The name id does not suffice: it is often the ID of the callback, with
// the report within.
func (f *fields) namesMessage() bool { return f.has(conceptID) || f.has(conceptReference) }

// isDetail reports whether a value without events is an object that describes the event around it, such as its campaign. A list, a status
// without an ID and what has the shape of the platform may be events that cannot be read.
func (c *callback) isDetail(value json.RawMessage) bool {
	if !isNested(value, '{') {
		return false
	}
	object := fields{callback: c}
	object.readObject(value, objectOf(value))
	isComplete := object.count <= c.maxParams
	isEnvelope := shapeOf(object.bodyJSON) == shapeEnvelope
	return isComplete && !isEnvelope && !object.has(conceptStatus)
}
