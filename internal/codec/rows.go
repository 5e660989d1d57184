package codec

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// What a row may tell.
const (
	rowID concept = iota
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

// rows is the compiled shape of a row. It never changes and is safe for concurrent use.
type rows struct {
	paths paths
	zone  *time.Location
}

func compileRows(record contract.Record, zone *time.Location) *rows {
	r := &rows{zone: zone}
	for c, list := range [rowConcepts][]string{
		rowID: record.ID, rowRequest: record.Request, rowReference: record.Reference, rowCategory: record.Category,
		rowFrom: record.From, rowTo: record.To, rowText: record.Text, rowParts: record.Parts, rowPrice: record.Price,
		rowCreated: record.Created, rowSent: record.Sent, rowSendStatus: record.SendStatus,
		rowDeliveryStatus: record.DeliveryStatus, rowOperator: record.Operator, rowCountry: record.Country,
		rowDescription: record.Description,
	} {
		r.paths.want(concept(c), list)
	}
	return r
}

// rowReader reads the rows of one page in the walk over its answer. Rows come alike, so what it learned of the members of
// one helps with the next.
type rowReader struct {
	*rows

	page    *wire.Page
	came    int // where the rows stood, as node.rows; 0 where none came yet
	began   int // where the first row did
	found   []value
	members []member // by position in a row
	extra   []span   // of the row that is being read
}

// member is what stood at a position of the row before.
type member struct {
	name   string
	quoted string // as it stands in a document; "" where it may be written in other ways
	child  *node  // nil where the name is not known
}

// span is a member that goes into Extra.
type span struct {
	name       string
	start, end int
}

func newRowReader(r *rows, page *wire.Page) *rowReader {
	return &rowReader{rows: r, page: page, found: make([]value, len(r.paths.leaves))}
}

// read reads a list of rows. Of two lists in an answer the one that the contract names first counts.
func (r *rowReader) read(s *scanner, place, depth int) error {
	if r.came != 0 && r.came < place {
		return s.skip(depth)
	}
	r.came = place
	r.page.Records, r.page.Unread = r.page.Records[:0], r.page.Unread[:0]
	s.pos++
	r.began = s.pos
	done, err := s.empty(']')
	for more := !done; more && err == nil; {
		if err = r.readRow(s, depth+1); err != nil {
			return err
		}
		more, err = s.next(']')
	}
	return err
}

// none says that what stands at a place now is no list: of two members of one name the last counts.
func (r *rowReader) none(place int) {
	if r.came == place {
		r.came = 0
		r.page.Records, r.page.Unread = r.page.Records[:0], r.page.Unread[:0]
	}
}

func (r *rowReader) readRow(s *scanner, depth int) error {
	c, err := s.peek()
	if err != nil {
		return err
	}
	index := len(r.page.Records)
	if index == 1 { // now it is known how long a row is, and so how many there may be
		const most = 4096 // beyond, growing costs little
		rest := len(s.doc) - s.pos
		r.page.Records = slices.Grow(r.page.Records, min(rest/(s.pos-r.began)+1, most))
	}
	r.page.Records = append(r.page.Records, wire.Record{})
	if c != '{' {
		r.page.Unread = append(r.page.Unread, wire.Unread{Index: index, Reason: "it is no object"})
		return s.skip(depth)
	}
	start := s.pos
	clear(r.found)
	r.extra = r.extra[:0]
	if err := r.walk(s, depth); err != nil {
		return err
	}
	if reason := r.fill(&r.page.Records[index], s.doc, start, s.pos); reason != "" {
		r.page.Unread = append(r.page.Unread, wire.Unread{Index: index, Reason: reason})
	}
	return nil
}

// walk reads the members of a row.
func (r *rowReader) walk(s *scanner, depth int) error {
	s.pos++
	done, err := s.empty('}')
	for i, more := 0, !done; more && err == nil; i++ {
		var m *member
		if m, err = r.member(s, i); err != nil {
			return err
		}
		var c byte
		if c, err = s.peek(); err != nil {
			return err
		}
		start := s.pos
		switch {
		case m.child == nil:
			err = s.skip(depth + 1)
		case len(m.child.children) == 0 && c != '{' && c != '[':
			err = s.leaf(m.child, r.found, c)
		default:
			m.child.forget(r.found)
			err = s.walk(m.child, r.found, depth+1)
		}
		if err != nil {
			return err
		}
		if m.child == nil || len(m.child.children) > 0 { // unknown, or known in part
			r.keep(span{m.name, start, s.pos})
		}
		if more, err = s.next('}'); err != nil {
			return err
		}
	}
	return err
}

// member reads the name of a row's i-th member, first looking for the one that the row before had there.
func (r *rowReader) member(s *scanner, i int) (*member, error) {
	if _, err := s.peek(); err == nil && i < len(r.members) {
		if m := &r.members[i]; m.quoted != "" && strings.HasPrefix(s.doc[s.pos:], m.quoted) {
			s.pos += len(m.quoted)
			return m, s.colon()
		}
	}
	start := s.pos
	name, err := s.member()
	if err != nil {
		return nil, err
	}
	m := member{name: strings.Clone(name), child: r.paths.root.child(name)}
	if quoted := `"` + m.name + `"`; strings.HasPrefix(s.doc[start:], quoted) {
		m.quoted = quoted
	}
	const most = 256 // a row of more members than that is none that comes again
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

// keep notes a member for Extra; of two of one name the last counts.
func (r *rowReader) keep(s span) {
	if i := slices.IndexFunc(r.extra, func(e span) bool { return e.name == s.name }); i >= 0 && len(r.extra) < 64 {
		r.extra[i] = s
		return
	}
	r.extra = append(r.extra, s)
}

// fill makes a record of what was found between start and end. Its strings share one copy of the row and nothing of the
// page. It returns why the row could not be read whole, or "".
func (r *rowReader) fill(to *wire.Record, doc string, start, end int) (reason string) {
	row := strings.Clone(doc[start:end])
	var taken [rowConcepts]bool
	for i, leaf := range r.paths.leaves {
		v := r.found[i]
		if v.kind == absent || v.kind == nothing {
			continue
		}
		if taken[leaf.concept] || !v.scalar() {
			r.keepLeaf(i, v)
			continue
		}
		word := row[v.at-start : v.at-start+len(v.raw)]
		if v.kind == escapedText {
			word = unquote(v.raw)
		}
		taken[leaf.concept] = true
		if !r.set(to, leaf.concept, word) {
			r.keepLeaf(i, v)
			if reason == "" {
				reason = nameOf(leaf.concept) + " is in no form that is known"
			}
		}
	}
	if len(r.extra) > 0 {
		to.Extra = r.extras(doc)
	}
	return reason
}

// keepLeaf puts into Extra what stands at a known name and could not serve: a second name for the same, or no scalar.
func (r *rowReader) keepLeaf(leaf int, v value) {
	for i, child := range r.paths.root.children {
		if len(child.children) == 0 && slices.Contains(child.leaves, leaf) {
			start, end := v.at, v.at+len(v.raw)
			if v.kind == text {
				start, end = start-1, end+1 // the quotes
			}
			r.keep(span{r.paths.root.names[i], start, end})
		}
	}
}

func (r *rowReader) extras(doc string) map[string]json.RawMessage {
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

// nameOf names in the contract's words what may be in no known form.
func nameOf(c concept) string {
	switch c {
	case rowParts:
		return "parts"
	case rowCreated:
		return "created"
	default:
		return "sent"
	}
}

// set puts a word where it belongs; false where it is no number or no time.
func (r *rowReader) set(to *wire.Record, c concept, word string) (ok bool) {
	ok = true
	switch c {
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
		to.CreatedAt, ok = contract.ParseTime(word, r.zone)
	case rowSent:
		to.SentAt, ok = contract.ParseTime(word, r.zone)
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
	case rowConcepts:
	}
	return ok
}
