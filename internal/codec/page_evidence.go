package codec

import (
	"slices"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// pageEvidence holds what was requested and what the response says. Three questions are answered from it:
//
//   - end (page_end.go): why does no page follow? If one does, the listing goes on.
//   - fault (page_missing.go): is the response another page than the one that was requested?
//   - hiddenReason and cutReason (page_missing.go): may there be rows that the listing never sees, before the end or after it?
type pageEvidence struct {
	request pageRequest
	page    *Page // its rows, and its numbers as the response states them
	cursor  pageCursor

	pagesUpTo int // how many pages there are up to this one
	rowsUpTo  int // how many rows there are up to the end of the page

	hasTotal           bool // the response states Page.Total, even if it is 0
	hasUnreadableTotal bool // a total of rows or pages is not a number
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

// pageCursor is what a response says about the page after it.
type pageCursor struct {
	next string // or ""
	sign nextSign
}

// nextSign is how a response says whether more rows follow.
type nextSign uint8

const (
	signNone   nextSign = iota
	signFlag            // a flag says that more follow
	signCursor          // there is no flag, and a cursor of the next page
	signEnd             // a flag, or null in place of the cursor, says that none follow
)

// promisesMore reports whether the response says that more rows follow.
func (c pageCursor) promisesMore() bool { return c.sign == signFlag || c.sign == signCursor }

func (e *pageEvidence) hasRows() bool { return len(e.page.Transactions) > 0 }

// evidenceOf gathers the evidence of a page whose numbers have been read.
func (l *List) evidenceOf(page *Page, d *document, at wire.Position, requested int) pageEvidence {
	slots := l.responses.slots
	isNoNumber := func(slot int) bool { return d.has(slot) && !isCount(d, slot) }
	isNoSuccess := func(slot int) bool { return slot != root && d.has(slot) && !l.isSuccessStatus(d.word(slot)) }
	rows := len(page.Transactions)
	return pageEvidence{
		request: pageRequest{
			by:      l.op.Paging.By,
			isFirst: l.isFirst(at),
			number:  l.pageNumber(at),
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
	return isStart && l.pageNumber(at) == l.op.Paging.First
}

// readCursor reads the cursor, and whether more rows follow: a flag decides, or else a cursor or a null in its place.
func (l *List) readCursor(d *document) pageCursor {
	slots := l.responses.slots["next"]
	isFlag := func(slot int) bool { return d.values[slot].Kind == jsonscan.Boolean }
	isNull := func(slot int) bool { return d.values[slot].Kind == jsonscan.Null }
	next := d.first(slices.DeleteFunc(slices.Clone(slots), isFlag))
	c := pageCursor{next: next}
	flag := l.word(d, "hasNext")
	switch {
	case isTrue(flag):
		c.sign = signFlag
	case isFalse(flag):
		c.sign = signEnd
	case !table.IsPlaceholder(next):
		c.sign = signCursor
	case next == "" && slices.ContainsFunc(slots, isNull):
		c.sign = signEnd
	}
	return c
}

// pagesUpTo returns how many pages there are up to a page.
func (l *List) pagesUpTo(page *Page, at wire.Position) int {
	requested := l.pageNumber(at)
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
