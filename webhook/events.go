package webhook

import (
	"encoding/json"
	"slices"
)

// A JSON body can hold several events, in a list at one of the paths that the contract names. Each is then read like a body of
// its own: names and paths of parameters begin at the event, and what stands around the list says nothing about it.

// findEvents looks for the list of events in the body: the first path counts at which there are some, or else something.
func (q *request) findEvents() error {
	if q.object == "" {
		return nil
	}
	body := json.RawMessage(q.object)
	found, repeats := json.RawMessage(nil), false
	for _, path := range q.events {
		value, again := path.in(body)
		repeats = repeats || again
		isBody := len(path.names) == 0 // it only stands in for a list, and not for an empty one
		if found == nil || !isNone(value) && !isBody {
			found = value
		}
		if !isNone(found) {
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
	case isNested(found, '['), string(found) == "null":
		q.list = elements(found, maxEvents)
	default:
		return q.reject(ErrUnreadable)
	}
	switch {
	case len(q.list) > maxEvents:
		return q.reject(ErrTooLarge)
	case len(q.list)*q.inQuery > 16*q.maxParams: // each event has them in its Params
		return q.reject(ErrTooManyParams)
	default:
		return nil
	}
}

// isNone reports whether what stands at a path of events holds none: the events may be at another.
func isNone(raw json.RawMessage) bool {
	return raw == nil || string(raw) == "null" || isNested(raw, '[') && len(elements(raw, 0)) == 0
}

// holdsList reports whether a body may be a list of events itself.
func (c *callback) holdsList() bool {
	return slices.ContainsFunc(c.events, func(p path) bool { return len(p.names) == 0 })
}

// element returns the request as if it held one event of its list alone. Parameters of the query remain, but say nothing about it.
func (q *request) element(raw json.RawMessage) (*request, error) {
	if !isNested(raw, '{') {
		return nil, q.reject(ErrUnreadable)
	}
	one := &request{callback: q.callback, proofs: q.proofs, rawQuery: q.rawQuery, count: q.inQuery, inQuery: q.inQuery, own: q.inQuery}
	one.params = append(make(Params, 0, q.inQuery+8), q.params[:q.inQuery]...)
	if one.readObject(string(raw)); one.count > one.maxParams {
		return nil, q.reject(ErrTooManyParams)
	}
	one.emptyCopies()
	one.interpret()
	return one, nil
}
