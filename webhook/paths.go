package webhook

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

// paths are paths into JSON, such as results.0.from. Nil paths lead nowhere.
type paths struct {
	texts   []string
	tree    jsonscan.Paths   // of all paths
	slots   []int            // in what tree finds, by path
	singles []jsonscan.Paths // a tree for each path
}

// newPaths returns nil if there are no paths.
func newPaths(texts []string) *paths {
	if len(texts) == 0 {
		return nil
	}
	p := &paths{texts: texts, singles: make([]jsonscan.Paths, len(texts))}
	for i, text := range texts {
		p.slots = append(p.slots, p.tree.Add(text)...)
		p.singles[i].Add(text)
	}
	return p
}

// anyWithin reports whether one of the paths is that of a member, or leads through it.
func (p *paths) anyWithin(member string) bool {
	return p != nil && slices.ContainsFunc(p.texts, func(path string) bool { return isWithin(path, member) })
}

// isWithin reports whether a path is that of a member, or leads through it.
func isWithin(path, member string) bool { return path == member || strings.HasPrefix(path, member+".") }

// find returns what valid JSON holds at each path, nil for nothing, and reports whether a member on the way came twice with different
// values.
func (p *paths) find(raw []byte) (found []json.RawMessage, repeats bool) {
	if p == nil {
		return nil, false
	}
	w := jsonscan.NewWalker(raw)
	values, _ := p.tree.Find(w, nil)
	for _, slot := range p.slots {
		found = append(found, values[slot].Raw(raw))
	}
	return found, w.Differs
}

// firstList returns the events at the first path that holds any, or an empty list if a path holds none. It returns nil if nothing is at any
// path. A value that cannot hold events is an error, and so is a list that comes twice, because to read one would lose the other.
func (p *paths) firstList(raw []byte) (events []json.RawMessage, err error) {
	values, repeats := p.find(raw)
	for i, value := range values {
		isTwice := repeats && p.repeatsAt(i, raw)
		if isTwice || !mayHoldEvents(value) {
			return nil, ErrUnreadable
		}
		if value == nil {
			continue
		}
		events = eventsOf(value)
		if len(events) > 0 {
			return events, nil
		}
	}
	return events, nil
}

// repeatsAt reports whether a member on the way to one path came twice with different values.
func (p *paths) repeatsAt(index int, raw []byte) bool {
	w := jsonscan.NewWalker(raw)
	_, _ = p.singles[index].Find(w, nil)
	return w.Differs
}

// mayHoldEvents reports whether a value where events are expected is absent, null, a list or an object.
func mayHoldEvents(value json.RawMessage) bool {
	isAbsent := value == nil || string(value) == "null"
	return isAbsent || isList(value) || isObject(value)
}
