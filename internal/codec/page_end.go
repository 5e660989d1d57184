package codec

import "github.com/messaging-service/messaging-go/internal/wire"

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

// end returns why no page follows, or notEnded.
func (e *pageEvidence) end() endReason {
	isByCursor := e.request.by == "cursor"
	promisesMore := isByCursor && e.cursor.promisesMore() // a page number or an offset leads on without a promise
	hasCursor := e.cursor.next != "" || e.hasRowCursor
	switch {
	case e.request.by == "none":
		return endSingle
	case e.cursor.sign == signEnd:
		return endStated
	case !e.hasRows() && !promisesMore:
		return endEmpty
	case e.isLastByTotal() && e.cursor.sign != signFlag: // a total may count something else
		return endCounted
	case isByCursor && !promisesMore && !hasCursor:
		return endWithoutNext
	default:
		return notEnded
	}
}

// isLastByTotal reports whether the page is the last one by the total of pages or rows. A page is not the last because it is short. Unreadable
// and zero totals are ignored.
func (e *pageEvidence) isLastByTotal() bool {
	switch e.request.by {
	case "page":
		return e.page.TotalPages > 0 && e.pagesUpTo >= e.page.TotalPages
	case "offset":
		return e.page.Total > 0 && e.rowsUpTo >= e.page.Total
	default:
		return false
	}
}

// Why a page that is not the last has no next one.
const (
	errNoNext   = pageError("the response says that another page follows, and has no cursor (sms.list.page.next)")
	errNoCursor = pageError("the last row of the page has no cursor where the contract's paging looks for it (sms.list.page.next)")
)

// next returns the position of the next page. By number and by offset the last page has one too.
func (l *List) next(e *pageEvidence, end endReason, lastRow string) (wire.Position, error) {
	switch e.request.by {
	case "page":
		return wire.Position{Set: true, Number: e.request.number + 1}, nil
	case "offset":
		return wire.Position{Rows: e.rowsUpTo}, nil
	case "cursor":
		return l.nextCursor(e, end, lastRow)
	default:
		return wire.Position{}, nil
	}
}

// nextCursor returns the cursor of the next page: that of the response, or that of its last row. The last page has none.
func (l *List) nextCursor(e *pageEvidence, end endReason, lastRow string) (wire.Position, error) {
	switch {
	case end != notEnded:
		return wire.Position{}, nil
	case e.cursor.next != "":
		return l.cursorPosition(e.cursor.next)
	case !e.hasRowCursor:
		return wire.Position{}, errNoNext
	case lastRow == "":
		return wire.Position{}, errNoCursor
	default:
		return wire.Position{Set: true, Cursor: lastRow}, nil
	}
}
