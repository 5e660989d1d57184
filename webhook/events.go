package webhook

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

// A JSON body, or a parameter that holds JSON, can hold several events, in a list at one of the paths that the contract names. Each is then
// read like a body of its own, and what stands around the list says nothing about it. A * in the path stands for each element of a list.
// What stands in such an element, beside the events in it, is a parameter of each of them, whose name begins with the path up to the *.

// eventsPath is a path of events, cut at each *.
type eventsPath []*paths

func newEventsPath(text string) eventsPath {
	var cut eventsPath
	begin := 0
	names := strings.Split(text, ".")
	for i, name := range append(names, every) {
		if name == every {
			cut = append(cut, newPaths(strings.Join(names[begin:i], ".")))
			begin = i + 1
		}
	}
	return cut
}

// cutElement cuts the name of a parameter that stands around an event behind the path of the list up to its last *. The path is "" for any
// other name.
func cutElement(name string) (list, inElement string) {
	if i := strings.LastIndex("."+name, "."+every+"."); i >= 0 {
		return name[:i+len(every)], name[i+len(every)+1:]
	}
	return "", name
}

// every is the part of a path that stands for each element of a list.
const every = "*"

// parameter returns the name of the parameter that holds the events in a query or form, or "" if none can.
func (p eventsPath) parameter() string {
	name, _, _ := strings.Cut(p[0].texts[0], ".")
	return name
}

// listed is an event of a list.
type listed struct {
	raw     json.RawMessage   // nil where an element around it holds nothing at the path
	outer   []jsonscan.Member // of the elements that it is in
	repeats bool              // a member on a path of the contract came twice in those with different values
}

// split returns the list of events, and what arrived around it. The list is nil if there is none. The first path counts at which there
// are some, or else something.
func (c *callback) split(a *arrival) (list []listed, outer arrival, err error) {
	parameter := ""
	for _, of := range c.events {
		value, repeats := a.eventsAt(of)
		isBody := len(of) == 1 && of.parameter() == ""
		switch {
		case repeats: // to read one list would lose the other
			return nil, arrival{}, c.name.refuse(ErrUnreadable)
		case value == nil, isBody && (list != nil || isNested(value, '{')): // the body only stands in for a list that is not empty
			continue
		case !isNested(value, '{') && !isNested(value, '[') && string(value) != "null":
			return nil, arrival{}, c.name.refuse(ErrUnreadable)
		}
		in := lister{callback: c, list: []listed{}}
		if in.add(value, listed{}, of[0].texts[0], of[1:]); in.tooMany {
			return nil, arrival{}, c.name.refuse(ErrTooLarge)
		}
		if list == nil || len(in.list) > 0 {
			list, parameter = in.list, of.parameter()
		}
		if len(list) > 0 {
			break
		}
	}
	if list == nil {
		return nil, arrival{}, nil
	}
	outer = *a
	outer.params = a.params[:a.inQuery]
	if a.object == "" {
		outer.params = slices.DeleteFunc(slices.Clone(a.params), func(p Param) bool { return p.Name == parameter })
	}
	outer.inQuery = len(outer.params)
	copies := 0 // each event has in its Params what stands around it
	for _, one := range list {
		copies += len(one.outer)
	}
	if len(list)*outer.inQuery > 16*c.maxParams || copies > 64*c.maxParams {
		return nil, arrival{}, c.name.refuse(ErrTooManyParams)
	}
	return list, outer, nil
}

// lister makes the list of events.
type lister struct {
	*callback

	list    []listed
	tooMany bool
}

// add adds the events of a value at a path, which is one of them or a list. If the path goes on, they are in those that it leads to.
func (in *lister) add(value json.RawMessage, outer listed, text string, rest eventsPath) {
	all := []json.RawMessage{value}
	switch {
	case isNested(value, '['):
		all = elements(value, maxEvents)
	case string(value) == "null":
		all = nil
	}
	in.tooMany = in.tooMany || len(in.list)+len(all) > maxEvents
	text = strings.TrimPrefix(text+"."+every, ".")
	for _, one := range all {
		if in.tooMany {
			return
		}
		event := outer
		if event.raw = one; len(rest) == 0 {
			in.list = append(in.list, event)
			continue
		}
		inner, repeats := rest[0].first(one)
		if event.raw = nil; inner == nil || repeats || !isNested(inner, '{') && !isNested(inner, '[') && string(inner) != "null" {
			in.list = append(in.list, event) // it is refused, and the others are read
			continue
		}
		event.outer = slices.Clip(event.outer)
		for _, m := range objectOf(one) {
			if m.Name != rest.parameter() && in.secretOf(m.Name) < 0 {
				event.outer = append(event.outer, jsonscan.Member{Name: text + "." + m.Name, Value: m.Value})
			}
		}
		found, differ := in.outer[text].in(one)
		event.repeats = event.repeats || differ
		for i, value := range found {
			if value != nil {
				event.outer = append(event.outer, jsonscan.Member{Name: text + "." + in.outer[text].texts[i], Value: value})
			}
		}
		in.add(inner, event, strings.TrimSuffix(text+"."+rest[0].texts[0], "."), rest[1:])
	}
}

// eventsAt returns what stands at a path of events, up to its first *, or nil, and reports whether there are several that differ. Without a
// JSON body, the first name of the path is that of a parameter that holds JSON.
func (a *arrival) eventsAt(of eventsPath) (found json.RawMessage, repeats bool) {
	switch {
	case a.object != "":
		return of[0].first(json.RawMessage(a.object))
	case of.parameter() == "":
		return nil, false
	}
	first := ""
	for i, p := range a.params {
		text := strings.TrimSpace(p.Value)
		isJSON := strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
		switch {
		case p.Name != of.parameter(), a.origins[i].typed, !isJSON, jsonscan.Check([]byte(text)) != nil:
		case first != "":
			repeats = repeats || text != first
		default:
			first = text
			_, rest, _ := strings.Cut(of[0].texts[0], ".")
			found, repeats = newPaths(rest).first(json.RawMessage(text))
		}
	}
	return found, repeats
}
