package codec

import (
	"slices"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// Why a page without rows does not prove that there are none (see Page.HiddenReason).
const (
	hiddenRows      = "the response says that there are rows, and lists none"
	unreadableTotal = "the response lists no rows, and its total is no number (sms.list.page)"
	foreignStatus   = "the response lists no rows, and has a status that is no word of the contract (sms.send.accepted, errors.success)"
)

// pageFacts holds what was requested and what the response says. Three questions are answered from it:
//
//   - fault: is the response another page than the one that was requested?
//   - end: why does no page follow? If one does, the listing goes on.
//   - hiddenReason and cutReason: may there be rows that the listing never sees, before the end or after it?
type pageFacts struct {
	by        string // the paging of the contract: "page", "offset", "cursor" or "none"
	isFirst   bool   // the first page was requested
	number    int    // of the page that was requested
	requested int    // how many rows were requested, or 0
	most      int    // how many rows the only page can hold, or 0

	rows      int // of the page
	pagesUpTo int // how many pages there are up to this one
	rowsUpTo  int // how many rows there are up to the end of the page

	statedNumber, size int // of the page, or 0
	total, totalPages  int // or 0
	hasTotal           bool
	hasUnreadableTotal bool // a total of rows or pages that is no number
	hasUnknownStatus   bool // a status that the contract does not know as a success
	hasRowCursor       bool // the contract reads the cursor of the next page in the last row, and the page has rows
	cursor             cursor
}

// factsOf gathers the facts about a page whose numbers have been read.
func (l *List) factsOf(page *Page, d *document, at wire.Position, requested int) pageFacts {
	slots := l.responses.slots
	isNoNumber := func(slot int) bool { return d.has(slot) && !isCount(d, slot) }
	isNoSuccess := func(slot int) bool { return slot != root && d.has(slot) && !l.isSuccessStatus(d.word(slot)) }
	rows := len(page.Transactions)
	return pageFacts{
		by:        l.op.Paging.By,
		isFirst:   l.isFirst(at),
		number:    l.number(at),
		requested: requested,
		most:      l.op.Paging.Most,

		rows:      rows,
		pagesUpTo: l.pagesUpTo(page, at),
		rowsUpTo:  at.Rows + rows,

		statedNumber:       page.Number,
		size:               page.Size,
		total:              page.Total,
		totalPages:         page.TotalPages,
		hasTotal:           l.word(d, "total") != "",
		hasUnreadableTotal: slices.ContainsFunc(slots["total"], isNoNumber) || slices.ContainsFunc(slots["pages"], isNoNumber),
		hasUnknownStatus:   slices.ContainsFunc(slots["status"], isNoSuccess),
		hasRowCursor:       len(l.row.cursor) > 0 && rows > 0,
		cursor:             l.readCursor(d),
	}
}

func (l *List) isFirst(at wire.Position) bool {
	isStart := at.Rows == 0 && at.Cursor == "" && at.Link == ""
	return isStart && l.number(at) == l.op.Paging.First
}

// pagesUpTo returns how many pages there are up to a page.
func (l *List) pagesUpTo(page *Page, at wire.Position) int {
	requested := l.number(at)
	if page.Number > 0 && page.Number != requested {
		return page.Number // the service counts in another way
	}
	return requested - l.op.Paging.First + 1
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

// fault returns why the response is not the page that was requested, or nil.
func (f *pageFacts) fault() error {
	switch {
	case f.isFirst && f.hidesRows():
		return errHidden
	case f.isFirst && f.by == "page" && f.statedNumber > f.number:
		return errOtherPage
	case !f.isFirst && f.leavesGap():
		return errGap
	default:
		return nil
	}
}

// hidesRows reports whether the page has no rows, although the response says that there are some and has no cursor that leads to them.
func (f *pageFacts) hidesRows() bool {
	hasCursor := f.cursor.more && f.cursor.next != ""
	switch {
	case f.rows > 0:
		return false
	case f.by == "cursor" && hasCursor:
		return false // the rows may be at the cursor
	case f.hasTotal:
		return f.total > 0 // a total of 0 outweighs a next page
	default:
		return f.cursor.more || f.totalPages > 1
	}
}

// leavesGap reports whether a page by number or by offset has no rows, although the response says that more rows follow it.
func (f *pageFacts) leavesGap() bool {
	if f.rows > 0 {
		return false
	}
	switch f.by {
	case "page": // some services count one page too many
		return f.cursor.hasFlag || f.pagesUpTo < f.totalPages
	case "offset":
		return f.cursor.hasFlag || f.rowsUpTo < f.total
	default:
		return false
	}
}

// hiddenReason returns why a page without rows does not prove that there are none, or "". It returns "" for a page with rows.
func (f *pageFacts) hiddenReason(end endReason) string {
	breaksPromise := f.cursor.more && end != notEnded
	countsRows := f.total > 0 || f.totalPages > 1
	switch {
	case f.rows > 0:
		return ""
	case breaksPromise, countsRows:
		return hiddenRows
	case f.hasUnreadableTotal:
		return unreadableTotal
	case f.hasUnknownStatus:
		return foreignStatus
	default:
		return ""
	}
}
