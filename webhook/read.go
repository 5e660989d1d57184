package webhook

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
)

// read appends the events of a request. What could be read is returned along with an error for the rest.
//
// A request is read once, in steps: receive reads its bytes, checkPath and verify find out who called, readForm and readObject set
// fields, resolve decides between them, and appendEvents makes events.
func (c *callback) read(r *http.Request, events []event) ([]event, error) {
	if err := c.checkPath(r); err != nil {
		return nil, err
	}
	in, err := c.receive(r)
	if err != nil {
		return nil, err
	}
	if err := c.verify(r, &in); err != nil {
		return nil, err
	}
	if isPrefetch(r.Header) {
		return nil, c.name.refuse(ErrPrefetch)
	}
	if in.isBodyAlone {
		return c.readBodyAlone(&in, events)
	}
	return c.readData(in.query, &in, events)
}

// readBodyAlone appends the events of a body that a verifier accepted. A signature of the body does not cover the query, so anyone who has
// seen a signed request can send it again with another query: no event is read from it. If it may hold one that the body does not, the
// request is refused, so that no event is lost in silence.
func (c *callback) readBodyAlone(in *request, events []event) ([]event, error) {
	all, err := c.readData("", in, events)
	isEmpty := len(all) == len(events) && holdsNoEvent(err)
	if isEmpty && c.mayHoldEvent(in.query) {
		return all, c.name.refuse(errQueryNotRead).withCause(err)
	}
	return all, err
}

// holdsNoEvent reports whether an error, or nil, is that of a body that was read and holds no event for the callback.
func holdsNoEvent(err error) bool {
	isReason := func(reason error) bool { return errors.Is(err, reason) }
	return err == nil || slices.ContainsFunc([]error{ErrNoSender, ErrNoMessage, ErrUnhandled}, isReason)
}

// mayHoldEvent reports whether a query has a parameter that the callback reads.
func (c *callback) mayHoldEvent(query string) bool {
	f := fields{callback: c}
	f.readForm(query)
	return slices.ContainsFunc(f.params, func(p Param) bool { return c.reads(p.Name) })
}

// readData appends the events of a query and a body.
func (c *callback) readData(query string, in *request, events []event) ([]event, error) {
	f := fields{callback: c}
	f.params = make(Params, 0, min(strings.Count(query, "&")+1, c.maxParams))
	f.query = f.readForm(query)
	switch {
	case f.count > c.maxParams:
		return nil, c.name.refuse(ErrTooLong)
	case in.fault != nil:
		return nil, in.fault
	case in.json != nil:
		return f.readJSON(in, events)
	default:
		f.readForm(in.form)
		return f.appendEvents(events)
	}
}

// readJSON appends the events of a JSON body. The body is a list of events, an event, or an object that holds events.
func (f *fields) readJSON(in *request, events []event) ([]event, error) {
	list, err := f.list(in.json)
	if err != nil {
		return nil, err
	}
	if list != nil {
		return f.readList(list, events)
	}
	withoutBody := *f
	f.readObject(f.withoutSecrets(in.json, in.members))
	if f.inner == nil || f.isEvent() {
		return f.appendEvents(events)
	}
	inner, innerErr := withoutBody.readInner(in.json, events)
	if len(inner) > len(events) {
		return inner, innerErr
	}
	all, err := f.appendEvents(events)
	if err != nil && innerErr != nil {
		err = innerErr // the reason why the events in the body were not read, rather than that the body is no event
	}
	return all, err
}

// list returns the list of events in a body. It returns nil for a body without a list.
func (c *callback) list(raw []byte) ([]json.RawMessage, error) {
	list, err := c.events.list(raw)
	if list == nil && c.takesList && isNested(raw, '[') {
		list = elements(raw, maxEvents)
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

// list returns the events at the first path that holds any, or an empty list if a path holds an empty one. A value that is neither a list
// nor an object is an error, and so is a list that comes twice, because to read one would lose the other.
func (p *paths) list(raw []byte) (list []json.RawMessage, err error) {
	found, repeats := p.in(raw)
	for i, value := range found {
		if repeats {
			if _, isTwice := newPaths(p.texts[i : i+1]).in(raw); isTwice {
				return nil, ErrUnreadable
			}
		}
		if value == nil {
			continue
		}
		if !isNested(value, '[') && !isNested(value, '{') && string(value) != "null" {
			return nil, ErrUnreadable
		}
		events := listOf(value)
		if len(events) > 0 {
			return events, nil
		}
		list = events
	}
	return list, nil
}

// listOf returns the elements of a list. An object is its own only element, and null has none.
func listOf(value json.RawMessage) []json.RawMessage {
	if isNested(value, '{') {
		return []json.RawMessage{value}
	}
	return elements(value, maxEvents)
}

// readList appends the events of a list in a body. Each is read like a body of its own. If one cannot be read, the others are.
func (f *fields) readList(list []json.RawMessage, events []event) (all []event, problem error) {
	f.outer = len(f.params)
	copied := len(list) * f.outer // each event has the parameters around the list in its Params
	if copied > 16*f.maxParams {
		return nil, f.name.refuse(ErrTooLong)
	}
	for _, one := range list {
		var err error
		events, err = f.readElement(one, events)
		if len(events) > maxEvents || errors.Is(err, ErrTooLarge) {
			return nil, f.name.refuse(ErrTooLarge)
		}
		problem = cmp.Or(problem, err)
	}
	return events, problem
}

// readElement appends the events of one element of a list.
func (f *fields) readElement(one json.RawMessage, events []event) ([]event, error) {
	if !isNested(one, '{') {
		return events, f.name.refuse(ErrUnreadable)
	}
	isCut := f.rawJSON != nil && f.rawJSON.isCut
	of := fields{callback: f.callback, query: f.query, ambiguous: isCut, count: f.outer, outer: f.outer}
	of.params = make(Params, 0, f.outer+8)
	of.params = append(of.params, f.params...)
	of.readObject(f.withoutSecrets(one, objectOf(one)))
	of.compareOuter()
	return of.appendEvents(events)
}

// readInner appends the events within a body that is no event itself: those at the first path at which one can be read. If there is none, it
// returns the first problem.
func (f *fields) readInner(raw []byte, events []event) (_ []event, problem error) {
	found, repeats := f.inner.in(raw)
	if repeats { // to read one list would lose the other
		return events, nil
	}
	for _, value := range found {
		if !isNested(value, '[') && !isNested(value, '{') {
			continue
		}
		list := listOf(value)
		if len(list) > maxEvents {
			return events, f.name.refuse(ErrTooLarge)
		}
		all, err := f.readList(list, events)
		if len(all) > len(events) {
			return all, err
		}
		problem = cmp.Or(problem, err)
	}
	return events, problem
}

// isEvent reports whether the parameters are an event by themselves. The name id does not suffice for a report: it is often the ID of the
// callback, with the report within.
func (f *fields) isEvent() bool {
	if f.name != CallbackDelivery {
		return f.values[conceptFrom].preference > 0
	}
	hasID := f.values[conceptID].preference > 0 || f.values[conceptReference].preference > 0
	hasStatus := f.values[conceptStatus].preference > 0
	return hasID && hasStatus || f.bodyJSON.isCertain()
}

// appendEvents appends the events of the fields: one, unless they hold an envelope of the platform.
func (f *fields) appendEvents(events []event) ([]event, error) {
	if f.count > f.maxParams {
		return events, f.name.refuse(ErrTooLong)
	}
	f.resolve()
	switch {
	case f.isChat():
		return f.appendChat(events)
	case f.name == CallbackDelivery:
		return f.appendReports(events)
	default:
		return f.appendSMS(events)
	}
}

// parse is like read, for callers without a handler: a change of the platform is an error for them.
func (c *callback) parse(r *http.Request) ([]event, error) {
	events, err := c.read(r, nil)
	for _, e := range events {
		if other, ok := e.(*Other); ok && err == nil {
			err = c.name.refuseChange(other.Field)
		}
	}
	return events, err
}

// only returns the events of one type.
func only[E any](events []event) (found []E) {
	for _, e := range events {
		if one, ok := any(e).(*E); ok {
			found = append(found, *one)
		}
	}
	return found
}
