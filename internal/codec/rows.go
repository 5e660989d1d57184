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

// rows is the compiled form of a row.
type rows struct {
	paths      paths
	columns    []column
	cursor     []int            // slots of the cursor in the last row
	only       map[int][]string // by slot, the words of the rows of this listing
	errors     responses        // what an error in a row says; it has no paths of its own
	op         *table.List
	zone       *time.Location
	statuses   map[string][]string
	vocabulary vocabulary
}

func compileRows(t *table.Table, op *table.List, cursor []string, zone *time.Location) *rows {
	lists := maps.Clone(op.Record)
	lists[table.LastRow] = cursor
	r := &rows{
		paths: compilePaths(lists), only: map[int][]string{}, op: op, zone: zone, statuses: t.WebhookDelivery.Statuses,
		vocabulary: compileVocabulary(t, t.SMSSend.Accepted, t.SMSSend.Refused),
	}
	r.cursor = r.paths.slots[table.LastRow]
	for field := range reflect.TypeFor[sms.Transaction]().Fields() {
		if concept := field.Tag.Get("concept"); concept != "" {
			c := column{concept: concept, name: field.Name, index: field.Index[0], slots: r.paths.slots[concept]}
			r.columns = append(r.columns, c)
		}
	}
	r.addErrors(&t.Errors, lists)
	for path, words := range op.Only {
		r.only[r.paths.Add(path)[0]] = words
	}
	return r
}

// addErrors adds the places of error codes that no column reads.
func (r *rows) addErrors(errors *table.Errors, lists map[string][]string) {
	r.errors.errors = errors
	r.errors.vocabulary = r.vocabulary
	r.errors.nameKinds = kindsOfNames(nil, errors)
	isRead := map[string]bool{"": true}
	for _, list := range lists {
		addAll(isRead, list)
	}
	for _, path := range errors.Code {
		if isRead[path] {
			continue
		}
		object := cmp.Or(parentOf(path), path)
		if isRead[object] {
			object = path
		}
		r.errors.codes = append(r.errors.codes, code{slot: r.paths.Add(path)[0], object: r.paths.Add(object)[0]})
	}
}

// rowReader reads the rows of one page.
type rowReader struct {
	*rows

	page       *Page
	list       int    // which list of the contract has the rows, or -1
	limit      int    // of rows
	err        error  // there are more rows
	start      int    // the position of the first row
	lastCursor string // of the last row, "" if it has none
	meanings   map[string]contract.Status

	// The current row:
	row    sms.Transaction
	fields []any       // by column, a pointer to the field of row
	found  []value     // by slot
	used   []bool      // by slot, whether the value fills a field, or is null
	extra  []rowMember // members that the contract does not read, or only in part

	// What earlier rows had. Rows are alike, so each row tries the names of the row before it, and skips the slots that no row has filled.
	names        [64]*rowName // by the index of the member
	touched      []int        // slots of all values
	filled       []int        // slots of values at the end of a path
	columnSlots  [][]int      // by column, those of filled
	hasUnclaimed bool         // filled has slots of no column
}

// rowMember is a member that goes into Extra, and the position of its value.
type rowMember struct {
	*rowName

	start, end int
}

// rowName is the name of a member, and what the contract reads there.
type rowName struct {
	text    string
	written []byte // as it is in the document, with the colon
	node    *jsonscan.Node
	kind    nameKind // if the contract does not read the member
}

// maxRows is how many rows a page may have if the request did not say.
const maxRows = 100_000

func newRowReader(r *rows, page *Page, requested int) *rowReader {
	reader := &rowReader{rows: r, page: page, list: -1, limit: maxRows, meanings: map[string]contract.Status{}}
	reader.found = make([]value, r.paths.Size())
	reader.used = make([]bool, r.paths.Size())
	reader.columnSlots = make([][]int, len(r.columns))
	row := reflect.ValueOf(&reader.row).Elem()
	for _, c := range r.columns {
		reader.fields = append(reader.fields, row.Field(c.index).Addr().Interface())
	}
	if requested > 0 && requested < maxRows/10 {
		reader.limit = 10 * requested
	}
	return reader
}

// read reads a list of rows. If a response has several lists, the one that comes first in the contract counts.
func (r *rowReader) read(s *jsonscan.Walker, list int) {
	if r.list >= 0 && r.list < list {
		s.Skip()
		return
	}
	r.list = list
	r.start = s.Pos + 1
	r.err = nil
	r.page.Transactions = r.page.Transactions[:0]
	r.page.Unreadable = nil
	r.page.Excluded = map[int]bool{}
	hadDuplicate := s.Repeats
	for more := s.Open(']'); more; more = s.Next(']') {
		r.readRow(s)
	}
	s.Repeats = hadDuplicate
}

func (r *rowReader) readRow(s *jsonscan.Walker) {
	c := s.Peek()
	index := len(r.page.Transactions)
	if index == r.limit {
		r.err = pageError(fmt.Sprintf("the page has more than %d rows", r.limit))
		s.Skip()
		return
	}
	if index == 1 { // the length of the first row shows how many may follow
		length := s.Pos - r.start
		rest := len(s.Doc) - s.Pos
		r.page.Transactions = slices.Grow(r.page.Transactions, min(rest/length+1, r.limit))
	}
	r.lastCursor = ""
	r.row = sms.Transaction{}
	if c == '{' {
		r.readMembers(s, index)
	} else {
		r.unreadable("", "is not an object")
		s.Skip()
	}
	r.page.Transactions = append(r.page.Transactions, r.row)
}

// unreadable reports the row, once: its first unreadable field, or the first one that identifies the message or says what became of it.
func (r *rowReader) unreadable(field, reason string) {
	row := Unreadable{Index: len(r.page.Transactions), Field: field, Reason: reason}
	last := len(r.page.Unreadable) - 1
	if last < 0 || r.page.Unreadable[last].Index != row.Index {
		r.page.Unreadable = append(r.page.Unreadable, row)
	} else if row.IsDoubtful() && !r.page.Unreadable[last].IsDoubtful() {
		r.page.Unreadable[last] = row
	}
}

// readMembers reads the members of the row at an index of the page.
func (r *rowReader) readMembers(s *jsonscan.Walker, index int) {
	for _, slot := range r.touched {
		r.found[slot] = value{}
		r.used[slot] = false
	}
	s.Repeats = false
	r.extra = r.extra[:0]
	hasNewSlots := false
	member := 0
	for more := s.Open('}'); more; more = s.Next('}') {
		isNew := r.readMember(s, member)
		hasNewSlots = hasNewSlots || isNew
		member++
	}
	if s.Err() != nil {
		return
	}
	if hasNewSlots {
		r.recordSlots()
	}
	all := jsonscan.Text(s.Doc, r.found, r.filled) // all strings of the row share one copy
	r.fill(s.Doc, all)
	switch {
	case s.Repeats:
		r.unreadable("", "has a member of the contract twice")
	case r.isExcluded(all):
		r.page.Excluded[index] = true
		r.page.Unreadable = withoutRow(r.page.Unreadable, index)
	}
	r.row.ErrorCode = r.errorCode(s.Doc, all)
}

// withoutRow returns rows without the last one, if that has the index.
func withoutRow(rows []Unreadable, index int) []Unreadable {
	last := len(rows) - 1
	if last >= 0 && rows[last].Index == index {
		return rows[:last]
	}
	return rows
}

// readMember reads the i-th member of a row. It reports whether it may have filled slots that no earlier row has.
func (r *rowReader) readMember(s *jsonscan.Walker, i int) (isNew bool) {
	name, isKnown := r.readName(s, i)
	c := s.Peek()
	start := s.Pos
	n := name.node
	isScalar := c != '{' && c != '['
	if n.IsWanted && isScalar && r.found[n.Slot].Kind == jsonscan.Absent {
		r.found[n.Slot] = s.Scalar(c) // as Walk would, for most members of most rows
		return !isKnown
	}
	s.Walk(n, r.found)
	if !n.IsLeaf() {
		r.extra = append(r.extra, rowMember{name, start, s.Pos})
	}
	return n != jsonscan.Unknown
}

// readName reads the name of the i-th member of a row, and reports whether an earlier row had it there.
func (r *rowReader) readName(s *jsonscan.Walker, i int) (name *rowName, isKnown bool) {
	s.Peek()
	if i < len(r.names) && r.names[i] != nil && bytes.HasPrefix(s.Doc[s.Pos:], r.names[i].written) {
		s.Pos += len(r.names[i].written)
		return r.names[i], true
	}
	start := s.Pos
	text := s.Name()
	name = &rowName{text: string(text), written: s.Doc[start:s.Pos], node: r.paths.Root.Child(text)}
	if name.node == jsonscan.Unknown {
		name.kind = kindOf(text)
	}
	if i < len(r.names) {
		r.names[i] = name
	}
	return name, false
}

// recordSlots adds the slots that the current row fills to those of the rows before it.
func (r *rowReader) recordSlots() {
	wanted := r.paths.Wanted()
	for slot := range r.found {
		if r.found[slot].Kind == jsonscan.Absent || slices.Contains(r.touched, slot) {
			continue
		}
		r.touched = append(r.touched, slot)
		if slices.Contains(wanted, slot) {
			r.filled = append(r.filled, slot)
		}
	}
	claimed := 0
	for i := range r.columns {
		r.columnSlots[i] = r.columnSlots[i][:0]
		for _, slot := range r.columns[i].slots {
			if slices.Contains(r.filled, slot) {
				r.columnSlots[i] = append(r.columnSlots[i], slot)
				claimed++
			}
		}
	}
	r.hasUnclaimed = claimed < len(r.filled)
}

// fill makes a transaction of a row. Unreadable values go into Extra, and the first unreadable field is reported.
func (r *rowReader) fill(doc []byte, all string) {
	for _, slot := range r.cursor {
		if v := r.found[slot]; r.lastCursor == "" && v.Kind != jsonscan.Boolean {
			r.lastCursor = v.Word(all)
		}
	}
	hasUnused := r.hasUnclaimed
	for i := range r.columns {
		reason, isUnused := r.fillColumn(i, all)
		hasUnused = hasUnused || isUnused
		if reason != "" {
			r.unreadable(r.columns[i].name, reason)
		}
	}
	r.row.Status = r.status(r.row.DeliveryStatus)
	for _, m := range r.extra {
		if value := r.unused(doc[m.start:m.end], m.node); value != nil {
			r.keep(m.text, value)
		}
	}
	if hasUnused {
		r.keepUnused(all)
	}
}

// isExcluded reports whether the row is not of this listing.
func (r *rowReader) isExcluded(all string) bool {
	for slot, words := range r.only {
		word := r.found[slot].Word(all)
		if word != "" && table.Match(words, word, true) < 0 {
			return true
		}
	}
	return false
}

// noCode takes the place of the code of an error that has neither a code nor a text of its own.
const noCode = "an error without a code"

// errorCode returns what sms.Transaction.ErrorCode holds: a code of a known class, or the text of an error without a code. It is "" if the
// delivery status is meaningful, since the service has then taken the message. The places of the contract come first.
func (r *rowReader) errorCode(doc []byte, all string) string {
	if r.row.Status != contract.StatusUnknown && r.row.Status != contract.StatusQueued {
		return ""
	}
	d := document{text: all, values: r.found}
	code, isError := r.errors.firstCode(&d)
	if isError {
		class, _ := r.errors.meaning(code)
		if class == "" {
			return ""
		}
		return code
	}
	if r.errors.errorWithoutCode(&d) == missingCode {
		return cmp.Or(r.errors.errorText(&d), noCode)
	}
	for _, m := range r.extra {
		value := doc[m.start:m.end]
		if m.node == jsonscan.Unknown && r.errors.reportsError(m.kind, value) {
			return errorIn(value)
		}
	}
	return ""
}

// reportsError reports whether a value reports an error by the kind of its name, as in the response to a send.
func (r *responses) reportsError(kind nameKind, value []byte) bool {
	kind &= kindFailure | kindSuccess | kindCode
	if kind == 0 {
		return false
	}
	s := scan{responses: r, text: string(value), scanner: jsonscan.Scanner{Doc: value}}
	s.value(kind, &object{})
	return s.failure != ""
}

// errorIn returns the code or the text of an error in a row.
func errorIn(value []byte) string {
	code, message := Said(value)
	word, _ := jsonscan.Word(value)
	if isTrue(word) || isFalse(word) {
		word = ""
	}
	return cmp.Or(word, code, message, noCode)
}

// fillColumn sets the field of a column. It returns why the field cannot be read, or "", and whether a value fills no field.
func (r *rowReader) fillColumn(column int, all string) (reason string, isUnused bool) {
	c := &r.columns[column]
	isSet := false
	isID := c.concept == "id"
	if isID && len(c.slots) > 0 {
		reason = "is missing"
	}
	for _, slot := range r.columnSlots[column] {
		v := &r.found[slot]
		switch {
		case v.Kind == jsonscan.Absent:
			continue
		case v.Kind == jsonscan.Null:
			r.used[slot] = true
			continue
		case isSet:
		case isID && !r.vocabulary.isID(*v, v.Word(all)):
			reason = "is not an ID"
		case !v.IsScalar() || v.Kind == jsonscan.Boolean:
			reason = "is neither a text nor a number"
		default:
			isSet = true
			reason = r.set(c.concept, r.fields[column], v.Word(all))
			r.used[slot] = reason == ""
		}
		isUnused = isUnused || !r.used[slot]
	}
	return reason, isUnused
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

// keepUnused puts into Extra the values under known names that fill no field.
func (r *rowReader) keepUnused(all string) {
	for _, n := range r.paths.Root.Children {
		v := r.found[n.Slot]
		isNested := !n.IsLeaf() && v.Kind >= jsonscan.Object // see unused
		if !n.IsWanted || isNested || r.used[n.Slot] {
			continue
		}
		switch v.Kind {
		case jsonscan.Absent:
		case jsonscan.String:
			r.keep(n.Name, json.RawMessage(`"`+all[v.Start:v.End]+`"`))
		default:
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
func (r *rowReader) set(concept string, field any, word string) (reason string) {
	const unknown = "is in no known form"
	switch field := field.(type) {
	case *string:
		return r.setText(concept, field, word)
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

func (r *rowReader) setText(concept string, field *string, word string) (reason string) {
	switch concept {
	case "price":
		amount, currency, ok := amountOf(word, r.op.Scale)
		if !ok {
			return "is no decimal number"
		}
		r.row.Currency = currency
		word = amount
	case "currency":
		word = cmp.Or(word, r.row.Currency) // of the price, which comes first
	case "from", "to":
		word = table.Number(word)
	case "id":
		word = strings.TrimSpace(word)
	}
	*field = word
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

// IsRefused reports whether a row says that the service did not take the message: its send status is a word of sms.send.refused, or means
// failed or rejected, and its delivery status says nothing more. If the delivery failed, the service took the message. A number in the send
// status does not count: the contract's numbers are those of responses and of delivery statuses, and may mean something else there. A duplicate
// does not count either, because the service may have taken the message that it repeats.
func (l *List) IsRefused(tx sms.Transaction) bool {
	class, _ := l.rows.errors.meaning(tx.ErrorCode)
	if class == "duplicate" {
		return false
	}
	isWord := strings.ContainsFunc(tx.SendStatus, unicode.IsLetter)
	isOpen := tx.Status == contract.StatusUnknown || tx.Status == contract.StatusQueued
	if !isWord || !isOpen {
		return false
	}
	accepted := table.Match(l.rows.vocabulary.accepted, tx.SendStatus, true)
	refused := table.Match(l.rows.vocabulary.refused, tx.SendStatus, true)
	meaning, match := table.Meaning(l.rows.statuses, tx.SendStatus, true)
	isFailure := meaning == string(contract.StatusFailed) || meaning == string(contract.StatusRejected)
	return refused > accepted || isFailure && match > accepted
}
