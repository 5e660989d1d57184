package codec

import (
	"slices"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// pageFacts holds what was requested and what the response says. Three questions are answered from it:
//
//   - fault: is the response another page than the one that was requested?
//   - end: why does no page follow? If one does, the listing goes on.
//   - hiddenReason and cutReason: may there be rows that the listing never sees, before the end or after it?
type pageFacts struct {
	request pageRequest
	page    *Page // its rows, and its numbers as the response states them
	cursor  pageCursor

	pagesUpTo int // how many pages there are up to this one
	rowsUpTo  int // how many rows there are up to the end of the page

	hasTotal           bool // the response states Page.Total, even if it is 0
	hasUnreadableTotal bool // a total of rows or pages is no number
	hasUnknownStatus   bool // the contract does not know a status as a success
	hasRowCursor       bool // the contract reads the cursor of the next page in the last row, and the page has rows
}

// pageRequest is the page that was requested.
type pageRequest struct {
	by      string // the paging of the contract: "page", "offset", "cursor" or "none"
	isFirst bool
	number  int // as the service counts
	size    int // how many rows were requested, or 0
	most    int // how many rows the only page can hold, or 0
}

// factsOf gathers the facts about a page whose numbers have been read.
func (l *List) factsOf(page *Page, d *document, at wire.Position, requested int) pageFacts {
	slots := l.responses.slots
	isNoNumber := func(slot int) bool { return d.has(slot) && !isCount(d, slot) }
	isNoSuccess := func(slot int) bool { return slot != root && d.has(slot) && !l.isSuccessStatus(d.word(slot)) }
	rows := len(page.Transactions)
	return pageFacts{
		request: pageRequest{
			by:      l.op.Paging.By,
			isFirst: l.isFirst(at),
			number:  l.number(at),
			size:    requested,
			most:    l.op.Paging.Most,
		},
		page:               page,
		cursor:             l.readCursor(d),
		pagesUpTo:          l.pagesUpTo(page, at),
		rowsUpTo:           at.Rows + rows,
		hasTotal:           l.word(d, "total") != "",
		hasUnreadableTotal: slices.ContainsFunc(slots["total"], isNoNumber) || slices.ContainsFunc(slots["pages"], isNoNumber),
		hasUnknownStatus:   slices.ContainsFunc(slots["status"], isNoSuccess),
		hasRowCursor:       len(l.row.cursor) > 0 && rows > 0,
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

func (f *pageFacts) hasRows() bool { return len(f.page.Transactions) > 0 }

// fault returns why the response is not the page that was requested, or nil.
func (f *pageFacts) fault() error {
	isFirst := f.request.isFirst
	switch {
	case isFirst && f.hidesRows():
		return errHidden
	case isFirst && f.request.by == "page" && f.page.Number > f.request.number:
		return errOtherPage
	case !isFirst && f.leavesGap():
		return errGap
	default:
		return nil
	}
}

// hidesRows reports whether the page has no rows, although the response says that there are some and has no cursor that leads to them.
func (f *pageFacts) hidesRows() bool {
	leadsToRows := f.request.by == "cursor" && f.cursor.promisesMore() && f.cursor.next != ""
	switch {
	case f.hasRows(), leadsToRows:
		return false
	case f.hasTotal:
		return f.page.Total > 0 // a total of 0 outweighs a next page
	default:
		return f.cursor.promisesMore() || f.page.TotalPages > 1
	}
}

// leavesGap reports whether a page by number or by offset has no rows, although the response says that more rows follow it. A cursor alone does
// not say so.
func (f *pageFacts) leavesGap() bool {
	hasFlag := f.cursor.sign == signFlag
	switch {
	case f.hasRows():
		return false
	case f.request.by == "page": // some services count one page too many
		return hasFlag || f.pagesUpTo < f.page.TotalPages
	case f.request.by == "offset":
		return hasFlag || f.rowsUpTo < f.page.Total
	default:
		return false
	}
}

// Why a page without rows does not prove that there are none (see Page.HiddenReason).
const (
	hiddenRows      = "the response says that there are rows, and lists none"
	unreadableTotal = "the response lists no rows, and its total is no number (sms.list.page)"
	foreignStatus   = "the response lists no rows, and has a status that is no word of the contract (sms.send.accepted, errors.success)"
)

// hiddenReason returns why a page without rows does not prove that there are none, or "". It returns "" for a page with rows.
func (f *pageFacts) hiddenReason(end endReason) string {
	breaksPromise := f.cursor.promisesMore() && end != notEnded
	countsRows := f.page.Total > 0 || f.page.TotalPages > 1
	switch {
	case f.hasRows():
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
