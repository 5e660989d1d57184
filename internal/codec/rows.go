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

// What a row may say.
const (
	rowID = iota
	rowRequest
	rowReference
	rowCategory
	rowFrom
	rowTo
	rowText
	rowParts
	rowPrice
	rowCreated
	rowSent
	rowSendStatus
	rowDeliveryStatus
	rowOperator
	rowCountry
	rowDescription
	rowConcepts
)

// recordConcepts are the concepts of sms.list.record.
var recordConcepts = [rowConcepts]string{
	rowID: "id", rowRequest: "request", rowReference: "reference", rowCategory: "category", rowFrom: "from", rowTo: "to",
	rowText: "text", rowParts: "parts", rowPrice: "price", rowCreated: "created", rowSent: "sent", rowSendStatus: "sendStatus",
	rowDeliveryStatus: "deliveryStatus", rowOperator: "operator", rowCountry: "country", rowDescription: "description",
}

// maxRows is how many rows a page may have if the request did not say.
const maxRows = 100_000

// rows is the compiled shape of a row.
type rows struct {
	paths   paths
	names   []string // by slot, of the members that are wanted as a whole
	zone    *time.Location
	wantsID bool
}

func compileRows(record map[string][]string, zone *time.Location) *rows {
	r := &rows{zone: zone, wantsID: len(record["id"]) > 0}
	var lists [rowConcepts][]string
	for concept, key := range recordConcepts {
		lists[concept] = record[key]
	}
	r.paths = compilePaths(lists[:], nil)
	r.names = make([]string, r.paths.slots)
	for n := r.paths.root.child; n != nil; n = n.next {
		if n.child == nil {
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
	members []rowMember // by position in a row
	extra   []span      // of the row that is being read
}

// rowMember is the member at a position of the row before.
type rowMember struct {
	name   string
	quoted []byte // the name as it stood in the document; nil if it has escapes
	node   *node  // nil if the name is not known
}

// span is a member that goes into Extra.
type span struct {
	name       string
	start, end int
}

func newRowReader(r *rows, page *wire.Page, requested int) *rowReader {
	reader := &rowReader{rows: r, page: page, limit: maxRows, found: make([]value, r.paths.slots)}
	if requested > 0 && requested < maxRows/10 {
		reader.limit = 10 * requested
	}
	return reader
}

// read reads a list of rows. Of two lists in a response the one that the contract names first counts.
func (r *rowReader) read(s *scanner, place, depth int) error {
	if r.place != 0 && r.place < place {
		return s.skip(depth)
	}
	r.place = place
	r.page.Records, r.page.Unreadable = r.page.Records[:0], r.page.Unreadable[:0]
	r.began = s.pos + 1
	more, err := s.open(']', depth)
	for more && err == nil {
		if err = r.readRow(s, depth+1); err != nil {
			return err
		}
		more, err = s.next(']')
	}
	return err
}

// none notes that there is no list at a place: of two members of one name the last counts.
func (r *rowReader) none(place int) {
	if r.place == place {
		r.place = 0
		r.page.Records, r.page.Unreadable = r.page.Records[:0], r.page.Unreadable[:0]
	}
}

func (r *rowReader) readRow(s *scanner, depth int) error {
	c, err := s.peek()
	if err != nil {
		return err
	}
	index := len(r.page.Records)
	switch index {
	case r.limit:
		return tooManyRows(r.limit)
	case 1: // the length of the first row shows how many may follow
		rest := len(s.doc) - s.pos
		r.page.Records = slices.Grow(r.page.Records, min(rest/(s.pos-r.began)+1, r.limit))
	}
	r.page.Records = append(r.page.Records, wire.Record{})
	if c != '{' {
		r.page.Unreadable = append(r.page.Unreadable, wire.Unreadable{Index: index, Reason: "is not an object"})
		return s.skip(depth)
	}
	start := s.pos
	clear(r.found)
	r.extra = r.extra[:0]
	if err := r.walkMembers(s, depth); err != nil {
		return err
	}
	if concept, reason := r.fill(&r.page.Records[index], s.doc, start, s.pos); reason != "" {
		r.page.Unreadable = append(r.page.Unreadable, wire.Unreadable{Index: index, Field: recordConcepts[concept], Reason: reason})
	}
	return nil
}

func tooManyRows(limit int) error {
	if limit == maxRows {
		return pageError(fmt.Sprintf("the page has more than %d rows", limit))
	}
	return pageError(fmt.Sprintf("the page has more than %d rows, ten times as many as were requested", limit))
}

// walkMembers reads the members of a row.
func (r *rowReader) walkMembers(s *scanner, depth int) error {
	more, err := s.open('}', depth)
	for i := 0; more && err == nil; i++ {
		var m *rowMember
		if m, err = r.member(s, i); err != nil {
			return err
		}
		c, err := s.peek()
		if err != nil {
			return err
		}
		start := s.pos
		switch {
		case m.node == nil:
			err = s.skip(depth + 1)
		case m.node.child == nil && c != '{' && c != '[': // most members of a row
			r.found[m.node.slot-1], err = s.scalar(c)
		default:
			m.node.forget(r.found)
			err = s.walk(m.node, r.found, depth+1)
		}
		if err != nil {
			return err
		}
		if m.node == nil || m.node.child != nil { // not known, or known in part
			r.extra = append(r.extra, span{m.name, start, s.pos})
		}
		if more, err = s.next('}'); err != nil {
			return err
		}
	}
	return err
}

// member reads the name of the i-th member of a row. It first tries the name that the row before had there.
func (r *rowReader) member(s *scanner, i int) (*rowMember, error) {
	if _, err := s.peek(); err == nil && i < len(r.members) {
		if m := &r.members[i]; m.quoted != nil && bytes.HasPrefix(s.doc[s.pos:], m.quoted) {
			s.pos += len(m.quoted)
			return m, s.colon()
		}
	}
	name, quoted, err := s.member()
	if err != nil {
		return nil, err
	}
	m := rowMember{name: string(name), quoted: quoted, node: r.paths.root.find(name)}
	const most = 256 // members of a row that are remembered
	switch {
	case i < len(r.members):
		r.members[i] = m
	case i == len(r.members) && i < most:
		r.members = append(r.members, m)
	default:
		return &m, nil
	}
	return &r.members[i], nil
}

// fill makes a record of the row between start and end. The strings of the record share one copy of the row. It returns the
// first concept that could not be read, and why; the reason is "" if all could be read.
func (r *rowReader) fill(to *wire.Record, doc []byte, start, end int) (concept int, reason string) {
	row := string(doc[start:end])
	var taken, odd [rowConcepts]bool
	for _, w := range r.paths.wanted {
		v := r.found[w.slot]
		if v.kind == absent || v.kind == null {
			continue
		}
		if taken[w.concept] {
			r.keep(w.slot, v)
			continue
		}
		word := textOf(row, value{v.kind, v.start - start, v.end - start})
		switch {
		case !v.scalar() || w.concept == rowID && !isID(v, word):
			odd[w.concept] = true
			r.keep(w.slot, v)
		case r.set(to, w.concept, word):
			taken[w.concept] = true
		default:
			taken[w.concept] = true
			r.keep(w.slot, v)
			if reason == "" {
				concept, reason = w.concept, "is in no known form"
			}
		}
	}
	if len(r.extra) > 0 {
		to.Extra = r.extras(doc)
	}
	switch {
	case odd[rowID] && !taken[rowID]:
		return rowID, "is not an ID"
	case r.wantsID && !taken[rowID]:
		return rowID, "is missing"
	}
	for c := range odd {
		if odd[c] && !taken[c] && (reason == "" || c < concept) {
			return c, "is neither a text nor a number"
		}
	}
	return concept, reason
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

// set sets the field of a concept, and reports whether the word is a number or a time if the field is one.
func (r *rowReader) set(to *wire.Record, concept int, word string) (ok bool) {
	ok = true
	switch concept {
	case rowID:
		to.ID = word
	case rowRequest:
		to.RequestID = word
	case rowReference:
		to.ReferenceID = word
	case rowCategory:
		to.CategoryID = word
	case rowFrom:
		to.From = word
	case rowTo:
		to.To = word
	case rowText:
		to.Text = word
	case rowParts:
		to.Parts, ok = wholeNumber(word)
	case rowPrice:
		to.Price = word
	case rowCreated:
		to.CreatedAt, ok = table.ParseTime(word, r.zone)
	case rowSent:
		to.SentAt, ok = table.ParseTime(word, r.zone)
	case rowSendStatus:
		to.SendStatus = word
	case rowDeliveryStatus:
		to.DeliveryStatus = word
	case rowOperator:
		to.Operator = word
	case rowCountry:
		to.Country = word
	case rowDescription:
		to.Description = word
	}
	return ok
}
