package check

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/messaging-service/messaging-go/sms"
)

// checkPaging reads two pages of half the rows, so that there is a second page.
func (c *checker) checkPaging(ctx context.Context) {
	const path = "sms.list.paging"
	if c.table.SMSList.Paging.By == "none" {
		c.report.add("paging", path, finding{plausible, "none: the contract has one page"})
		return
	}
	c.say("reading a second page")
	var options sms.ListOptions
	if c.table.SMSList.Params["pageSize"] != "" {
		options.PageSize = (len(c.listed.rows) + 1) / 2
	}
	p := c.list(ctx, options, 2)
	c.responses.hasSecondPage = p.isRead() && p.hasNewRows()
	c.report.add("paging", path, c.judgePaging(p))
}

// hasNewRows reports whether a page after the first has a row with an ID that no row of the first has.
func (p page) hasNewRows() bool {
	first := p.transactions[:p.firstPage]
	later := p.transactions[p.firstPage:]
	isNew := func(tx sms.Transaction) bool {
		isSame := func(other sms.Transaction) bool { return other.ID == tx.ID }
		return tx.ID != "" && !slices.ContainsFunc(first, isSame)
	}
	return slices.ContainsFunc(later, isNew)
}

// judgePaging judges a listing of up to two pages.
func (c *checker) judgePaging(p page) finding {
	isRead := p.isRead()              // checkUnreadable counts rows that cannot be read in full
	isRejected := !isRead && p.isPage // by the client, after a success of the service
	switch {
	case isRejected:
		return finding{wrong, describe(p.err)}
	case !isRead:
		return finding{plausible, "could not tell: " + describe(p.err)}
	case p.hasNewRows():
		return c.judgeSecondPage(p)
	case p.err == nil && len(p.transactions) < len(c.listed.transactions):
		counts := fmt.Sprintf("%d of %d rows", len(p.transactions), len(c.listed.transactions))
		return finding{wrong, "the listing ends after " + counts + ": see sms.list.paging and sms.list.page"}
	}
	return finding{plausible, "not seen: there is no second page, or its rows have no other IDs"}
}

// judgeSecondPage judges a second page that has new rows. A service that counts positions in other units than the contract repeats rows of the
// first page, or leaves out the rows that follow it.
func (c *checker) judgeSecondPage(p page) finding {
	first := p.keys[0]
	second := map[string]bool{}
	for _, keys := range p.keys[1:] {
		maps.Copy(second, keys)
	}
	by := c.table.SMSList.Paging.By
	if f, isDecided := judgeRepeated(countCommon(first, second), len(first), by); isDecided {
		return f
	}
	if by != "cursor" && len(first) <= maxAmbiguousPage {
		return finding{plausible, "could not tell: on pages of one or two rows, a position may count rows or pages"}
	}
	larger := c.keysOf(c.listed.rows)
	if by != "cursor" && countCommon(first, larger) == 0 {
		return finding{plausible, "could not tell: the first page has no row of a larger first page: the service may count from another number, see sms.list.paging"}
	}
	if by == "offset" {
		if f, isDecided := judgeFollowing(without(larger, first), second); isDecided {
			return f
		}
	}
	return finding{proven, "a second page has rows with other IDs"}
}

// maxAmbiguousPage is the size up to which a page can begin at the same row, whether its position counts rows or pages: the row at offset 2 is
// the first of page 2 of two rows.
const maxAmbiguousPage = 2

// judgeRepeated judges a second page by how many rows of the first it repeats. Messages that came between the requests move a few of these, but a
// position that the service counts in rows, and not in pages, repeats most of them.
func judgeRepeated(repeated, first int, by string) (f finding, isDecided bool) {
	why := "the second page repeats " + countRows(repeated) + " of the first"
	switch {
	case repeated > first/2 && by == "page":
		return finding{wrong, why + ": the position may count rows: paging.by offset"}, true
	case repeated > first/2:
		return finding{wrong, why + ": see sms.list.paging"}, true
	case repeated > 0:
		return finding{plausible, why + ": new messages may have moved them"}, true
	}
	return finding{}, false
}

// judgeFollowing judges the second page of a listing by offset by the rows that follow the first page in a larger page. A service that takes the
// offset for the number of a page leaves them out.
func judgeFollowing(following, second map[string]bool) (f finding, isDecided bool) {
	switch {
	case len(following) == 0:
		const why = "could not tell whether rows are left out between the pages: the service ignores the page size, or the contract has none"
		return finding{plausible, why}, true
	case countCommon(following, second) == 0:
		return finding{wrong, "the second page leaves out the rows that follow the first: the position may count pages: paging.by page"}, true
	}
	return finding{}, false
}

// countCommon returns how many keys are in both sets.
func countCommon(a, b map[string]bool) int {
	n := 0
	for key := range a {
		if b[key] {
			n++
		}
	}
	return n
}

// without returns the keys of a set that another does not have.
func without(keys, other map[string]bool) map[string]bool {
	rest := map[string]bool{}
	for key := range keys {
		if !other[key] {
			rest[key] = true
		}
	}
	return rest
}
