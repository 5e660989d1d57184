package codec

import (
	"bytes"

	"github.com/messaging-service/messaging-go/internal/table"
)

// place is where a scan is in a response: at a member or an element of the value at the outer place. The place of the document is nil.
type place struct {
	outer     *place
	name      []byte // of a member
	isElement bool   // of a list
}

// appendPath appends the path that a contract has for a place, on which all elements of a list are the first one. It reports false if no
// contract can name the place.
func (p *place) appendPath(path []byte) (_ []byte, isPath bool) {
	if p == nil {
		return path, true
	}
	path, isPath = p.outer.appendPath(path)
	if !isPath || !p.isNameable() {
		return nil, false
	}
	if p.outer != nil {
		path = append(path, '.')
	}
	if p.isElement {
		return append(path, '0'), true
	}
	return append(path, p.name...), true
}

// isNameable reports whether a path can have the name of a place. A name with a dot would be two names, and a number is a position in a
// list.
func (p *place) isNameable() bool {
	if p.isElement {
		return true
	}
	if len(p.name) == 0 || bytes.ContainsAny(p.name, ".*$") {
		return false
	}
	isNumber := len(bytes.Trim(p.name, "0123456789")) == 0 // few names are
	return !isNumber || !table.IsPosition(string(p.name))
}
