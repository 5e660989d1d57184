package codec

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/sms"
)

// column is a field of sms.Transaction, whose tag names a concept of sms.list.record.
type column struct {
	concept string
	name    string // of the field
	index   int    // of the field
	slots   []int
}

// rows is the compiled shape of a row.
type rows struct {
	paths    paths
	columns  []column
	cursor   []int            // slots of the cursor that stands in the last row
	only     map[int][]string // by slot, the words of the rows of this listing
	op       *table.List
	zone     *time.Location
	statuses map[string][]string
	words    words
}

func compileRows(t *table.Table, op *table.List, cursor []string, zone *time.Location) *rows {
	lists := maps.Clone(op.Record)
	lists[table.LastRow] = cursor
	r := &rows{paths: compilePaths(lists), op: op, zone: zone, statuses: t.WebhookDelivery.Statuses}
	r.words = compileWords(t, &t.Errors, t.SMSSend.Accepted, t.SMSSend.Refused)
	r.cursor = r.paths.slots[table.LastRow]
	r.only = map[int][]string{}
	for path, words := range op.Only {
		r.only[r.paths.Add(path)[0]] = words
	}
	for field := range reflect.TypeFor[sms.Transaction]().Fields() {
		if concept := field.Tag.Get("concept"); concept != "" {
			c := column{concept, field.Name, field.Index[0], r.paths.slots[concept]}
			r.columns = append(r.columns, c)
		}
	}
	return r
}

// rowReader reads the rows of one page.
type rowReader struct {
	*rows

	page       *Page
	list       int    // which list of the contract has the rows, -1 if there is none
	limit      int    // of rows
	err        error  // there are more rows
	began      int    // where the first row began
	lastCursor string // of the last row, "" if it has none
	meanings   map[string]contract.Status

	// Of the row that is being read:
	row     *sms.Transaction
	isOther bool // it is not of this listing
	found   []value
	used    []bool      // by slot, whether the value fills a field, or is null
	extra   []rowMember // members of which nothing is known, or only a part

	// Rows are alike, so the members of one are tried first in the next, and slots that none has filled are passed over.
	known   [64]*rowName
	touched []int   // slots in which something was found in any row
	filled  []int   // those of paths
	columns [][]int // by column, those of filled
}

// rowMember is a member that goes into Extra, and where its value stands.
type rowMember struct {
	*rowName

	start, end int
}

// rowName is the name of a member, and what is wanted of it.
type rowName struct {
	text    string
	written []byte // as it stands in the document, with the colon
	node    *jsonscan.Node
}

// maxRows is how many rows a page may have if the request did not say.
const maxRows = 100_000

func newRowReader(r *rows, page *Page, requested int) *rowReader {
	reader := &rowReader{rows: r, page: page, list: -1, limit: maxRows, meanings: map[string]contract.Status{}}
	reader.found = make([]value, r.paths.Size())
	reader.used = make([]bool, r.paths.Size())
	reader.columns = make([][]int, len(r.columns))
	if requested > 0 && requested < maxRows/10 {
		reader.limit = 10 * requested
	}
	return reader
}

// read reads a list of rows, in place of one that comes after it in the contract. It passes over one that comes after another.
func (r *rowReader) read(s *jsonscan.Walker, list int) {
	if r.list >= 0 && r.list < list {
		s.Skip()
		return
	}
	r.list, r.began, r.err = list, s.Pos+1, nil
	r.page.Transactions, r.page.Unreadable, r.page.Others = r.page.Transactions[:0], nil, map[int]bool{}
	outside := s.Repeats
	for more := s.Open(']'); more; more = s.Next(']') {
		r.readRow(s)
	}
	s.Repeats = outside
}

func (r *rowReader) readRow(s *jsonscan.Walker) {
	c := s.Peek()
	index := len(r.page.Transactions)
	switch index {
	case r.limit:
		r.err = pageError(fmt.Sprintf("the page has more than %d rows", r.limit))
		s.Skip()
		return
	case 1: // the length of the first row shows how many may follow
		rest := len(s.Doc) - s.Pos
		r.page.Transactions = slices.Grow(r.page.Transactions, min(rest/(s.Pos-r.began)+1, r.limit))
	}
	r.lastCursor = ""
	r.page.Transactions = append(r.page.Transactions, sms.Transaction{})
	r.row = &r.page.Transactions[index]
	if c == '{' {
		r.readMembers(s)
	} else {
		r.unreadable("", "is not an object")
		s.Skip()
	}
}

// unreadable reports the row, once: the first field, unless a later one is needed to tell whose message it is.
func (r *rowReader) unreadable(field, reason string) {
	row := Unreadable{Index: len(r.page.Transactions) - 1, Field: field, Reason: reason}
	n := len(r.page.Unreadable)
	if n == 0 || r.page.Unreadable[n-1].Index != row.Index {
		r.page.Unreadable = append(r.page.Unreadable, row)
	} else if row.IsDoubtful() && !r.page.Unreadable[n-1].IsDoubtful() {
		r.page.Unreadable[n-1] = row
	}
}

func (r *rowReader) readMembers(s *jsonscan.Walker) {
	for _, slot := range r.touched {
		r.found[slot] = value{}
		r.used[slot] = false
	}
	s.Repeats = false
	r.extra = r.extra[:0]
	isAlike := true // it has no members but those that were there before, and nothing is in them
	i := 0
	for more := s.Open('}'); more; more = s.Next('}') {
		name, isKnown := r.name(s, i)
		i++
		c := s.Peek()
		start := s.Pos
		n := name.node
		if n.IsWanted && c != '{' && c != '[' && r.found[n.Slot].Kind == jsonscan.Absent {
			isAlike = isAlike && isKnown
			r.found[n.Slot] = s.Scalar(c) // what Walk would do, for most members of most rows
			continue
		}
		isAlike = isAlike && n == jsonscan.Unknown
		if s.Walk(n, r.found); !n.IsLeaf() {
			r.extra = append(r.extra, rowMember{name, start, s.Pos})
		}
	}
	if s.Err() != nil {
		return
	}
	if !isAlike {
		r.learn()
	}
	r.fill(s.Doc)
	index := len(r.page.Transactions) - 1
	switch {
	case s.Repeats:
		r.unreadable("", "has a member of the contract twice")
	case r.isOther:
		r.page.Others[index] = true
		r.page.Unreadable = slices.DeleteFunc(r.page.Unreadable, func(row Unreadable) bool { return row.Index == index })
	}
}

// learn takes down which slots a row fills.
func (r *rowReader) learn() {
	for slot := range r.found {
		if r.found[slot].Kind == jsonscan.Absent || slices.Contains(r.touched, slot) {
			continue
		}
		r.touched = append(r.touched, slot)
		if slices.Contains(r.paths.Wanted(), slot) {
			r.filled = append(r.filled, slot)
		}
	}
	for i := range r.rows.columns {
		r.columns[i] = r.columns[i][:0]
		for _, slot := range r.rows.columns[i].slots {
			if slices.Contains(r.filled, slot) {
				r.columns[i] = append(r.columns[i], slot)
			}
		}
	}
}

// name reads the name of the i-th member of a row, and reports whether the row before had it there.
func (r *rowReader) name(s *jsonscan.Walker, i int) (name *rowName, isKnown bool) {
	s.Peek()
	if i < len(r.known) && r.known[i] != nil && bytes.HasPrefix(s.Doc[s.Pos:], r.known[i].written) {
		s.Pos += len(r.known[i].written)
		return r.known[i], true
	}
	start := s.Pos
	text := s.Name()
	n := &rowName{string(text), s.Doc[start:s.Pos], r.paths.Root.Child(text)}
	if i < len(r.known) {
		r.known[i] = n
	}
	return n, false
}

// fill makes a transaction of a row. Its strings share one copy of what was found. What cannot be read goes into Extra, and the
// first field of which nothing could be read is reported.
func (r *rowReader) fill(doc []byte) {
	all := jsonscan.Text(doc, r.found, r.filled)
	row := reflect.ValueOf(r.row).Elem()
	for _, slot := range r.cursor {
		if v := r.found[slot]; r.lastCursor == "" && v.Kind != jsonscan.Boolean {
			r.lastCursor = v.Word(all)
		}
	}
	left := len(r.cursor)+len(r.only) > 0 // whether anything of what was found may be left
	r.isOther = false
	for slot, words := range r.only {
		word := r.found[slot].Word(all)
		r.isOther = r.isOther || word != "" && table.Match(words, word, true) < 0
	}
	for i := range r.rows.columns {
		c := &r.rows.columns[i]
		reason, isLeft := r.fillColumn(c, r.columns[i], row, all)
		if left = left || isLeft; reason != "" {
			r.unreadable(c.name, reason)
		}
	}
	r.row.Status = r.status(r.row.DeliveryStatus)
	for _, m := range r.extra {
		if value := r.unused(doc[m.start:m.end], m.node); value != nil {
			r.keep(m.text, value)
		}
	}
	if left {
		r.keepUnused(all)
	}
}

// fillColumn sets a field of the row. It returns why it cannot be read, or "", and whether a value is left that fills no field.
func (r *rowReader) fillColumn(c *column, slots []int, row reflect.Value, all string) (reason string, left bool) {
	taken, isID := false, c.concept == "id"
	if isID && len(c.slots) > 0 {
		reason = "is missing"
	}
	for _, slot := range slots {
		v := &r.found[slot]
		switch {
		case v.Kind == jsonscan.Absent:
			continue
		case v.Kind == jsonscan.Null:
			r.used[slot] = true
			continue
		case taken:
		case isID && !r.words.isID(*v, v.Word(all)):
			reason = "is not an ID"
		case !v.IsScalar() || v.Kind == jsonscan.Boolean:
			reason = "is neither a text nor a number"
		default:
			taken = true
			if reason = r.set(c, row.Field(c.index).Addr().Interface(), v.Word(all)); reason == "" {
				r.used[slot] = true
				continue
			}
		}
		left = true
	}
	return reason, left
}

// unused returns a value without the members that fill a field, or nil if nothing else is in it.
func (r *rowReader) unused(value []byte, n *jsonscan.Node) json.RawMessage {
	members := jsonscan.Members(value)
	if members == nil || len(n.Children) == 0 {
		return bytes.Clone(value)
	}
	var left []member
	for _, m := range members {
		child := n.Child([]byte(m.Name))
		if child.IsLeaf() && r.used[child.Slot] {
			continue
		}
		if rest := r.unused(m.Value, child); rest != nil {
			left = append(left, member{name: m.Name, raw: rest})
		}
	}
	if len(left) == 0 && len(members) > 0 {
		return nil
	}
	return appendObject(nil, left)
}

// keepUnused puts into Extra what stands under known names and fills no field.
func (r *rowReader) keepUnused(all string) {
	for _, n := range r.paths.Root.Children {
		v := r.found[n.Slot]
		isNested := !n.IsLeaf() && !v.IsScalar() // see unused
		if !n.IsWanted || isNested || r.used[n.Slot] {
			continue
		}
		if v.Kind == jsonscan.String {
			r.keep(n.Name, json.RawMessage(`"`+all[v.Start:v.End]+`"`))
		} else if v.Kind != jsonscan.Absent {
			r.keep(n.Name, json.RawMessage(all[v.Start:v.End]))
		}
	}
}

// keep puts a member into Extra.
func (r *rowReader) keep(name string, value json.RawMessage) {
	if r.row.Extra == nil {
		r.row.Extra = map[string]json.RawMessage{}
	}
	r.row.Extra[name] = value
}

// set sets a field of the row. It returns why the word is no value of the field, or "".
func (r *rowReader) set(c *column, field any, word string) (reason string) {
	const unknown = "is in no known form"
	switch field := field.(type) {
	case *string:
		switch c.concept {
		case "price":
			amount, currency, ok := amountOf(word, r.op.Scale)
			if !ok {
				return "is no decimal number"
			}
			r.row.Currency, word = currency, amount
		case "currency":
			word = cmp.Or(word, r.row.Currency) // of the price, which comes before
		case "from", "to":
			word = table.Number(word)
		case "id":
			word = strings.TrimSpace(word)
		}
		*field = word
	case *int:
		n, ok := wholeInt(word)
		if !ok || n < 0 {
			return unknown
		}
		*field = n
	case *time.Time:
		at, ok := table.ParseTime(word, r.zone, r.op.Layouts...)
		if !ok {
			return unknown
		}
		*field = at
	}
	return ""
}

// Status returns the meaning of a delivery status.
func (l *List) Status(word string) contract.Status {
	meaning, _ := table.Meaning(l.rows.statuses, word, true)
	return contract.Status(meaning)
}

// status is Status for the rows of a page. A page has few different ones.
func (r *rowReader) status(word string) contract.Status {
	if word == "" {
		return contract.StatusUnknown
	}
	status, known := r.meanings[word]
	if !known {
		meaning, _ := table.Meaning(r.statuses, word, true)
		status = contract.Status(meaning)
		r.meanings[word] = status
	}
	return status
}

// HasFailed reports whether a row that has no meaningful delivery status holds an error, or an error code of a known class.
func (l *List) HasFailed(tx sms.Transaction) bool {
	if len(tx.Extra) == 0 || tx.Status != contract.StatusUnknown && tx.Status != contract.StatusQueued {
		return false
	}
	raw, _ := json.Marshal(tx.Extra) // it came from JSON
	read, err := l.failures.read(raw, nil)
	failure, doubt := l.failures.failure(read.text, read.found)
	return err != nil || failure.Class != "" || doubt == noneInError
}

// IsRefused reports whether a row says that the service did not take the message: its send status is a word of sms.send.refused, or
// means failed or rejected, and its delivery status says nothing more. A message whose delivery failed was taken. A number is no such
// word: the contract's numbers are those of a response and of delivery, and may mean something else in this column.
func (l *List) IsRefused(tx sms.Transaction) bool {
	if !strings.ContainsFunc(tx.SendStatus, unicode.IsLetter) || tx.Status != contract.StatusUnknown && tx.Status != contract.StatusQueued {
		return false
	}
	accepts := table.Match(l.rows.words.accepted, tx.SendStatus, true)
	meaning, match := table.Meaning(l.rows.statuses, tx.SendStatus, true)
	isFailure := meaning == string(contract.StatusFailed) || meaning == string(contract.StatusRejected)
	return table.Match(l.rows.words.refused, tx.SendStatus, true) > accepts || isFailure && match > accepts
}
