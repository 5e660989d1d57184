package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/sms"
)

// column is a field of sms.Transaction, whose tag names a concept of sms.list.record.
type column struct {
	name    string // of the field
	index   int
	slots   []int
	isID    bool
	isPrice bool
}

// rows is the compiled shape of a row.
type rows struct {
	paths    paths
	columns  []column // the ID comes first
	names    []string // by slot, of the members that are wanted as a whole
	cursor   []int    // slots of the cursor that stands in the last row
	kept     []bool   // by slot, what is only wanted for the cursor
	zone     *time.Location
	layouts  []string
	money    table.Money
	statuses map[string][]string
}

func compileRows(t *table.Table, op *table.List, cursor []string, zone *time.Location) *rows {
	lists := maps.Clone(op.Record)
	lists[table.LastRow] = cursor
	r := &rows{
		paths: compilePaths(lists, nil), zone: zone, layouts: op.Layouts, money: op.Money, statuses: t.WebhookDelivery.Statuses,
	}
	r.cursor = r.paths.places[table.LastRow]
	r.kept = make([]bool, r.paths.slots)
	for _, slot := range r.cursor {
		r.kept[slot] = true
	}
	transaction := reflect.TypeFor[sms.Transaction]()
	for i := range transaction.NumField() {
		field := transaction.Field(i)
		concept := field.Tag.Get("concept")
		if concept == "" {
			continue
		}
		c := column{field.Name, i, r.paths.places[concept], concept == "id", concept == "price"}
		for _, slot := range c.slots {
			r.kept[slot] = false
		}
		r.columns = append(r.columns, c)
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

	page       *Page
	limit      int // of rows
	place      int // where the rows stood, as in node.rows; 0 if there are none yet
	began      int // where the first row began
	found      []value
	members    [64]*rowMember // the first of the row before
	extra      []span         // of the row that is being read
	lastCursor string         // of the last row, "" if it has none
	meanings   map[string]sms.Status
}

// rowMember is a member of a row.
type rowMember struct {
	name   string
	quoted []byte // the name as it stood in the document; nil if it has escapes
	node   *node
	extra  bool // nothing is known about it, or only about a part
}

// span is a member that goes into Extra.
type span struct {
	name       string
	start, end int
}

// maxRows is how many rows a page may have if the request did not say.
const maxRows = 100_000

func newRowReader(r *rows, page *Page, requested int) *rowReader {
	reader := &rowReader{rows: r, page: page, limit: maxRows, found: make([]value, r.paths.slots), meanings: map[string]sms.Status{}}
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
	r.page.Transactions, r.page.Unreadable, r.lastCursor = r.page.Transactions[:0], r.page.Unreadable[:0], ""
}

func (r *rowReader) readRow(s *scanner, depth int) {
	c := s.peek()
	index := len(r.page.Transactions)
	switch index {
	case r.limit:
		s.fail(pageError(fmt.Sprintf("the page has more than %d rows", r.limit)))
		return
	case 1: // the length of the first row shows how many may follow
		rest := len(s.doc) - s.pos
		r.page.Transactions = slices.Grow(r.page.Transactions, min(rest/(s.pos-r.began)+1, r.limit))
	}
	r.page.Transactions = append(r.page.Transactions, sms.Transaction{})
	r.lastCursor = ""
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
		r.fill(&r.page.Transactions[index], s.doc, start, s.pos)
	}
}

// unreadable reports the last row, once.
func (r *rowReader) unreadable(field, reason string) {
	index := len(r.page.Transactions) - 1
	if n := len(r.page.Unreadable); n == 0 || r.page.Unreadable[n-1].Index != index {
		r.page.Unreadable = append(r.page.Unreadable, Unreadable{Index: index, Field: field, Reason: reason})
	}
}

func (r *rowReader) readMembers(s *scanner, depth int) {
	i := 0
	for more := s.open('}', depth); more; more = s.next('}') {
		m := r.member(s, i)
		i++
		c := s.peek()
		start := s.pos
		if c == '{' || c == '[' || m.node.slot == 0 || len(m.node.children) > 0 {
			s.walkChild(m.node, r.found, depth)
		} else {
			r.found[m.node.slot-1] = s.scalar(c) // what walkChild would do, for most members of most rows
		}
		if m.extra {
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
	n := r.paths.root.find(name)
	isExtra := n.slot == 0 || len(n.children) > 0 || r.kept[n.slot-1]
	m := &rowMember{name: string(name), quoted: quoted, node: n, extra: isExtra}
	if i < len(r.members) {
		r.members[i] = m
	}
	return m
}

// fill makes a transaction of the row between start and end. Its strings share one copy of the row. What cannot be read goes
// into Extra, and the first field of which nothing could be read is reported.
func (r *rowReader) fill(to *sms.Transaction, doc []byte, start, end int) {
	row := string(doc[start:end])
	fields := reflect.ValueOf(to).Elem()
	for i := range r.columns {
		c := &r.columns[i]
		reason, taken := "", false
		if c.isID && len(c.slots) > 0 {
			reason = "is missing"
		}
		for _, slot := range c.slots {
			v := r.found[slot]
			if v.kind <= null {
				continue
			}
			word := textOf(row, value{v.kind, v.start - start, v.end - start})
			switch {
			case taken:
			case c.isID && !isID(v, word):
				reason = "is not an ID"
			case !v.scalar() || v.kind == boolean:
				reason = "is neither a text nor a number"
			default:
				taken, reason = true, r.set(c, fields.Field(c.index), word)
				if reason == "" {
					continue
				}
			}
			r.keep(slot, v)
		}
		if reason != "" {
			r.unreadable(c.name, reason)
		}
	}
	to.Status = r.status(to.DeliveryStatus)
	for _, slot := range r.cursor {
		if v := r.found[slot]; r.lastCursor == "" && v.scalar() && v.kind != boolean {
			r.lastCursor = textOf(row, value{v.kind, v.start - start, v.end - start})
		}
	}
	if len(r.extra) > 0 {
		to.Extra = r.extras(doc)
	}
}

// set sets a field of a transaction. It returns why the word is no value of the field, or "".
func (r *rowReader) set(c *column, field reflect.Value, word string) (reason string) {
	const unknown = "is in no known form"
	switch field.Kind() {
	case reflect.String:
		if c.isPrice {
			amount, ok := scaled(word, r.money)
			if !ok {
				return "is no decimal number, and the contract's scale is for those"
			}
			word = amount
		}
		field.SetString(word)
	case reflect.Int:
		n, ok := wholeNumber(word)
		if !ok || n < 0 {
			return unknown
		}
		field.SetInt(int64(n))
	default:
		at, ok := table.ParseTime(word, r.zone, r.layouts...)
		if !ok {
			return unknown
		}
		*field.Addr().Interface().(*time.Time) = at
	}
	return ""
}

// status returns the meaning of a delivery status. A page has few different ones.
func (r *rowReader) status(word string) sms.Status {
	if word == "" {
		return sms.StatusUnknown
	}
	status, known := r.meanings[word]
	if !known {
		meaning, _ := table.Meaning(r.statuses, word, true)
		status = sms.Status(meaning)
		r.meanings[word] = status
	}
	return status
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
