package codec

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/sms"
)

// currentRow is the row that is being read. The next row takes its place, and reuses its memory.
type currentRow struct {
	format      *rowFormat
	transaction sms.Transaction
	fields      []any // by column, a pointer to the field of transaction

	doc     []byte      // the whole response
	members []rowMember // without repeated members at the paths of the contract
	values  []value     // by slot; until copyText they refer to doc
	present []int       // the slots of the paths that have a value
	text    string      // a copy of these values, to which they refer after copyText
	used    []bool      // by slot, whether Extra leaves the value out: it fills a field, or is null or blank; see fillField

	hasDuplicate bool            // a member of the contract comes twice
	problem      UnreadableError // why the row could not be read in full; its Reason is "" if it could
}

// rowMember is a member of the row, and where in the document its value is.
type rowMember struct {
	*memberName

	start, end int
}

func (r *currentRow) init(format *rowFormat) {
	r.format = format
	r.values = make([]value, format.paths.Size())
	r.used = make([]bool, format.paths.Size())
	fields := reflect.ValueOf(&r.transaction).Elem()
	for _, c := range format.columns {
		r.fields = append(r.fields, fields.Field(c.index).Addr().Interface())
	}
}

// read reads the next row.
func (r *currentRow) read(s *jsonscan.Walker, cache *rowCache) {
	r.reset()
	if s.Peek() != '{' {
		r.report(UnreadableError{Place: &r.format.wholeRow, Reason: "is not an object"})
		s.Skip()
		return
	}
	r.readMembers(s, cache)
	if s.Err() != nil {
		return
	}
	r.copyText()
	r.fillFields()
	if r.hasDuplicate {
		r.report(UnreadableError{Place: &r.format.wholeRow, Reason: "has a member of the contract twice"})
	}
	r.transaction.Status = cache.status(r.transaction.DeliveryStatus, r.format)
	r.transaction.ErrorCode = r.errorCode()
	r.keepExtra()
}

func (r *currentRow) reset() {
	r.transaction = sms.Transaction{}
	r.members = r.members[:0]
	clear(r.values)
	r.present = r.present[:0]
	clear(r.used)
	r.hasDuplicate = false
	r.problem = UnreadableError{}
}

// report records why the row cannot be read in full. The first unreadable field counts, or the first one that makes the row doubtful (see
// UnreadableError.IsDoubtful).
func (r *currentRow) report(problem UnreadableError) {
	isReferenceUnread := r.problem.ReferenceUnread || problem.Field == "ReferenceID"
	isFirst := r.problem.Reason == ""
	if isFirst || problem.IsDoubtful() && !r.problem.IsDoubtful() {
		r.problem = problem
	}
	r.problem.ReferenceUnread = isReferenceUnread
}

func (r *currentRow) readMembers(s *jsonscan.Walker, cache *rowCache) {
	r.doc = s.Doc
	s.Repeats = false
	i := 0
	for more := s.Open('}'); more; more = s.Next('}') {
		r.readMember(s, cache.readName(s, i, r.format))
		i++
	}
	r.hasDuplicate = s.Repeats
}

func (r *currentRow) readMember(s *jsonscan.Walker, name *memberName) {
	c := s.Peek()
	start := s.Pos
	n := name.node
	isScalar := c != '{' && c != '['
	isFirst := r.values[n.Slot].Kind == jsonscan.Absent
	if n.IsWanted && isScalar && isFirst {
		r.values[n.Slot] = s.Scalar(c) // what Walk does, but faster; most members are such scalars
	} else {
		s.Walk(n, r.values)
	}
	if isFirst || !n.IsWanted { // the first of several values at a path counts
		r.members = append(r.members, rowMember{memberName: name, start: start, end: s.Pos})
	}
}

// copyText copies the values, so that the row does not keep the document in memory. All strings of the row share one copy.
func (r *currentRow) copyText() {
	for _, slot := range r.format.paths.Wanted() {
		if r.values[slot].Kind != jsonscan.Absent {
			r.present = append(r.present, slot)
		}
	}
	r.text = jsonscan.Text(r.doc, r.values, r.present)
}

// word returns the text, the number or the boolean at a slot as it is written, or "".
func (r *currentRow) word(slot int) string { return r.values[slot].Word(r.text) }

// cursor returns the cursor of the page that begins after this row, or "".
func (r *currentRow) cursor() string {
	for _, slot := range r.format.cursor {
		word := r.word(slot)
		if word != "" && r.values[slot].Kind != jsonscan.Boolean {
			return word
		}
	}
	return ""
}

// isExcluded reports whether the row is not of this listing (sms.list.only). A row with a duplicate member is not excluded: the duplicate may be
// the member that decides.
func (r *currentRow) isExcluded() bool {
	if r.hasDuplicate {
		return false
	}
	for slot, words := range r.format.only {
		word := r.word(slot)
		if word != "" && table.Match(words, word, true) < 0 {
			return true
		}
	}
	return false
}

// fillFields sets the fields of the transaction.
func (r *currentRow) fillFields() {
	for i := range r.format.columns {
		c := &r.format.columns[i]
		if reason := r.fillField(c, r.fields[i]); reason != "" {
			r.report(UnreadableError{Place: r.unreadPlace(c), Reason: reason})
		}
	}
}

// unreadPlace returns the place of a value of a column that cannot be read.
func (r *currentRow) unreadPlace(c *column) *Place {
	i := slices.IndexFunc(c.slots, func(slot int) bool { return r.isUsable(c, slot) })
	if i < 0 {
		i = slices.IndexFunc(c.slots, func(slot int) bool { return r.isPresent(slot) && !r.used[slot] })
	}
	place := &Place{Field: c.name}
	if i >= 0 {
		place.Path = c.paths[i]
	}
	return place
}

// fillField sets the field of a column to the first of its usable values or, if all are absent, null or blank, to the first blank one. It
// returns why the field cannot be read, or "".
//
// It marks values as used in this order: null ones, blank ones, and the one that the field is set to, which loses its mark if the field cannot
// have it. Then unreadPlace reads the marks, and after the last column keepExtra.
func (r *currentRow) fillField(c *column, field any) (reason string) {
	r.useNulls(c)
	usable := slices.IndexFunc(c.slots, func(slot int) bool { return r.isUsable(c, slot) })
	if usable >= 0 {
		r.useBlanks(c, c.slots[:usable])
		return r.fillFrom(c.slots[usable], c, field)
	}
	r.useBlanks(c, c.slots)
	if reason := r.unusableReason(c); reason != "" {
		return reason
	}
	blank := slices.IndexFunc(c.slots, r.isBlank)
	if blank < 0 {
		return ""
	}
	return r.fillFrom(c.slots[blank], c, field)
}

// fillFrom sets the field of a column to the value at a slot, and marks the value as used unless the field cannot have it.
func (r *currentRow) fillFrom(slot int, c *column, field any) (reason string) {
	reason = r.setField(c.concept, field, r.word(slot))
	r.used[slot] = reason == ""
	return reason
}

// useNulls marks the null values of a column as used: they say no more than the zero value of the field.
func (r *currentRow) useNulls(c *column) {
	for _, slot := range c.slots {
		if r.values[slot].Kind == jsonscan.Null {
			r.used[slot] = true
		}
	}
}

// useBlanks marks the blank values at some slots of a column as used: they say no more than null. An ID must not be blank.
func (r *currentRow) useBlanks(c *column, slots []int) {
	if c.isID {
		return
	}
	for _, slot := range slots {
		if r.isBlank(slot) {
			r.used[slot] = true
		}
	}
}

// isUsable reports whether a value of a column is of the right kind and not blank.
func (r *currentRow) isUsable(c *column, slot int) bool {
	if c.isID {
		return r.format.vocabulary.isID(r.values[slot], r.word(slot))
	}
	return r.isText(slot) && !r.isBlank(slot)
}

// isText reports whether a value is a text or a number.
func (r *currentRow) isText(slot int) bool {
	v := r.values[slot]
	return v.IsScalar() && v.Kind != jsonscan.Boolean
}

// isBlank reports whether a value is a text of white space or an empty one.
func (r *currentRow) isBlank(slot int) bool {
	return r.isText(slot) && strings.TrimSpace(r.word(slot)) == ""
}

// unusableReason returns why no value of a column is usable, or "" if the field may be absent or blank.
func (r *currentRow) unusableReason(c *column) string {
	if c.isID {
		return r.idProblem(c)
	}
	return r.textProblem(c)
}

// idProblem returns why no value of a column of IDs is an ID. A column without a name in the contract has no problem.
func (r *currentRow) idProblem(c *column) string {
	isState := func(slot int) bool {
		return r.isText(slot) && r.format.vocabulary.isState(strings.TrimSpace(r.word(slot)))
	}
	switch {
	case len(c.slots) == 0:
		return ""
	case slices.ContainsFunc(c.slots, isState):
		return "is not an ID, but a status or an error code of the contract"
	case slices.ContainsFunc(c.slots, r.isPresent):
		return "is not an ID"
	default:
		return "is missing"
	}
}

// textProblem returns why no value of another column is usable: one is an object, a list or a boolean.
func (r *currentRow) textProblem(c *column) string {
	isForeign := func(slot int) bool { return r.isPresent(slot) && !r.isText(slot) }
	if slices.ContainsFunc(c.slots, isForeign) {
		return "is neither a text nor a number"
	}
	return ""
}

// isPresent reports whether a value is neither absent nor null.
func (r *currentRow) isPresent(slot int) bool { return r.values[slot].Kind > jsonscan.Null }

// setField sets a field of the transaction to a word. It returns why the word is no value of the field, or "".
func (r *currentRow) setField(concept string, field any, word string) (reason string) {
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
		at, ok := table.ParseTime(word, r.format.zone, r.format.op.Layouts...)
		if !ok {
			return unknown
		}
		*field = at
	}
	return ""
}

func (r *currentRow) setText(concept string, field *string, word string) (reason string) {
	switch concept {
	case "price":
		amount, currency, ok := amountOf(word, r.format.op.Scale)
		if !ok {
			return "is no decimal number"
		}
		r.transaction.Currency = currency
		word = amount
	case "currency":
		if strings.TrimSpace(word) == "" {
			return "" // the currency in the price stays, which is read first
		}
	case "from", "to":
		word = table.Number(word)
	case "id":
		word = strings.TrimSpace(word)
	}
	*field = word
	return ""
}
