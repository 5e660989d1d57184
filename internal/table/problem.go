package table

import (
	"strconv"
	"strings"
	"unicode"
)

// Problem is one thing that is wrong with a contract. Neither field repeats a value, which may be a secret.
type Problem struct {
	Path   string // the place in the table, such as sms.send.fields.from or errors.notProcessed[1]; "" for all of it
	Reason string
}

// Problems are the first problems that were found, and the number of those beyond them.
type Problems struct {
	List []Problem
	More int

	overlay map[string]bool // the paths of lists that the overlay sets; see clash
}

// maxProblems is how many problems are listed, and maxPath how many bytes of a path: an overlay is often written by hand,
// and its error is read by people.
const (
	maxProblems = 20
	maxPath     = 256
)

// add adds a problem, unless the reason is empty.
func (p *Problems) add(path, reason string) {
	switch {
	case reason == "":
	case len(p.List) == maxProblems:
		p.More++
	default:
		if len(path) > maxPath {
			path = strings.ToValidUTF8(path[:maxPath], "") + "..."
		}
		p.List = append(p.List, Problem{Path: path, Reason: reason})
	}
}

func (p *Problems) count() int { return len(p.List) + p.More }

func (p *Problems) markOverlay(path string) {
	if p.overlay == nil {
		p.overlay = map[string]bool{}
	}
	p.overlay[path] = true
}

// entry is an entry of a list in the table.
type entry struct {
	list  string // its path
	index int
	word  string
}

// clash reports that two entries cannot be the same. The problem is at the overlay's entry, where the user can mend it, and shows a word of the
// default only.
func (p *Problems) clash(a, b entry, reason string) {
	if !p.overlay[a.list] && p.overlay[b.list] {
		a, b = b, a
	}
	same := "the same as "
	if !p.overlay[b.list] {
		same = strconv.Quote(b.word) + " like the default "
	}
	p.add(elementPath(a.list, a.index), "holds "+same+elementPath(b.list, b.index)+"; "+reason)
}

// join returns the path of a key within path. A key that is long or cannot be printed is cut and quoted.
func join(path, key string) string {
	const longest = 80
	if len(key) > longest {
		key = strconv.Quote(key[:longest]) + "..."
	} else if key == "" || strings.ContainsFunc(key, func(r rune) bool { return !unicode.IsPrint(r) }) {
		key = strconv.Quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

func elementPath(path string, index int) string { return path + "[" + strconv.Itoa(index) + "]" }
