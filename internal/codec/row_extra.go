package codec

import (
	"bytes"
	"encoding/json"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

// keepExtra puts into Extra what fills no field: members that the contract does not read, unreadable values, and the rest of an object that
// has values of fields.
func (r *currentRow) keepExtra() {
	for _, m := range r.members {
		rest := r.rest(r.raw[m.start:m.end], m.node)
		if rest == nil {
			continue
		}
		if r.transaction.Extra == nil {
			r.transaction.Extra = map[string]json.RawMessage{}
		}
		r.transaction.Extra[m.text] = rest
	}
}

// rest returns a copy of the value at a node without the members that fill a field, or nil if nothing else is in it.
func (r *currentRow) rest(value []byte, n *jsonscan.Node) json.RawMessage {
	if r.extraSkips[n.Slot] {
		return nil
	}
	if len(n.Children) == 0 {
		return bytes.Clone(value)
	}
	members := jsonscan.Members(value)
	if members == nil {
		return bytes.Clone(value)
	}
	var left []member
	for _, m := range members {
		if rest := r.rest(m.Value, n.Child([]byte(m.Name))); rest != nil {
			left = append(left, member{name: m.Name, raw: rest})
		}
	}
	if len(left) == 0 && len(members) > 0 {
		return nil
	}
	return appendObject(nil, left)
}
