package codec

import "cmp"

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
func (f *pageFacts) end() endReason {
	isByCursor := f.request.by == "cursor"
	promisesMore := isByCursor && f.cursor.promisesMore() // a page number or an offset leads on without a promise
	hasCursor := f.cursor.next != "" || f.hasRowCursor
	switch {
	case f.request.by == "none":
		return endSingle
	case f.cursor.sign == signEnd:
		return endStated
	case !f.hasRows() && !promisesMore:
		return endEmpty
	case f.isLastByTotal() && f.cursor.sign != signFlag: // a total may count something else
		return endCounted
	case isByCursor && !promisesMore && !hasCursor:
		return endWithoutNext
	default:
		return notEnded
	}
}

// isLastByTotal reports whether the page is the last one by the total of pages or rows. A page is not the last because it is short. Unreadable
// and zero totals are ignored.
func (f *pageFacts) isLastByTotal() bool {
	switch f.request.by {
	case "page":
		return f.page.TotalPages > 0 && f.pagesUpTo >= f.page.TotalPages
	case "offset":
		return f.page.Total > 0 && f.rowsUpTo >= f.page.Total
	default:
		return false
	}
}

// Why rows may follow the last page that cannot be requested (see Page.CutReason).
const (
	fullPage = "the page has as many rows as it can hold, and there is no next one to ask for (sms.list.paging)"
	cutPage  = "the response says that more rows follow, and has no cursor for them " +
		"(sms.list.page.next; sms.list.page.total if it counts other rows)"
)

// cutReason returns why rows may follow the last page that cannot be requested, or "".
func (f *pageFacts) cutReason(end endReason) string {
	isWithoutCursor := f.request.by == "cursor" && (end == endEmpty || end == endWithoutNext)
	switch {
	case end == endSingle && f.fillsSinglePage():
		return fullPage
	case f.request.isFirst && isWithoutCursor && f.claimsMore():
		return cutPage
	default:
		return ""
	}
}

// fillsSinglePage reports whether the page of a listing that has one page has as many rows as it can hold, or as were requested.
func (f *pageFacts) fillsSinglePage() bool {
	limit := f.request.size
	most := f.request.most
	if limit == 0 {
		limit = most
	}
	if most > 0 {
		limit = min(limit, most)
	}
	return limit > 0 && len(f.page.Transactions) >= limit
}

// claimsMore reports whether the first page of a listing is full, as far as is known, and its totals say that more rows follow.
func (f *pageFacts) claimsMore() bool {
	rows := len(f.page.Transactions)
	isFull := rows >= cmp.Or(f.page.Size, f.request.size)
	return isFull && (f.page.Total > rows || f.page.TotalPages > 1)
}
