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
// The parameters of the query surround every event: the methods that look for events have them as their receiver, and read each event into a copy.

// readJSON returns the events of a JSON body, by the rules above. The buffer is that of read.
func (f *fields) readJSON(req *request, buffer []event) ([]event, error) {
	list, err := f.callback.listIn(req.json)
	if err != nil {
		return nil, err
	}
	if list != nil { // rules 1 and 2
		return f.readList(list, buffer)
	}
	body := *f
	body.readObject(f.callback.withoutSecrets(req.json, req.members))
	if body.isEvent() { // rule 3
		return body.appendEvents(buffer)
	}
	inner := f.readInner(req.json)
	if len(inner.events) > 0 { // rule 4
		return inner.events, inner.loss
	}
	events, err := body.appendEvents(buffer) // rule 5
	return events, body.errorWith(inner, err)
}

// errorWith returns the error of a body that was read by rule 5 with the error err, and of which no inner value was an event.
func (f *fields) errorWith(inner innerEvents, err error) error {
	isEvent := err == nil && !f.mayBeWrapper()
	switch {
	case isEvent: // an inner value that is not an event may describe the body
		return inner.loss
	case inner.refusal != nil: // it is more specific than the error of the body
		return inner.refusal
	default:
		return cmp.Or(err, inner.loss)
	}
}

// listIn returns the list of events in a body. It returns nil for a body without a list.
func (c *callback) listIn(body []byte) ([]json.RawMessage, error) {
	list, err := c.eventPaths.firstList(body)
	switch {
	case err != nil:
		return nil, c.refuse(err)
	case list == nil && c.takesList && isList(body):
		return eventsOf(body), nil
	default:
		return list, nil
	}
}

// eventsOf returns the events at a path: the elements of a list, or a single object. Null has none.
func eventsOf(value json.RawMessage) []json.RawMessage {
	if isObject(value) {
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
		return nil, f.callback.refuse(ErrTooLarge)
	}
	copies := len(list) * len(f.params) // each event has the parameters around the list in its Params
	if copies > maxCopies*f.callback.receiver.maxParams {
		return nil, f.callback.refuse(ErrTooLong)
	}
	events = buffer
	for _, raw := range list {
		var err error
		events, err = f.readElement(raw, events)
		if len(events) > maxEvents || errors.Is(err, ErrTooLarge) {
			return nil, f.callback.refuse(ErrTooLarge)
		}
		problem = cmp.Or(problem, err)
	}
	return events, problem
}

// readElement appends the events of one element of a list.
func (f *fields) readElement(raw json.RawMessage, events []event) ([]event, error) {
	if !isObject(raw) {
		return events, f.callback.refuse(ErrUnreadable)
	}
	element := f.newElement()
	element.readObject(f.callback.withoutSecrets(raw, objectOf(raw)))
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
		count:       outer,
		query:       f.query,
		hasConflict: f.rawJSON != nil && f.rawJSON.isCut,
	}
}

// compareOuter compares the parameters around a list of events with one of them. They set no field, but can contradict the event.
func (f *fields) compareOuter() {
	for _, p := range f.params[:f.outer] {
		for _, b := range f.callback.bindings[p.Name] {
			value := f.value(b.concept)
			isSilent := value == "" || !isName(p.Value)
			switch {
			case isSilent || !b.concept.identifies():
			case b.concept == conceptStatus:
				f.hasConflict = f.hasConflict || !f.callback.receiver.sameStatus(value, p.Value)
			default:
				f.hasConflict = f.hasConflict || conflicts(value, p.Value)
			}
		}
	}
}

// innerEvents holds the events at the paths of rule 4.
type innerEvents struct {
	events  []event // at the first path that holds any
	refusal error   // why the first value that might hold events holds none
	loss    error   // the first problem by which an event may be lost, even if others were read
}

// readInner looks for events at the paths of rule 4.
func (f *fields) readInner(body []byte) (inner innerEvents) {
	values, repeats := f.callback.innerPaths.find(body)
	if repeats { // to read one list would lose the other
		return innerEvents{loss: f.callback.refuse(ErrUnreadable)}
	}
	for _, value := range values {
		if !isList(value) && !isObject(value) {
			continue
		}
		events, err := f.readList(eventsOf(value), nil)
		if len(events) > 0 {
			inner.events = events
			inner.loss = cmp.Or(inner.loss, err)
			return inner
		}
		inner.refusal = cmp.Or(inner.refusal, err)
		if !f.callback.isDetail(value) {
			inner.loss = cmp.Or(inner.loss, err)
		}
	}
	return inner
}

// isEvent reports whether the parameters are an event by themselves. JSON in the shape of the platform is an event if it holds a status, or a
// message with a sender: a callback may have a type, too, and its content under that name, but no sender.
func (f *fields) isEvent() bool {
	body := f.bodyJSON
	switch {
	case body.holdsItems() && (len(body.statuses) > 0 || body.hasSender()):
		return true
	case f.callback.name == CallbackDelivery:
		return f.namesMessage() && f.has(conceptStatus)
	default:
		return f.has(conceptFrom)
	}
}

// mayBeWrapper reports whether the parameters of a delivery callback may be those around a report, with an ID of its own and no status.
func (f *fields) mayBeWrapper() bool {
	if f.callback.name != CallbackDelivery {
		return false
	}
	isEnvelope := shapeOf(f.bodyJSON) == shapeEnvelope
	hasKnownStatus := f.callback.receiver.status(f.value(conceptStatus)) != StatusUnknown
	return !isEnvelope && !f.namesMessage() && !hasKnownStatus
}

// namesMessage reports whether the parameters have the ID of a message. The name id does not suffice: it is often the ID of the callback, with
// the report within.
func (f *fields) namesMessage() bool { return f.has(conceptID) || f.has(conceptReference) }

// isDetail reports whether a value without events is an object that describes the event around it, such as its campaign. A list, a status
// without an ID and what has the shape of the platform may be events that cannot be read.
func (c *callback) isDetail(value json.RawMessage) bool {
	if !isObject(value) {
		return false
	}
	f := fields{callback: c}
	f.readObject(value, objectOf(value))
	isComplete := f.count <= c.receiver.maxParams
	isEnvelope := shapeOf(f.bodyJSON) == shapeEnvelope
	return isComplete && !isEnvelope && !f.has(conceptStatus)
}
