package check

import (
	"context"
	"fmt"
	"maps"

	"github.com/messaging-service/messaging-go/sms"
)

// checkPaging reads two pages of half the rows, so that there is a second page.
func (c *checker) checkPaging(ctx context.Context) {
	const path = "sms.list.paging"
	if c.names.SMSList.Paging.By == "none" {
		c.report.add("paging", path, finding{plausible, "none: the contract has one page"})
		return
	}
	c.say("reading a second page")
	var options sms.ListOptions
	if c.names.SMSList.Params["pageSize"] != "" {
		options.PageSize = (len(c.listed.rows) + 1) / 2
	}
	p := c.lister.list(ctx, options, 2)
	f := c.judgePaging(p)
	c.report.add("paging", path, f)
	hasSecondPage := p.isRead() && p.hasNewRows()
	c.lister.responses.hasSecondPage = hasSecondPage
	c.missesRows = c.names.SMSList.Paging.By == "page" && hasSecondPage && f.grade == wrong
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
	rows := pagedRows{first: p.keys[0], second: map[string]bool{}, larger: c.names.keysOf(c.listed.rows)}
	for _, keys := range p.keys[1:] {
		maps.Copy(rows.second, keys)
	}
	switch c.names.SMSList.Paging.By {
	case "cursor":
		return judgeByCursor(rows)
	case "page":
		return judgeByPage(rows)
	}
	return judgeByOffset(rows)
}

const (
	movedRows     = ": new messages may have moved them"
	ambiguousPage = "could not tell: on pages of one or two rows, a position may count rows or pages"
	otherFirst    = "could not tell: the first page has no row of a larger first page: the service may count from another number, see sms.list.paging"
	otherRows     = "a second page has rows with other IDs"
)

// judgeByCursor judges the second page of a listing by cursor.
func judgeByCursor(rows pagedRows) finding {
	switch {
	case rows.repeats():
		return finding{wrong, rows.describeRepeated() + ": see sms.list.paging"}
	case rows.repeated() > 0:
		return finding{plausible, rows.describeRepeated() + movedRows}
	}
	return finding{proven, otherRows}
}

// judgeByPage judges the second page of a listing by page number. A service that takes the number for an offset repeats rows.
func judgeByPage(rows pagedRows) finding {
	return judgeByNumber(rows, ": the position may count rows: paging.by offset")
}

// judgeByOffset judges the second page of a listing by offset. A service that takes the offset for the number of a page leaves rows out.
func judgeByOffset(rows pagedRows) finding {
	following := rows.following()
	f := judgeByNumber(rows, ": see sms.list.paging")
	switch {
	case f.grade != proven:
		return f
	case len(following) == 0:
		const why = "could not tell whether rows are left out between the pages: the service ignores the page size, or the contract has none"
		return finding{plausible, why}
	case countCommon(following, rows.second) == 0:
		return finding{wrong, "the second page leaves out the rows that follow the first: the position may count pages: paging.by page"}
	}
	return f
}

// judgeByNumber judges the second page of a listing by page number or by offset, apart from rows that are left out. advice follows if it repeats
// rows.
func judgeByNumber(rows pagedRows, advice string) finding {
	switch {
	case rows.repeats():
		return finding{wrong, rows.describeRepeated() + advice}
	case rows.repeated() > 0:
		return finding{plausible, rows.describeRepeated() + movedRows}
	case rows.isAmbiguous():
		return finding{plausible, ambiguousPage}
	case rows.beginsElsewhere():
		return finding{plausible, otherFirst}
	}
	return finding{proven, otherRows}
}
