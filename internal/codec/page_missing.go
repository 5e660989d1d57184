package codec

import "cmp"

// Why a response is not the page that was requested.
const (
	errHidden    = pageError(hiddenRows)
	errOtherPage = pageError("the response is a later page than the first, which was requested (sms.list.paging, sms.list.page.number)")
	errGap       = pageError("the page has no rows, and the response says that more follow " +
		"(sms.list.page.hasNext; pages or total if they count other rows)")
)

// fault returns why the response is not the page that was requested, or nil.
func (e *pageEvidence) fault() error {
	isFirst := e.request.isFirst
	switch {
	case isFirst && e.hidesRows():
		return errHidden
	case isFirst && e.request.by == "page" && e.page.Number > e.request.number:
		return errOtherPage
	case !isFirst && e.leavesGap():
		return errGap
	default:
		return nil
	}
}

// hidesRows reports whether the page has no rows, although the response says that there are some and has no cursor that leads to them.
func (e *pageEvidence) hidesRows() bool {
	leadsToRows := e.request.by == "cursor" && e.cursor.promisesMore() && e.cursor.next != ""
	switch {
	case e.hasRows(), leadsToRows:
		return false
	case e.hasTotal:
		return e.page.Total > 0 // a total of 0 outweighs a next page
	default:
		return e.cursor.promisesMore() || e.page.TotalPages > 1
	}
}

// leavesGap reports whether a page by number or by offset has no rows, although the response says that more rows follow it. A cursor alone does
// not say so.
func (e *pageEvidence) leavesGap() bool {
	hasFlag := e.cursor.sign == signFlag
	switch {
	case e.hasRows():
		return false
	case e.request.by == "page": // some services count one page too many
		return hasFlag || e.pagesUpTo < e.page.TotalPages
	case e.request.by == "offset":
		return hasFlag || e.rowsUpTo < e.page.Total
	default:
		return false
	}
}

// Why a page without rows does not prove that there are none (see Page.HiddenReason).
const (
	hiddenRows      = "the response says that there are rows, and lists none"
	unreadableTotal = "the response lists no rows, and its total is not a number (sms.list.page)"
	foreignStatus   = "the response lists no rows, and has a status that is not a word of the contract (sms.send.accepted, errors.success)"
)

// hiddenReason returns why a page without rows does not prove that there are none, or "". It returns "" for a page with rows.
func (e *pageEvidence) hiddenReason(end endReason) string {
	breaksPromise := e.cursor.promisesMore() && end != notEnded
	countsRows := e.page.Total > 0 || e.page.TotalPages > 1
	switch {
	case e.hasRows():
		return ""
	case breaksPromise, countsRows:
		return hiddenRows
	case e.hasUnreadableTotal:
		return unreadableTotal
	case e.hasUnknownStatus:
		return foreignStatus
	default:
		return ""
	}
}

// Why rows may follow the last page that cannot be requested (see Page.CutReason).
const (
	fullPage = "the page has as many rows as it can hold, and there is no next one to ask for (sms.list.paging)"
	cutPage  = "the response says that more rows follow, and has no cursor for them " +
		"(sms.list.page.next; sms.list.page.total if it counts other rows)"
)

// cutReason returns why rows may follow the last page that cannot be requested, or "".
func (e *pageEvidence) cutReason(end endReason) string {
	isWithoutCursor := e.request.by == "cursor" && (end == endEmpty || end == endWithoutNext)
	switch {
	case end == endSingle && e.fillsSinglePage():
		return fullPage
	case e.request.isFirst && isWithoutCursor && e.countsMore():
		return cutPage
	default:
		return ""
	}
}

// fillsSinglePage reports whether the page of a listing that has one page has as many rows as it can hold, or as were requested.
func (e *pageEvidence) fillsSinglePage() bool {
	most := e.request.most
	limit := cmp.Or(e.request.size, most)
	if most > 0 {
		limit = min(limit, most)
	}
	return limit > 0 && len(e.page.Transactions) >= limit
}

// countsMore reports whether the first page of a listing is full, as far as is known, and its totals say that more rows follow.
func (e *pageEvidence) countsMore() bool {
	rows := len(e.page.Transactions)
	isFull := rows >= cmp.Or(e.page.Size, e.request.size)
	return isFull && (e.page.Total > rows || e.page.TotalPages > 1)
}
