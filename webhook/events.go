package webhook

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
)

// A JSON body can hold several events, in a list at one of the paths that the contract names. Each is then read like a body of
// its own: names and paths of parameters begin at the event, and what stands around the list says nothing about it.

// read appends the events of a request. What could be read is returned beside an error for the rest.
func (rcv *Receiver) read(r *http.Request, c *callback, events []event) (all []event, problem error) {
	q := request{Receiver: rcv, callback: c}
	if err := q.receive(r); err != nil {
		return nil, err
	}
	for i := range q.size() {
		one, err := q.event(i)
		if err == nil {
			events, err = one.appendEvents(events)
		}
		if len(events) > maxEvents || errors.Is(err, ErrTooLarge) {
			return nil, q.reject(ErrTooLarge)
		}
		problem = cmp.Or(problem, err)
	}
	return events, problem
}

// appendEvents appends the events of a request, or of an element of its list.
func (q *request) appendEvents(events []event) ([]event, error) {
	switch {
	case q.callback.isChat():
		return q.appendChat(events)
	case q.callback.name == CallbackDelivery:
		return q.appendReports(events)
	}
	m, err := q.sms()
	if err != nil {
		return events, err
	}
	return append(events, m), nil
}

// only returns the events of one type, or nil if there are none.
func only[E any](events []event) (found []E) {
	for _, e := range events {
		if one, ok := any(e).(*E); ok {
			found = append(found, *one)
		}
	}
	return found
}

// findEvents looks for the list of events in the body.
func (q *request) findEvents() error {
	if q.object == "" {
		return nil
	}
	body := json.RawMessage(q.object)
	found, repeats := body, false
	for _, path := range q.callback.events {
		if found, repeats = path.in(body); found != nil {
			break
		}
	}
	switch {
	case repeats: // to read one list would lose the other
		return q.reject(ErrUnreadable)
	case found == nil, len(found) == len(body) && isNested(body, '{'):
		return nil
	case isNested(found, '{'):
		q.list = []json.RawMessage{found}
	case isNested(found, '['):
		q.list = elements(found, maxEvents)
	case string(found) != "null":
		return q.reject(ErrUnreadable)
	}
	switch q.several = true; {
	case len(q.list) > maxEvents:
		return q.reject(ErrTooLarge)
	case len(q.list)*q.inQuery > 16*q.maxParams: // each event has them in its Params
		return q.reject(ErrTooManyParams)
	default:
		return nil
	}
}

// holdsList reports whether a body may be a list of events itself.
func (c *callback) holdsList() bool {
	return len(c.events) == 0 || slices.ContainsFunc(c.events, func(p path) bool { return len(p.names) == 0 })
}

// size returns the number of events.
func (q *request) size() int {
	if q.several {
		return len(q.list)
	}
	return 1
}

// event returns the request as if it held one of its events alone. Parameters of the query remain, but say nothing about the event.
func (q *request) event(i int) (*request, error) {
	if !q.several {
		q.interpret()
		return q, nil
	}
	one := &request{
		Receiver: q.Receiver, callback: q.callback, proofs: q.proofs, rawQuery: q.rawQuery, inQuery: q.inQuery, element: true,
	}
	if !isNested(q.list[i], '{') {
		return nil, q.reject(ErrUnreadable)
	}
	one.params = append(make(Params, 0, q.inQuery+8), q.params[:q.inQuery]...)
	one.count = q.inQuery
	if one.readObject(string(q.list[i])); one.count > one.maxParams {
		return nil, q.reject(ErrTooManyParams)
	}
	one.emptyCopies()
	one.interpret()
	return one, nil
}

// readPaths reads the values at the paths that the contract names as parameters of those names.
func (q *request) readPaths(object json.RawMessage) {
	for _, path := range q.callback.paths {
		found, repeats := path.in(object)
		if found != nil {
			q.addJSON(path.text, found)
		}
		q.ambiguous = q.ambiguous || repeats
	}
}
