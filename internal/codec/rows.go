package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// recordFields are the concepts of sms.list.record and the fields that they fill. The ID comes first.
var recordFields = [...]struct { //nolint:gochecknoglobals // never written
	concept string
	of      func(*wire.Record) any
}{
	{"id", func(r *wire.Record) any { return &r.ID }},
	{"request", func(r *wire.Record) any { return &r.RequestID }},
	{"reference", func(r *wire.Record) any { return &r.ReferenceID }},
	{"category", func(r *wire.Record) any { return &r.CategoryID }},
	{"from", func(r *wire.Record) any { return &r.From }},
	{"to", func(r *wire.Record) any { return &r.To }},
	{"text", func(r *wire.Record) any { return &r.Text }},
	{"parts", func(r *wire.Record) any { return &r.Parts }},
	{"price", func(r *wire.Record) any { return &r.Price }},
	{"currency", func(r *wire.Record) any { return &r.Currency }},
	{"created", func(r *wire.Record) any { return &r.CreatedAt }},
	{"sent", func(r *wire.Record) any { return &r.SentAt }},
	{"sendStatus", func(r *wire.Record) any { return &r.SendStatus }},
	{"deliveryStatus", func(r *wire.Record) any { return &r.DeliveryStatus }},
	{"operator", func(r *wire.Record) any { return &r.Operator }},
	{"country", func(r *wire.Record) any { return &r.Country }},
	{"description", func(r *wire.Record) any { return &r.Description }},
}

// rows is the compiled shape of a row.
type rows struct {
	paths  paths
	places [][]int  // as in paths, in the order of recordFields
	names  []string // by slot, of the members that are wanted as a whole
	zone   *time.Location
}

func compileRows(record map[string][]string, zone *time.Location) *rows {
	r := &rows{paths: compilePaths(record, nil), zone: zone}
	for _, field := range recordFields {
		r.places = append(r.places, r.paths.places[field.concept])
	}
	r.names = make([]string, r.paths.slots)
	for _, n := range r.paths.root.children {
		if len(n.children) == 0 {
			r.names[n.slot-1] = n.name
		}
	}
	return r
}

// rowReader reads the rows of one page during the walk over its response. Rows are alike, so the names of the members of one
// are tried first in the next.
type rowReader struct {
	*rows

	page    *wire.Page
	limit   int // of rows
	place   int // where the rows stood, as in node.rows; 0 if there are none yet
	began   int // where the first row began
	found   []value
	members [64]*rowMember // the first of the row before
	extra   []span         // of the row that is being read
}

// rowMember is a member of a row.
type rowMember struct {
	name   string
	quoted []byte // the name as it stood in the document; nil if it has escapes
	node   *node
}

// span is a member that goes into Extra.
type span struct {
	name       string
	start, end int
}

// maxRows is how many rows a page may have if the request did not say.
const maxRows = 100_000

func newRowReader(r *rows, page *wire.Page, requested int) *rowReader {
	reader := &rowReader{rows: r, page: page, limit: maxRows, found: make([]value, r.paths.slots)}
	if requested > 0 && requested < maxRows/10 {
		reader.limit = 10 * requested
	}
	return reader
}

// read reads a list of rows. Of two lists in a response the one that the contract names first counts.
func (r *rowReader) read(s *scanner, place, depth int) {
	if r.place != 0 && r.place < place {
		s.walk(unwanted, nil, depth)
		return
	}
	r.reset(place)
	r.began = s.pos + 1
	for more := s.open(']', depth); more; more = s.next(']') {
		r.readRow(s, depth+1)
	}
}

// none notes that there is no list at a place: of two members of one name the last counts.
func (r *rowReader) none(place int) {
	if r.place == place {
		r.reset(0)
	}
}

func (r *rowReader) reset(place int) {
	r.place = place
	r.page.Records, r.page.Unreadable = r.page.Records[:0], r.page.Unreadable[:0]
}

func (r *rowReader) readRow(s *scanner, depth int) {
	c := s.peek()
	index := len(r.page.Records)
	switch index {
	case r.limit:
		s.fail(pageError(fmt.Sprintf("the page has more than %d rows", r.limit)))
		return
	case 1: // the length of the first row shows how many may follow
		rest := len(s.doc) - s.pos
		r.page.Records = slices.Grow(r.page.Records, min(rest/(s.pos-r.began)+1, r.limit))
	}
	r.page.Records = append(r.page.Records, wire.Record{})
	if c != '{' {
		r.unreadable("", "is not an object")
		s.walk(unwanted, nil, depth)
		return
	}
	start := s.pos
	clear(r.found)
	r.extra = r.extra[:0]
	r.readMembers(s, depth)
	if s.err == nil {
		r.fill(&r.page.Records[index], s.doc, start, s.pos)
	}
}

// unreadable reports the last row, once.
func (r *rowReader) unreadable(concept, reason string) {
	index := len(r.page.Records) - 1
	if n := len(r.page.Unreadable); n == 0 || r.page.Unreadable[n-1].Index != index {
		r.page.Unreadable = append(r.page.Unreadable, wire.Unreadable{Index: index, Field: concept, Reason: reason})
	}
}

func (r *rowReader) readMembers(s *scanner, depth int) {
	i := 0
	for more := s.open('}', depth); more; more = s.next('}') {
		m := r.member(s, i)
		i++
		s.peek()
		start := s.pos
		s.walkChild(m.node, r.found, depth)
		if m.node.slot == 0 || len(m.node.children) > 0 { // not known, or known in part
			r.extra = append(r.extra, span{m.name, start, s.pos})
		}
	}
}

// member reads the name of the i-th member of a row. It first tries the name that the row before had there.
func (r *rowReader) member(s *scanner, i int) *rowMember {
	s.peek()
	if i < len(r.members) {
		if m := r.members[i]; m != nil && m.quoted != nil && bytes.HasPrefix(s.doc[s.pos:], m.quoted) {
			s.pos += len(m.quoted)
			s.colon()
			return m
		}
	}
	name, quoted := s.member()
	m := &rowMember{name: string(name), quoted: quoted, node: r.paths.root.find(name)}
	if i < len(r.members) {
		r.members[i] = m
	}
	return m
}

// fill makes a record of the row between start and end. The strings of the record share one copy of the row. What cannot be
// read goes into Extra, and the first concept of which nothing could be read is reported.
func (r *rowReader) fill(to *wire.Record, doc []byte, start, end int) {
	row := string(doc[start:end])
	for i, slots := range r.places {
		isTheID := i == 0
		reason, taken := "", false
		if isTheID && len(slots) > 0 {
			reason = "is missing"
		}
		for _, slot := range slots {
			v := r.found[slot]
			if v.kind <= null {
				continue
			}
			word := textOf(row, value{v.kind, v.start - start, v.end - start})
			switch {
			case taken:
			case isTheID && !isID(v, word):
				reason = "is not an ID"
			case !v.scalar() || v.kind == boolean:
				reason = "is neither a text nor a number"
			default:
				taken, reason = true, r.set(recordFields[i].of(to), word)
				if reason == "" {
					continue
				}
			}
			r.keep(slot, v)
		}
		if reason != "" {
			r.unreadable(recordFields[i].concept, reason)
		}
	}
	if len(r.extra) > 0 {
		to.Extra = r.extras(doc)
	}
}

// set sets a field of a record. It returns why the word is no value of the field, or "".
func (r *rowReader) set(field any, word string) (reason string) {
	ok := true
	switch field := field.(type) {
	case *string:
		*field = word
	case *int:
		if *field, ok = wholeNumber(word); *field < 0 {
			*field, ok = 0, false
		}
	case *time.Time:
		*field, ok = table.ParseTime(word, r.zone)
	}
	if !ok {
		return "is in no known form"
	}
	return ""
}

// keep puts a value into Extra that stands under a known name and could not serve.
func (r *rowReader) keep(slot int, v value) {
	name := r.names[slot]
	if name == "" {
		return // it lies deeper, and the member in which it lies is in Extra
	}
	if v.kind == text {
		v.start, v.end = v.start-1, v.end+1 // the quotes
	}
	r.extra = append(r.extra, span{name, v.start, v.end})
}

// extras returns the members that go into Extra. Of two of one name the last counts.
func (r *rowReader) extras(doc []byte) map[string]json.RawMessage {
	size := 0
	for _, e := range r.extra {
		size += e.end - e.start
	}
	all := make([]byte, 0, size)
	extra := make(map[string]json.RawMessage, len(r.extra))
	for _, e := range r.extra {
		at := len(all)
		all = append(all, doc[e.start:e.end]...)
		extra[e.name] = all[at:len(all):len(all)]
	}
	return extra
}
