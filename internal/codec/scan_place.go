package codec

import (
	"slices"

	"github.com/messaging-service/messaging-go/internal/table"
)

// place is where a scan is in a response: at a member or an element of the value at the outer place. The place of the document is nil.
type place struct {
	outer     *place
	name      []byte // of a member, or "0" for all elements of a list
	isElement bool
}

// path returns the path that a contract has for a place, in buffer if that is large enough. It reports false if no contract can name the
// place.
func (p *place) path(buffer []byte) (path []byte, isPath bool) {
	length := 0
	for step := p; step != nil; step = step.outer {
		if !step.isNameable() {
			return nil, false
		}
		length += len(step.name)
		if step.outer != nil {
			length += len(".")
		}
	}
	path = slices.Grow(buffer[:0], length)[:length]
	rest := path
	for step := p; step != nil; step = step.outer { // from the last name to the first
		rest = rest[:len(rest)-len(step.name)]
		copy(path[len(rest):], step.name)
		if step.outer != nil {
			rest = rest[:len(rest)-1]
			path[len(rest)] = '.'
		}
	}
	return path, true
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
