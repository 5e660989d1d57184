package codec

import (
	"bytes"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

// value is a value in a document.
type value = jsonscan.Value

// paths are paths into a document by concept. They never change once they are compiled.
type paths struct {
	jsonscan.Paths

	slots map[string][]int // by concept, of its values in the order of preference
}

// root is the slot of the document itself.
const root = 0

// compilePaths compiles lists of paths by concept, each in the order of preference.
func compilePaths(lists map[string][]string) paths {
	p := paths{slots: make(map[string][]int, len(lists))}
	for concept, list := range lists {
		p.slots[concept] = p.Add(list...)
	}
	return p
}

// shortest is the length of a document, in bytes, below which it is copied whole: what was found in it may keep it alive.
const shortest = 512

// findRows walks over a document, which may begin with a byte order mark, and checks all of it. Its rows are read by a reader, unless that
// is nil. It returns the value at each slot, the text that those values are in, and whether a member that is wanted, or on the way to one,
// came twice in its object.
func (p *paths) findRows(doc []byte, rows *rowReader) (text string, values []value, repeats bool, err error) {
	w := jsonscan.NewWalker(withoutMark(doc))
	if rows != nil {
		w.List = func(list int) { rows.read(w, list) }
	}
	found, err := p.Find(w, nil)
	if err != nil {
		return "", found, false, err
	}
	if len(w.Doc) <= shortest {
		return string(w.Doc), found, w.Repeats, nil
	}
	return p.Text(w.Doc, found), found, w.Repeats, nil
}

// withoutMark returns a document without the byte order mark that it may begin with.
func withoutMark(doc []byte) []byte { return bytes.TrimPrefix(doc, []byte("\ufeff")) }

// first returns the first word at the slots that is not empty, or "".
func first(text string, found []value, slots []int) string {
	for _, slot := range slots {
		if word := found[slot].Word(text); word != "" {
			return word
		}
	}
	return ""
}
