package codec

import (
	"cmp"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// endReason is the reason why no page follows a page.
type endReason uint8

const (
	notEnded       endReason = iota // a page follows
	endSingle                       // the contract does not page
	endStated                       // the response says that no page follows
	endEmpty                        // the page has no rows, and the response promises no more
	endCounted                      // the page is the last one by a total of the response
	endWithoutNext                  // nothing says where a next page begins
)

// endOf returns why no page follows a page at a position, or notEnded.
func (l *List) endOf(page *Page, at wire.Position, c cursor) endReason {
	isEmpty := len(page.Transactions) == 0
	isByCursor := l.op.Paging.By == "cursor"
	promisesMore := isByCursor && c.more // a page number or an offset leads on without a promise
	hasCursor := c.next != "" || l.hasRowCursor(page)
	switch {
	case l.op.Paging.By == "none":
		return endSingle
	case c.isEnd:
		return endStated
	case isEmpty && !promisesMore:
		return endEmpty
	case l.isLastByTotal(page, at):
		return endCounted
	case isByCursor && !promisesMore && !hasCursor:
		return endWithoutNext
	default:
		return notEnded
	}
}

// hasRowCursor reports whether the contract reads the cursor of the next page in the last row, and the page has rows.
func (l *List) hasRowCursor(page *Page) bool {
	return len(l.row.cursor) > 0 && len(page.Transactions) > 0
}

// isLastByTotal reports whether a page is the last one by the total of pages or rows. A page is not the last because it is short. Unreadable
// and zero totals are ignored.
func (l *List) isLastByTotal(page *Page, at wire.Position) bool {
	switch l.op.Paging.By {
	case "page":
		return page.TotalPages > 0 && l.pagesUpTo(page, at) >= page.TotalPages
	case "offset":
		return page.Total > 0 && rowsUpTo(page, at) >= page.Total
	default:
		return false
	}
}

// pagesUpTo returns how many pages there are up to a page.
func (l *List) pagesUpTo(page *Page, at wire.Position) int {
	requested := l.number(at)
	if page.Number > 0 && page.Number != requested {
		return page.Number // the service counts in another way
	}
	return requested - l.op.Paging.First + 1
}

// rowsUpTo returns how many rows there are up to the end of a page.
func rowsUpTo(page *Page, at wire.Position) int { return at.Rows + len(page.Transactions) }

// full returns why rows may follow the last page that cannot be asked for, or "".
func (l *List) full(page *Page, end endReason, isFirst bool, requested int) string {
	isWithoutCursor := l.op.Paging.By == "cursor" && (end == endEmpty || end == endWithoutNext)
	switch {
	case end == endSingle && l.fillsSinglePage(page, requested):
		return string(errFull)
	case isFirst && isWithoutCursor && page.claimsMore(requested):
		return string(errCut)
	default:
		return ""
	}
}

// fillsSinglePage reports whether the page of a listing that has one page has as many rows as it can hold, or as were requested.
func (l *List) fillsSinglePage(page *Page, requested int) bool {
	limit := requested
	most := l.op.Paging.Most
	if most > 0 && (requested == 0 || most < requested) {
		limit = most
	}
	return limit > 0 && len(page.Transactions) >= limit
}

// claimsMore reports whether the first page of a listing is full, as far as is known, and its totals say that more rows follow.
func (p *Page) claimsMore(requested int) bool {
	rows := len(p.Transactions)
	size := cmp.Or(p.Size, requested)
	isFull := rows >= size
	return isFull && (p.Total > rows || p.TotalPages > 1)
}
