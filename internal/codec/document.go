package codec

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

// value is a value in a document.
type value = jsonscan.Value

// paths are the paths at which a contract looks for concepts. Each path has a slot, and a document has its values by slot.
type paths struct {
	jsonscan.Paths

	slots map[string][]int // by concept, in the order of preference
}

// root is the slot of the document itself.
const root = 0

// compilePaths compiles lists of paths by concept, each in the order of preference.
func compilePaths(byConcept map[string][]string) paths {
	p := paths{slots: make(map[string][]int, len(byConcept))}
	for concept, list := range byConcept {
		p.slots[concept] = p.Add(list...)
	}
	return p
}

// document is a response with the values that were found in it.
type document struct {
	raw          []byte  // without a byte order mark
	text         string  // what the values refer to: all of raw, or a copy of the values alone
	values       []value // by slot
	hasDuplicate bool    // a member on a path came twice in its object
	notJSON      error   // why the response is plain text, or nil if it is JSON
	reread       int     // how many bytes were read again for the elements of lists
}

// longestText is the length in bytes of the longest response that is read as plain text. A longer one is an HTML page.
const longestText = 4 << 10

// parse reads a response. A response that is not JSON is a text, the value at the root, if the contract reads a text. The values take the
// place of those in buffer.
func (p *paths) parse(body []byte, buffer []value) (document, error) {
	w := jsonscan.NewWalker(WithoutMark(body))
	values, err := p.Find(w, buffer)
	if err == nil {
		return document{raw: w.Doc, text: string(w.Doc), values: values, hasDuplicate: w.Repeats}, nil
	}
	text := bytes.TrimSpace(body)
	isText := len(text) > 0 && len(body) <= longestText && utf8.Valid(text)
	if !p.Root.IsWanted || !isText {
		return document{values: values}, err
	}
	clear(values)
	values[root] = value{Kind: jsonscan.String, End: len(text)}
	return document{raw: text, text: string(text), values: values, notJSON: err}, nil
}

// copyLimit is the length in bytes of a response above which its values are copied, so that they do not keep all of it in memory.
const copyLimit = 512

// parseRows reads a response whose rows go to a reader.
func (p *paths) parseRows(body []byte, rows *rowReader) (document, error) {
	w := jsonscan.NewWalker(WithoutMark(body))
	w.List = func(list int) { rows.read(w, list) }
	values, err := p.Find(w, nil)
	if err != nil {
		return document{values: values}, err
	}
	d := document{raw: w.Doc, values: values, hasDuplicate: w.Repeats}
	if len(w.Doc) <= copyLimit {
		d.text = string(w.Doc)
	} else {
		d.text = p.Text(w.Doc, values)
	}
	return d, nil
}

// WithoutMark returns a document without the byte order mark that it may begin with.
func WithoutMark(doc []byte) []byte { return bytes.TrimPrefix(doc, []byte("\ufeff")) }

// has reports whether there is a value other than null at a slot.
func (d *document) has(slot int) bool { return d.values[slot].Kind > jsonscan.Null }

// hasAny reports whether there is a value other than null at one of some slots.
func (d *document) hasAny(slots []int) bool { return slices.ContainsFunc(slots, d.has) }

// word returns the text, the number or the boolean at a slot as it is written, or "".
func (d *document) word(slot int) string { return d.values[slot].Word(d.text) }

// first returns the first word at some slots that is not blank, or "".
func (d *document) first(slots []int) string {
	for _, slot := range slots {
		word := d.word(slot)
		if strings.TrimSpace(word) != "" {
			return word
		}
	}
	return ""
}
