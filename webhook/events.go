package webhook

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

// split returns the list of events in a JSON body or parameter, at the first path of the contract that holds any, and what arrived
// around it. The list is nil if no path leads anywhere. Each event is then read like a body of its own.
func (c *callback) split(a *arrival) (list []json.RawMessage, around arrival, err error) {
	var found json.RawMessage
	var where path
	for _, path := range c.events {
		value, repeats := a.at(path)
		if repeats { // to read one list would lose the other
			return nil, arrival{}, c.name.refuse(ErrUnreadable)
		}
		isBody := len(path.names) == 0 // it only stands in for a list, and not for an empty one
		if found == nil || !isNone(value) && !isBody {
			found, where = value, path
		}
		if !isNone(found) {
			break
		}
	}
	switch {
	case found == nil, len(found) == len(a.object) && isNested(found, '{'):
		return nil, arrival{}, nil
	case isNested(found, '{'):
		list = []json.RawMessage{found}
	case isNested(found, '['), string(found) == "null":
		list = elements(found, maxEvents)
	default:
		return nil, arrival{}, c.name.refuse(ErrUnreadable)
	}
	around = *a
	around.params = a.params[:a.inQuery]
	if a.object == "" {
		around.params = slices.DeleteFunc(slices.Clone(a.params), func(p Param) bool { return p.Name == where.names[0] })
	}
	around.inQuery = len(around.params)
	switch {
	case len(list) > maxEvents:
		return nil, arrival{}, c.name.refuse(ErrTooLarge)
	case len(list)*around.inQuery > 16*c.maxParams: // each event has them in its Params
		return nil, arrival{}, c.name.refuse(ErrTooManyParams)
	default:
		return list, around, nil
	}
}

// at returns what stands at a path of events, or nil, and reports whether there are several that differ. Without a JSON body, the first
// name of the path is that of a parameter that holds JSON.
func (a *arrival) at(of path) (found json.RawMessage, repeats bool) {
	switch {
	case a.object != "":
		return of.in(json.RawMessage(a.object))
	case len(of.names) == 0:
		return nil, false
	}
	first := ""
	for i, p := range a.params {
		text := strings.TrimSpace(p.Value)
		isJSON := strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
		switch {
		case p.Name != of.names[0], a.origins[i].typed, !isJSON, jsonscan.Check([]byte(text)) != nil:
		case first != "":
			repeats = repeats || text != first
		default:
			first = text
			found, repeats = path{names: of.names[1:]}.in(json.RawMessage(text))
		}
	}
	return found, repeats
}

// isNone reports whether what stands at a path of events holds none: the events may be at another.
func isNone(raw json.RawMessage) bool {
	return raw == nil || string(raw) == "null" || isNested(raw, '[') && len(elements(raw, 0)) == 0
}

// holdsList reports whether a body may be a list of events itself.
func (c *callback) holdsList() bool {
	return slices.ContainsFunc(c.events, func(p path) bool { return len(p.names) == 0 })
}
