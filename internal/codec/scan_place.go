package codec

import "github.com/messaging-service/messaging-go/internal/table"

// place is where a scan is in a response: at a member or an element of the value at the outer place. The place of the document is nil.
type place struct {
	outer     *place
	name      []byte // of a member, or "0" for all elements of a list
	isElement bool
}

// appendPath appends the path that a contract has for a place. It reports false if no contract can name the place.
func (p *place) appendPath(path []byte) (extended []byte, isPath bool) {
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
	return append(path, p.name...), true
}

// isNameable reports whether a path can have the name of a place. A name with a dot would be two names, and a number is a position in a
// list.
func (p *place) isNameable() bool {
	if p.isElement {
		return true
	}
	isNumber := true
	for _, c := range p.name {
		switch {
		case c == '.', c == '*', c == '$':
			return false
		case c < '0', c > '9':
			isNumber = false
		}
	}
	isPosition := isNumber && table.IsPosition(string(p.name))
	return len(p.name) > 0 && !isPosition
}
