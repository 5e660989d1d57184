package webhook

import (
	"encoding/json"
	"slices"
)

// A JSON body can hold several events, in a list at one of the paths that the contract names. Each is then read like a body of
// its own: names and paths of parameters begin at the event, and what stands around the list says nothing about it.

// split returns the list of events in the body, if it holds one: the first path counts at which there are some, or else something.
func (c *callback) split(a *arrival) (list []json.RawMessage, isList bool, err error) {
	if a.object == "" {
		return nil, false, nil
	}
	body := json.RawMessage(a.object)
	found, repeats := json.RawMessage(nil), false
	for _, path := range c.events {
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
		return nil, false, c.name.refuse(ErrUnreadable)
	case found == nil, len(found) == len(body) && isNested(body, '{'):
		return nil, false, nil
	case isNested(found, '{'):
		list = []json.RawMessage{found}
	case isNested(found, '['), string(found) == "null":
		list = elements(found, maxEvents)
	default:
		return nil, false, c.name.refuse(ErrUnreadable)
	}
	switch {
	case len(list) > maxEvents:
		return nil, false, c.name.refuse(ErrTooLarge)
	case len(list)*a.inQuery > 16*c.maxParams: // each event has them in its Params
		return nil, false, c.name.refuse(ErrTooManyParams)
	default:
		return list, true, nil
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
