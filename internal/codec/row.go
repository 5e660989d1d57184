package codec

import (
	"reflect"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/sms"
)

// currentRow is the row that is being read. The next row takes its place, and reuses its memory.
type currentRow struct {
	format      *rowFormat
	transaction sms.Transaction
	fields      []any // by column, a pointer to the field of transaction

	// document is the whole response, with the values of this row alone. Until copyText the values refer to raw, and afterwards to text.
	document

	members    []rowMember     // without repeated members at the paths of the contract
	extraSkips []bool          // by slot, whether Extra skips the value: it fills a field, or says no more than an absent one
	problem    UnreadableError // why the row could not be read in full; its Reason is "" if it could

	copied []int // the memory of copyText
}

// rowMember is a member of the row, and where in the document its value is.
type rowMember struct {
	*memberName

	start, end int
}

func (r *currentRow) init(format *rowFormat) {
	r.format = format
	r.values = make([]value, format.paths.Size())
	r.extraSkips = make([]bool, format.paths.Size())
	fields := reflect.ValueOf(&r.transaction).Elem()
	for _, c := range format.columns {
		r.fields = append(r.fields, fields.Field(c.index).Addr().Interface())
	}
}

// read reads the next row. The order of its steps matters: the status follows from a field, the error code from the status, and Extra from which
// values fill fields.
func (r *currentRow) read(w *jsonscan.Walker, cache *rowCache) {
	r.reset()
	if w.Peek() != '{' {
		r.report(UnreadableError{Place: &r.format.wholeRow, Reason: "is not an object"})
		w.Skip()
		return
	}
	r.readMembers(w, cache)
	if w.Err() != nil {
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
	clear(r.extraSkips)
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

func (r *currentRow) readMembers(w *jsonscan.Walker, cache *rowCache) {
	r.raw = w.Doc
	w.Repeats = false
	i := 0
	for more := w.Open('}'); more; more = w.Next('}') {
		r.readMember(w, cache.readName(w, i, r.format))
		i++
	}
	r.hasDuplicate = w.Repeats
}

func (r *currentRow) readMember(w *jsonscan.Walker, name *memberName) {
	c := w.Peek()
	start := w.Pos
	n := name.node
	isScalar := c != '{' && c != '['
	isFirst := r.values[n.Slot].Kind == jsonscan.Absent
	if n.IsWanted && isScalar && isFirst {
		r.values[n.Slot] = w.Scalar(c) // what Walk does, but faster; most members are such scalars
	} else {
		w.Walk(n, r.values)
	}
	if isFirst || !n.IsWanted { // the first of several values at a path counts
		r.members = append(r.members, rowMember{memberName: name, start: start, end: w.Pos})
	}
}

// copyText copies the values, so that the row does not keep the document in memory. All strings of the row share one copy.
func (r *currentRow) copyText() {
	r.copied = r.copied[:0]
	for _, slot := range r.format.paths.Wanted() {
		if r.values[slot].Kind != jsonscan.Absent {
			r.copied = append(r.copied, slot)
		}
	}
	r.text = jsonscan.Text(r.raw, r.values, r.copied)
}

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
