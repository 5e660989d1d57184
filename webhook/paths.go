package webhook

import (
	"encoding/json"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

// paths are paths into JSON, such as results.0.from. Nil paths lead nowhere.
type paths struct {
	tree  jsonscan.Paths
	texts []string
	slots []int // in what tree finds, by path
}

// newPaths returns nil if there are no paths.
func newPaths(texts []string) *paths {
	if len(texts) == 0 {
		return nil
	}
	p := &paths{texts: texts}
	for _, text := range texts {
		p.slots = append(p.slots, p.tree.Add(text)...)
	}
	return p
}

// in returns what valid JSON holds at each path, nil for nothing, and reports whether a member on the way came twice with different
// values.
func (p *paths) in(raw []byte) (found []json.RawMessage, repeats bool) {
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
