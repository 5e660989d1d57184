package codec

import (
	"slices"

	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

const errNoRows = pageError("the response holds no list at any path of the contract (sms.list.items)")

// Page is one page of a listing. Number, Size, Total and TotalPages are 0 if the response does not say.
type Page struct {
	Transactions []sms.Transaction
	// Unreadable lists the rows that could not be read in full. They are in Transactions too, as far as they could be read.
	Unreadable []UnreadableError
	Excluded   map[int]bool // the indexes of rows that are not of this listing (sms.list.only)

	Number, Size, Total, TotalPages int

	Last bool          // no page follows, as far as the response says
	Next wire.Position // of the next page

	HiddenReason string // why a page without rows does not prove that there are none, or ""
	CutReason    string // why rows may follow the last page that cannot be requested, or ""
}

// UnreadableError is the error of a row that could not be read in full: its index in the page, the place of the value, and why, without the value.
// If several values could not be read, Place is one of theirs.
type UnreadableError struct {
	Index int
	*Place
	Reason          string
	ReferenceUnread bool // the row has a reference ID that could not be read, wherever Place is
}

// Place is where a value of a row should be.
type Place struct {
	Field string // of sms.Transaction, or "" for the whole row
	Path  string // in the row, or "" if the row has no value
}

// IsDoubtful reports whether the row proves nothing about a message: what names the message or says what became of it could not be read.
func (u UnreadableError) IsDoubtful() bool {
	return slices.Contains([]string{"", "ID", "To", "SendStatus", "DeliveryStatus"}, u.Field)
}

// IsReferenceKnown reports whether the reference ID was read: if the transaction has none, the row has none.
func (u UnreadableError) IsReferenceKnown() bool { return !u.IsDoubtful() && !u.ReferenceUnread }

// Error returns the field, the reason, and the path.
func (u UnreadableError) Error() string {
	text := u.Reason
	if u.Field != "" {
		text = u.Field + " " + text
	}
	if u.Path != "" {
		text += " (" + u.Path + ")"
	}
	return text
}

// Decode reads a page. The request was for a position, and for a number of rows, or 0 if it did not say. A response with an error code is a
// Failure and no page. Nothing that Decode returns refers to body. The transactions of the page overwrite those in reuse.
//
// A page has at most ten times the rows that were requested, and at most 100,000. Reading it allocates at most 128 MiB and 64
// times the size of body, most of which is free again at the end, and takes time in proportion to that size.
func (l *List) Decode(body []byte, at wire.Position, requested int, reuse []sms.Transaction) (Page, Failure, error) {
	page := Page{Transactions: reuse[:0]}
	rows := newRowReader(l.row, &page, requested)
	d, failure, err := l.decode(body, rows)
	if err != nil || failure.Code != "" {
		return Page{}, failure, err
	}
	page.Number = l.readNumber(&d, "number")
	page.Size = l.readNumber(&d, "size")
	page.Total = l.readNumber(&d, "total")
	page.TotalPages = l.readNumber(&d, "pages")
	evidence := l.evidenceOf(&page, &d, at, requested)
	if fault := evidence.fault(); fault != nil {
		return Page{}, Failure{}, fault
	}
	end := evidence.end()
	page.Last = end != notEnded
	page.HiddenReason = evidence.hiddenReason(end)
	page.CutReason = evidence.cutReason(end)
	page.Next, err = l.next(&evidence, end, rows.lastCursor)
	if err != nil {
		return Page{}, Failure{}, err
	}
	return page, Failure{}, nil
}

// decode reads a response whose HTTP status is a success, and its rows.
func (l *List) decode(body []byte, rows *rowReader) (document, Failure, error) {
	d, err := l.responses.parseRows(body, rows)
	if err == nil {
		err = rows.tooLong
	}
	if err != nil {
		failure, reason := l.unreadable(body, err)
		return d, failure, reason
	}
	failure, err := l.failure(&d)
	switch {
	case err != nil || failure.Code != "":
		return d, failure, err
	case rows.list < 0:
		return d, failure, errNoRows
	default:
		return d, failure, l.check(&d, rows.list)
	}
}

// word returns the first word at the paths of a concept that is not empty, or "".
func (l *List) word(d *document, concept string) string { return d.first(l.responses.slots[concept]) }

// readNumber returns the whole number of a concept, or 0.
func (l *List) readNumber(d *document, concept string) int {
	n, _ := wholeInt(l.word(d, concept))
	return n
}
