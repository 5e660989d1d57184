package codec

import (
	"fmt"
	"slices"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

// rowReader reads the rows of one page. It lasts as long as the page is decoded.
type rowReader struct {
	format *rowFormat
	page   *Page
	limit  int // of rows

	// These describe the list of rows that was read last:
	list       int    // its number in the contract, or -1 if the response has had no list so far
	start      int    // the position of its first row
	tooLong    error  // why not all of its rows were read, or nil
	lastCursor string // of its last row, or ""

	row   currentRow
	cache rowCache
}

// maxRows is how many rows a page may have if the request did not say.
const maxRows = 100_000

func newRowReader(format *rowFormat, page *Page, requested int) *rowReader {
	r := &rowReader{
		format: format,
		page:   page,
		limit:  maxRows,
		list:   -1,
		cache:  rowCache{statuses: map[string]contract.Status{}},
	}
	r.row.init(format)
	if requested > 0 && requested < maxRows/10 {
		r.limit = 10 * requested
	}
	return r
}

// read reads a list of rows. If a response has several lists, the one that comes first in the contract counts.
func (r *rowReader) read(w *jsonscan.Walker, list int) {
	if r.list >= 0 && r.list < list {
		w.Skip()
		return
	}
	r.list = list
	r.start = w.Pos + 1
	r.tooLong = nil
	r.lastCursor = ""
	r.page.Transactions = r.page.Transactions[:0]
	r.page.Unreadable = nil
	r.page.Excluded = map[int]bool{}
	hadDuplicate := w.Repeats // outside the rows
	for more := w.Open(']'); more; more = w.Next(']') {
		r.readRow(w)
	}
	w.Repeats = hadDuplicate
}

// readRow adds the next row to the page.
func (r *rowReader) readRow(w *jsonscan.Walker) {
	index := len(r.page.Transactions)
	if index == r.limit {
		r.tooLong = pageError(fmt.Sprintf("the page has more than %d rows", r.limit))
		w.Skip()
		return
	}
	if index == 1 {
		r.grow(w)
	}
	row := &r.row
	row.read(w, &r.cache)
	if w.Err() != nil {
		return // and no page
	}
	r.page.Transactions = append(r.page.Transactions, row.transaction)
	r.lastCursor = row.cursor()
	switch {
	case row.isExcluded():
		r.page.Excluded[index] = true
	case row.problem.Reason != "":
		row.problem.Index = index
		r.page.Unreadable = append(r.page.Unreadable, row.problem)
	}
}

// grow makes room for the rows after the first one, whose length shows how many may follow.
func (r *rowReader) grow(w *jsonscan.Walker) {
	w.Peek()
	length := w.Pos - r.start
	rest := len(w.Doc) - w.Pos
	r.page.Transactions = slices.Grow(r.page.Transactions, min(rest/length+1, r.limit))
}
