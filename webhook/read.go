package webhook

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
)

// read appends the events of a request. What could be read is returned beside an error for the rest.
//
// A request is read once, in steps: receive reads its bytes, checkPath and verify find out who called, readForm and readObject set
// facts as each parameter arrives, and appendEvents makes events of them.
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
		return nil, c.name.refuse(ErrProbe)
	}
	f := facts{callback: c}
	f.params = make(Params, 0, min(strings.Count(in.query, "&")+1, c.maxParams))
	f.query = f.readForm(in.query)
	f.around = len(f.params)
	if f.count <= c.maxParams && in.fault != nil {
		return nil, in.fault
	}
	if in.json != nil {
		list, err := c.split(in.json)
		if err != nil {
			return nil, err
		}
		if list != nil {
			return f.readList(list, events)
		}
		around := f
		f.readObject(c.withoutSecrets(in.json, in.members))
		if c.inner != nil && !f.isConclusive() {
			if inner, err := around.readInner(in.json, events); len(inner) > len(events) {
				return inner, err
			}
		}
	}
	f.readForm(in.form)
	f.around = 0
	if f.count > c.maxParams {
		return nil, c.name.refuse(ErrTooManyParams)
	}
	return f.appendEvents(events)
}

// readList appends the events of a list in a body. Each is read like a body of its own. If one cannot be read, the others are.
func (f *facts) readList(list []element, events []event) (all []event, problem error) {
	if f.count > f.maxParams || len(list)*f.around > 16*f.maxParams { // each event has in its Params what is around it
		return nil, f.name.refuse(ErrTooManyParams)
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

// readInner appends the events within a body that does not look like an event itself: those at the first path at which one can be read.
func (f *facts) readInner(raw []byte, events []event) (all []event, problem error) {
	found, repeats := f.inner.in(raw)
	if repeats { // to read one list would lose the other
		return events, nil
	}
	for _, value := range found {
		if !isNested(value, '[') && !isNested(value, '{') {
			continue
		}
		list := elementsOf(value)
		if len(list) > maxEvents {
			return events, nil
		}
		if all, problem = f.readList(list, events); len(all) > len(events) {
			return all, problem
		}
	}
	return events, nil
}

// isConclusive reports whether the parameters are an event by themselves. The name id does not suffice for a report: it is often the ID of
// the callback, with the report within.
func (f *facts) isConclusive() bool {
	if f.name != CallbackDelivery {
		return f.values[conceptFrom].rank > 0
	}
	namesMessage := f.values[conceptID].rank > 0 || f.values[conceptReference].rank > 0
	return namesMessage && f.values[conceptStatus].rank > 0 || f.body.isCertain()
}

// readElement appends the events of one element of a list. The parameters around the list say nothing about it, but can contradict it.
func (f *facts) readElement(one element, events []event) ([]event, error) {
	if !isNested(one, '{') {
		return events, f.name.refuse(ErrUnreadable)
	}
	of := facts{callback: f.callback, query: f.query, ambiguous: f.isCut, count: f.around, around: f.around}
	of.params = append(make(Params, 0, f.around+8), f.params...)
	of.readObject(f.withoutSecrets(one, objectOf(one)))
	if of.count > f.maxParams {
		return events, f.name.refuse(ErrTooManyParams)
	}
	of.contradict()
	return of.appendEvents(events)
}

// appendEvents appends the events of the facts: one, unless they hold an envelope of the platform.
func (f *facts) appendEvents(events []event) ([]event, error) {
	f.conclude()
	switch {
	case f.isChat():
		return f.appendChat(events)
	case f.name == CallbackDelivery:
		return f.appendReports(events)
	default:
		return f.appendSMS(events)
	}
}

// parse is like read, for callers without a handler: what they cannot be given is an error.
func (c *callback) parse(r *http.Request) ([]event, error) {
	events, err := c.read(r, nil)
	for _, e := range events {
		if other, ok := e.(*Other); ok && err == nil {
			err = c.name.refuseOther(other.Field)
		}
	}
	return events, err
}

func only[E any](events []event) (found []E) {
	for _, e := range events {
		if one, ok := any(e).(*E); ok {
			found = append(found, *one)
		}
	}
	return found
}
