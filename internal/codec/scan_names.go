package codec

import (
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// A scan goes by the names of members. The file name_kind.go says what names commonly mean, and this file what they mean in the contract.

// kindOf returns what a name means in the contract or, if the contract does not have it, what it commonly means.
func (r *responseFormat) kindOf(name []byte) nameKind {
	if kind, ok := r.nameKinds[string(name)]; ok {
		return kind
	}
	return kindOf(name)
}

// kindsOfNames returns the kinds of the names in the paths of a contract. The last name of the path of an error code or a status also has
// that kind.
func kindsOfNames(byConcept map[string][]string, errors *table.Errors) map[string]nameKind {
	kinds := map[string]nameKind{}
	add := func(paths []string, last nameKind) {
		for _, path := range paths {
			for name := range strings.SplitSeq(path, ".") {
				kinds[name] |= kindOf([]byte(name))
			}
			kinds[lastName(path)] |= last
		}
	}
	for concept, paths := range byConcept {
		if concept == "status" {
			add(paths, kindStatus)
		} else {
			add(paths, 0)
		}
	}
	add(errors.Code, kindCode)
	add(errors.Message, 0)
	add(errors.Request, 0)
	return kinds
}

// exemptPaths returns the paths, and the paths on the way to them, at which the contract reads something other than the common meaning of
// their names, such as an operator at data.status. A scan takes nothing there for a failure.
func exemptPaths(byConcept map[string][]string) map[string]bool {
	exempt := map[string]bool{}
	for concept, paths := range byConcept {
		if concept == "status" {
			continue
		}
		for _, path := range paths {
			if kindOf([]byte(lastName(path))).mayFail() {
				exempt[path] = true
			}
			for _, outer := range pathsAround(path) {
				kind := kindOf([]byte(lastName(outer)))
				isMessage := kind&kindMessage != 0 // such as result, in which a scan reads on
				if kind.mayFail() && !isMessage {
					exempt[outer] = true
				}
			}
		}
	}
	return exempt
}

// mayFail reports whether a value of the kind can say that something failed.
func (k nameKind) mayFail() bool {
	return k&(kindFailure|kindSuccess|kindPartial|kindStatus|kindCode) != 0
}

// scanPath is the path of the value that a scan reads: the last name, and the path of the value around it. The path of the document is nil. It is
// written out only if it is needed.
type scanPath struct {
	outer     *scanPath
	name      []byte // of a member, or "0" for all elements of a list
	isElement bool
	length    int // in bytes, written out
}

// lengthWith returns the length of the path with one more name.
func (p *scanPath) lengthWith(name []byte) int {
	if p == nil {
		return len(name)
	}
	return p.length + len(".") + len(name)
}

// appendTo appends the path as a contract writes it. It reports false if no contract can have it. It takes time for at most table.MaxName bytes,
// because a response may have many names below a long path.
func (p *scanPath) appendTo(path []byte) (extended []byte, isPath bool) {
	switch {
	case p == nil:
		return path, true
	case p.length > table.MaxName:
		return nil, false
	}
	path, isPath = p.outer.appendTo(path)
	if !isPath || !p.isNameable() {
		return nil, false
	}
	if p.outer != nil {
		path = append(path, '.')
	}
	return append(path, p.name...), true
}

// isNameable reports whether a path of a contract can have the last name. A name with a dot would be two names, and a number is a position in a
// list.
func (p *scanPath) isNameable() bool {
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
