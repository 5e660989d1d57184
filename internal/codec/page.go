package codec

import (
	"reflect"
	"slices"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

const (
	errNoRows    = pageError("the response holds no list at any path of the contract (sms.list.items)")
	errElsewhere = pageError("the response links to a next page that is not at the base URL")
	errOtherPath = pageError("the response links to a next page at another path, where a POST could do more than list")
	errQuery     = pageError("the response links to a next page with a query that cannot be parsed")
	errOtherPage = pageError("the response is a later page than the first, which was requested (sms.list.paging, sms.list.page.number)")
	errNone      = pageError("the response says that there are rows, and lists none")
	errGap       = pageError("the page has no rows, and the response says that more follow (sms.list.page.hasNext; pages or total if they count other rows)")
	errNoNext    = pageError("the response says that another page follows, and has no cursor (sms.list.page.next)")
	errFull      = pageError("the page has as many rows as it can hold, and there is no next one to ask for (sms.list.paging)")
	errCut       = pageError("the response says that more rows follow, and has no cursor for them (sms.list.page.next; sms.list.page.total if it counts other rows)")
	errNoCursor  = pageError("the last row of the page has no cursor where the contract's paging looks for it (sms.list.page.next)")
)

// Page is one page of a listing. Number, Size, Total and TotalPages are 0 if the response does not say.
type Page struct {
	Transactions []sms.Transaction
	// Unreadable lists the rows that could not be read in full. They are in Transactions too, as far as they could be read.
	Unreadable []UnreadableError
	Excluded   map[int]bool // the indexes of rows that are not of this listing (sms.list.only)

	Number, Size, Total, TotalPages int

	Last    bool          // no page follows, as far as the response says
	Missing string        // why a page without rows does not prove that there are none, or ""
	Next    wire.Position // of the next page
	Full    string        // why rows may follow that cannot be asked for, or ""
}

// UnreadableError is the error of a row that could not be read in full: its index in the page, the field of sms.Transaction ("" for the whole
// row), and why, without the value.
type UnreadableError struct {
	Index  int
	Field  string
	Reason string
}

// IsDoubtful reports whether the row proves nothing of a message: what names the message or says what became of it could not be read.
func (u UnreadableError) IsDoubtful() bool {
	return slices.Contains([]string{"", "ID", "To", "SendStatus", "DeliveryStatus"}, u.Field)
}

// IsReferenceKnown reports whether the reference ID was read: if the transaction has none, the row has none. Fields are read in the order
// of sms.Transaction, and the row has the first problem unless a later one makes it doubtful.
func (u UnreadableError) IsReferenceKnown() bool {
	if u.IsDoubtful() {
		return false
	}
	transaction := reflect.TypeFor[sms.Transaction]()
	unreadable, isField := transaction.FieldByName(u.Field)
	reference, _ := transaction.FieldByName("ReferenceID")
	return isField && unreadable.Index[0] > reference.Index[0]
}

// Error returns the field and the reason.
func (u UnreadableError) Error() string {
	if u.Field == "" {
		return u.Reason
	}
	return u.Field + " " + u.Reason
}

// Decode reads the page that was requested at a position with so many rows, 0 if the request did not say. A response with an
// error code is a Failure and no page. Nothing that it returns refers to body; the transactions take the place of those in reuse.
//
// A page has at most ten times the rows that were requested, and at most 100,000. Reading it allocates at most 128 MiB and 64
// times the size of body, most of which is free again at the end, and takes time in proportion to that size.
func (l *List) Decode(body []byte, at wire.Position, rows int, reuse []sms.Transaction) (Page, Failure, error) {
	page := Page{Transactions: reuse[:0]}
	reader := newRowReader(l.row, &page, rows)
	d, failure, err := l.decode(body, reader, errNoRows)
	if err != nil || failure.Code != "" {
		return Page{}, failure, err
	}
	page.Number = l.readNumber(&d, "number")
	page.Size = l.readNumber(&d, "size")
	page.Total = l.readNumber(&d, "total")
	page.TotalPages = l.readNumber(&d, "pages")
	c := l.readCursor(&d)
	end := l.endOf(&page, at, c)
	page.Last = end != notEnded
	page.Missing = l.missing(&page, &d, c)
	if fault := l.fault(&page, &d, at, c); fault != nil {
		return Page{}, Failure{}, fault
	}
	page.Next, err = l.next(&page, at, c, reader.lastCursor)
	if err != nil {
		return Page{}, Failure{}, err
	}
	page.Full = l.full(&page, end, l.isFirst(at), rows)
	return page, Failure{}, nil
}

// word returns the first word at the paths of a concept that is not empty, or "".
func (l *List) word(d *document, concept string) string { return d.first(l.responses.slots[concept]) }

// readNumber returns the whole number of a concept, or 0.
func (l *List) readNumber(d *document, concept string) int {
	n, _ := wholeInt(l.word(d, concept))
	return n
}

// cursor is what a response says about the page after it.
type cursor struct {
	next    string // or ""
	more    bool   // the response says that more rows follow, by a flag or by a cursor
	hasFlag bool   // it says so by a flag
	isEnd   bool   // the response says that none follow
}

// readCursor reads the cursor, and whether more rows follow: a flag decides, or else a cursor or a null in its place.
func (l *List) readCursor(d *document) cursor {
	slots := l.responses.slots["next"]
	isFlag := func(slot int) bool { return d.values[slot].Kind == jsonscan.Boolean }
	next := d.first(slices.DeleteFunc(slices.Clone(slots), isFlag))
	hasNext := l.word(d, "hasNext")
	switch {
	case isTrue(hasNext):
		return cursor{next: next, more: true, hasFlag: true}
	case isFalse(hasNext):
		return cursor{next: next, isEnd: true}
	}
	isNull := func(slot int) bool { return d.values[slot].Kind == jsonscan.Null }
	isEnd := next == "" && slices.ContainsFunc(slots, isNull)
	return cursor{next: next, more: !table.IsPlaceholder(next), isEnd: isEnd}
}

func (l *List) isFirst(at wire.Position) bool {
	isStart := at.Rows == 0 && at.Cursor == "" && at.Link == ""
	return isStart && l.number(at) == l.op.Paging.First
}

// fault returns why a response is not the page that was requested, or nil.
func (l *List) fault(page *Page, d *document, at wire.Position, c cursor) error {
	isLater := l.op.Paging.By == "page" && page.Number > l.number(at)
	isFirst := l.isFirst(at)
	switch {
	case isFirst && l.hidesRows(page, d, c):
		return errNone
	case isFirst && isLater:
		return errOtherPage
	case !isFirst && l.leavesGap(page, at, c):
		return errGap
	default:
		return nil
	}
}

// leavesGap reports whether a page by number or by offset has no rows, although the response says that more rows follow it.
func (l *List) leavesGap(page *Page, at wire.Position, c cursor) bool {
	if len(page.Transactions) > 0 {
		return false
	}
	switch l.op.Paging.By {
	case "page": // some services count one page too many
		return c.hasFlag || l.pagesUpTo(page, at) < page.TotalPages
	case "offset":
		return c.hasFlag || rowsUpTo(page, at) < page.Total
	default:
		return false
	}
}

// hidesRows reports whether the response with a page says that there are rows, although the page has none and no cursor leads to them.
func (l *List) hidesRows(page *Page, d *document, c cursor) bool {
	isEmpty := len(page.Transactions) == 0
	leadsOn := l.op.Paging.By == "cursor" && c.more && c.next != ""
	claimsPages := l.word(d, "total") == "" && (c.more || page.TotalPages > 1)
	claimsRows := page.Total > 0 || claimsPages
	return isEmpty && !leadsOn && claimsRows
}

// missing returns why a page without rows does not prove that there are none, or "". It returns "" for a page with rows.
func (l *List) missing(page *Page, d *document, c cursor) string {
	slots := l.responses.slots
	isNoNumber := func(slot int) bool { return d.has(slot) && !isCount(d, slot) }
	isNoSuccess := func(slot int) bool { return slot != root && d.has(slot) && !l.isSuccessStatus(d.word(slot)) }
	switch {
	case len(page.Transactions) > 0:
		return ""
	case c.more && page.Last, page.Total > 0, page.TotalPages > 1:
		return string(errNone)
	case slices.ContainsFunc(slots["total"], isNoNumber), slices.ContainsFunc(slots["pages"], isNoNumber):
		return "the response lists no rows, and its total is no number (sms.list.page)"
	case slices.ContainsFunc(slots["status"], isNoSuccess):
		return "the response lists no rows, and has a status that is no word of the contract (sms.send.accepted, errors.success)"
	default:
		return ""
	}
}

// isCount reports whether the value at a slot is a whole number that is not negative.
func isCount(d *document, slot int) bool {
	v := d.values[slot]
	if !v.IsScalar() || v.Kind == jsonscan.Boolean {
		return false
	}
	n, ok := wholeNumber(d.word(slot))
	return ok && n >= 0
}

// isSuccessStatus reports whether the contract knows a word as that of a success.
func (l *List) isSuccessStatus(word string) bool {
	_, isSuccess := l.responses.meaning(word)
	return isSuccess || table.Match(l.responses.vocabulary.accepted, word, true) >= 0
}

// next returns the position of the next page. By number and by offset the last page has one too.
func (l *List) next(page *Page, at wire.Position, c cursor, lastRow string) (wire.Position, error) {
	switch l.op.Paging.By {
	case "page":
		return wire.Position{Set: true, Number: l.number(at) + 1}, nil
	case "offset":
		return wire.Position{Rows: rowsUpTo(page, at)}, nil
	case "cursor":
		return l.nextCursor(page, c, lastRow)
	default:
		return wire.Position{}, nil
	}
}

// nextCursor returns the cursor of the next page: that of the response, or that of its last row. The last page has none.
func (l *List) nextCursor(page *Page, c cursor, lastRow string) (wire.Position, error) {
	switch {
	case page.Last:
		return wire.Position{}, nil
	case c.next != "":
		return l.follow(c.next)
	case !l.hasRowCursor(page):
		return wire.Position{}, errNoNext
	case lastRow == "":
		return wire.Position{}, errNoCursor
	default:
		return wire.Position{Set: true, Cursor: lastRow}, nil
	}
}
