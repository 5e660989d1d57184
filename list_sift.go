package messaging

import (
	"fmt"
	"slices"
	"time"

	"github.com/messaging-service/messaging-go/internal/phone"
	"github.com/messaging-service/messaging-go/sms"
)

// A rowKind says whether a row of a page is yielded, and why not.
type rowKind uint8

const (
	rowWanted        rowKind = iota // the only kind that is yielded
	rowRepeated                     // it was on the page before
	rowOther                        // it belongs to another listing (sms.list.only)
	rowContradicting                // it is not what the request asked for
	rowOutside                      // the request asked for it, but its time is outside of the bounds of the options
)

// sift decides which rows of a page are yielded. It returns an error if the page repeats the one before it, because such a listing might never
// end. The last page may have only rows of the page before, unless it is the same page again. So may the first page of a resumed listing, to
// which new rows can have moved all that it yielded before.
func (l *listing) sift(page *listPage) error {
	page.isDropped = make([]bool, len(page.Transactions))
	page.lastRow = l.lastRow
	if len(page.Transactions) == 0 {
		return l.countEmpty()
	}
	l.emptyPages = 0
	isFirst := len(l.previous) == 0
	hasNew := l.siftRows(page)
	isSamePage := rowKey(&page.Transactions[0]) == l.firstRow
	mayRepeat := isFirst || page.Last && !isSamePage
	if !hasNew && !mayRepeat {
		return l.pagingError("a page has only rows of the page before it")
	}
	l.remember(page)
	return nil
}

// countEmpty counts a page without rows. It returns an error if there were too many in a row.
func (l *listing) countEmpty() error {
	const maxEmpty = 1000 // of a service that filters after it has cut its pages
	l.emptyPages++
	if l.emptyPages > maxEmpty {
		return l.pagingError("a thousand pages in a row have no rows")
	}
	return nil
}

// siftRows counts the rows of a page, marks those that are not yielded, and reports whether it has a row that was not on the page before.
func (l *listing) siftRows(page *listPage) (hasNew bool) {
	rows := page.Transactions
	resumeAt := l.skipYielded(rows)
	for i := range rows {
		row := &rows[i]
		isRepeated := i < resumeAt || l.wasOnPreviousPage(row)
		if !isRepeated {
			hasNew = true
		}
		kind := l.kindOf(row, isRepeated, page.Excluded[i])
		page.isDropped[i] = kind != rowWanted
		if kind != rowWanted && kind != rowRepeated {
			page.omitted++
		}
		l.count(kind, row)
	}
	return hasNew
}

// kindOf returns the first kind that applies to a row.
func (l *listing) kindOf(row *sms.Transaction, isRepeated, isOther bool) rowKind {
	switch {
	case isOther:
		return rowOther
	case l.contradicts(row):
		return rowContradicting
	case isRepeated:
		return rowRepeated
	case !within(row.CreatedAt, l.options.CreatedAfter, l.options.CreatedBefore):
		return rowOutside
	default:
		return rowWanted
	}
}

// count counts the rows that show whether the service filters.
func (l *listing) count(kind rowKind, row *sms.Transaction) {
	switch kind {
	case rowContradicting:
		l.contradicting++
	case rowWanted:
		if !l.isUndated(row) {
			l.matching++
		}
	case rowRepeated, rowOther, rowOutside:
	}
}

// isUndated reports whether a listing asks for a time, and a row has none. Such a row does not show that the service filters.
func (l *listing) isUndated(row *sms.Transaction) bool {
	hasBound := !l.options.CreatedAfter.IsZero() || !l.options.CreatedBefore.IsZero()
	return hasBound && row.CreatedAt.IsZero()
}

// skipYielded returns how many rows at the beginning of the first page of a resumed listing were yielded before its position: those up to the last
// row of the page before. It is 0 for every other page.
func (l *listing) skipYielded(rows []sms.Transaction) int {
	if !l.isResumed {
		return 0
	}
	l.isResumed = false
	isLast := func(row sms.Transaction) bool { return row.ID != "" && row.ID == l.lastRow }
	return slices.IndexFunc(rows, isLast) + 1
}

func (l *listing) wasOnPreviousPage(row *sms.Transaction) bool {
	if len(l.previous) == 0 {
		return false
	}
	_, isKnown := l.previous[rowKey(row)]
	return isKnown
}

// remember records the rows with which those of the next page are compared.
func (l *listing) remember(page *listPage) {
	if page.Last {
		return
	}
	rows := page.Transactions
	if l.previous == nil {
		l.previous = make(map[string]struct{}, len(rows))
	}
	clear(l.previous)
	for i := range rows {
		l.previous[rowKey(&rows[i])] = struct{}{}
	}
	l.firstRow = rowKey(&rows[0])
	l.lastRow = rows[len(rows)-1].ID
	page.lastRow = l.lastRow
}

// rowKey identifies a row: by its ID, or by everything it holds if it has none.
func rowKey(row *sms.Transaction) string {
	if row.ID != "" {
		return row.ID
	}
	return fmt.Sprintf("%#v", *row)
}

// contradicts reports whether a row is not what the request asked for: its ID, its reference ID or its recipient differs, or its time is outside of
// the bounds that were sent. A row at a bound does not contradict it, nor does a row without the member. All other options are not checked.
func (l *listing) contradicts(row *sms.Transaction) bool {
	o := &l.options
	isOtherID := o.ID != "" && row.ID != "" && row.ID != o.ID
	isOtherReference := o.ReferenceID != "" && !sameReference(row.ReferenceID, o.ReferenceID)
	isOtherRecipient := o.To != "" && phone.Contradict(row.To, o.To)
	isEarlier := !row.CreatedAt.IsZero() && row.CreatedAt.Before(l.query.CreatedAfter)
	isLater := !l.query.CreatedBefore.IsZero() && row.CreatedAt.After(l.query.CreatedBefore)
	isOther := isOtherID || isOtherReference || isOtherRecipient
	return isOther || isEarlier || isLater
}

// within reports whether a time is at or after one bound and before another. A zero bound means no bound, and a zero time is within all bounds.
func within(at, after, before time.Time) bool {
	if at.IsZero() {
		return true
	}
	return !at.Before(after) && (before.IsZero() || at.Before(before))
}

// ignoredFilter returns an error if rows contradict the options and no row shows that the service filters, so that no caller takes the listing for
// an empty one. It returns nil for a listing that continues another, whose matching rows may all have come before.
func (l *listing) ignoredFilter() error {
	if l.contradicting == 0 || l.matching > 0 || l.options.After != "" {
		return nil
	}
	const reason = "the service listed only rows that contradict the options: it does not filter as the contract says " +
		"(sms.list.params, sms.list.time, sms.list.zone)"
	return l.service.listError(reason, ErrFilterIgnored)
}
