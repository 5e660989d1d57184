package webhook

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

// A JSON body, or a parameter of a query or form that holds JSON, can hold several events, in a list at one of the paths that the contract
// names. Each is then read like a body of its own: names and paths of parameters begin at the event, and what stands around the list
// says nothing about it.

// batch is a list of events, and what arrived around it.
type batch struct {
	around arrival
	events []json.RawMessage
}

// split returns the list of events, or nil if there is none: the first path counts at which there are some, or else something.
func (c *callback) split(a *arrival) (*batch, error) {
	body, around := json.RawMessage(a.object), *a
	around.params = a.params[:a.inQuery]
	var found json.RawMessage
	repeats := false
	for _, path := range c.events {
		value, again, holder := json.RawMessage(nil), false, ""
		if a.object != "" {
			value, again = path.in(body)
		} else if len(path.names) > 0 {
			holder = path.names[0]
			value, again = a.inParameter(path)
		}
		repeats = repeats || again
		isBody := len(path.names) == 0 // it only stands in for a list, and not for an empty one
		if found == nil || !isNone(value) && !isBody {
			if found = value; found != nil && holder != "" {
				around.params = slices.DeleteFunc(slices.Clone(a.params), func(p Param) bool { return p.Name == holder })
			}
		}
		if !isNone(found) {
			break
		}
	}
	around.inQuery = len(around.params)
	var list []json.RawMessage
	switch {
	case repeats: // to read one list would lose the other
		return nil, c.name.refuse(ErrUnreadable)
	case found == nil, len(found) == len(body) && isNested(body, '{'):
		return nil, nil
	case isNested(found, '{'):
		list = []json.RawMessage{found}
	case isNested(found, '['), string(found) == "null":
		list = elements(found, maxEvents)
	default:
		return nil, c.name.refuse(ErrUnreadable)
	}
	switch {
	case len(list) > maxEvents:
		return nil, c.name.refuse(ErrTooLarge)
	case len(list)*around.inQuery > 16*c.maxParams: // each event has them in its Params
		return nil, c.name.refuse(ErrTooManyParams)
	default:
		return &batch{around, list}, nil
	}
}

// inParameter returns the value at a path whose first name is that of a parameter that holds JSON, or nil, and reports whether there are
// several that differ.
func (a *arrival) inParameter(of path) (found json.RawMessage, repeats bool) {
	first := ""
	for i, p := range a.params {
		text := strings.TrimSpace(p.Value)
		if p.Name != of.names[0] || a.isTyped(i) || text == "" || text[0] != '{' && text[0] != '[' || jsonscan.Check([]byte(text)) != nil {
			continue
		}
		if first != "" {
			repeats = repeats || text != first
			continue
		}
		first = text
		found, repeats = path{names: of.names[1:]}.in(json.RawMessage(text))
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
