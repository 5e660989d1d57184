package messagingtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Paging is how a listing is divided into pages, for [Server.SetPaging]. The zero Paging is [ByPage].
type Paging int

// The kinds of paging. The specification shows none of them. A client whose contract names another kind than the one that
// is set is refused with status 400, because it sends parameters that the server does not know.
const (
	// ByPage counts pages from 1, in the parameter pageNumber, as the default contract does. An answer holds totalRows,
	// totalPages, pageNumber, pageSize, hasNext and nextPage, the number of the next page or null. A page beyond the
	// last is empty.
	ByPage Paging = iota

	// ByOffset passes over as many rows as the parameter offset says, from 0. An answer holds totalRows, pageSize and
	// hasNext. The name offset is the stand-in's choice: the default contract has none. A client needs the overlay
	//
	//	{"sms.list": {"paging": {"by": "offset"}, "params": {"offset": "offset"}}}
	ByOffset

	// ByCursor answers with an opaque text in nextPage, or null on the last page, which goes into the parameter cursor
	// of the next request. An answer holds totalRows, pageSize, hasNext and nextPage. A cursor marks a row, so that rows
	// which arrive in front of it shift nothing. It is good for the filters and the sorting with which it was given,
	// and refused with others. It holds characters that have to be escaped in a query. The name cursor is the
	// stand-in's choice: the default contract has none. A client needs the overlay
	//
	//	{"sms.list": {"paging": {"by": "cursor"}, "params": {"cursor": "cursor"}}}
	ByCursor

	// Unpaged answers with all rows at once, and with totalRows. There is no parameter for a page or its size. A client
	// needs the overlay
	//
	//	{"sms.list": {"paging": {"by": "none"}, "params": {"page": "", "pageSize": ""}}}
	Unpaged
)

// String returns the name of the kind, such as "ByPage".
func (p Paging) String() string {
	switch p {
	case ByPage:
		return "ByPage"
	case ByOffset:
		return "ByOffset"
	case ByCursor:
		return "ByCursor"
	case Unpaged:
		return "Unpaged"
	default:
		return "Paging(" + strconv.Itoa(int(p)) + ")"
	}
}

// SetPaging sets how listings are divided from now on; at the start it is by [ByPage]. It panics if there is no such kind.
func (s *Server) SetPaging(kind Paging) {
	if kind < ByPage || kind > Unpaged {
		panic(fmt.Sprintf("messagingtest: SetPaging(%v): no such kind", kind))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listing.paging = kind
}

// page is a part of the rows of a listing, beginning with the row of the index start.
type page struct {
	start, size, total int
	number             int // from 1, if pages are counted
	rows               []*row
	next               string // the cursor, if there is a further page
}

func (p page) hasNext() bool { return p.start+len(p.rows) < p.total }

// start is the index of the first row of the page that is asked for, or false if its cursor is not good.
func (q listRequest) start(l *ledger, rows []*row) (int, bool) {
	switch q.paging {
	case ByPage:
		if full := len(rows) / q.size; q.number-1 > full {
			return len(rows), true // no product that overflows
		}
		return min((q.number-1)*q.size, len(rows)), true
	case ByOffset:
		return min(q.offset, len(rows)), true
	case ByCursor:
		if q.cursor == "" {
			return 0, true
		}
		last := l.rowOf(q.cursor, q.listing)
		if last == nil {
			return 0, false
		}
		at, found := slices.BinarySearchFunc(rows, last, q.compare())
		if found {
			at++
		}
		return at, true
	default:
		return 0, true
	}
}

// cut copies the page that begins at start: the rows change with the next request.
func (q listRequest) cut(rows []*row, start int) page {
	size := q.size
	if q.paging == Unpaged {
		size = len(rows)
	}
	end := min(start+size, len(rows))
	p := page{start: start, size: size, total: len(rows), number: q.number, rows: slices.Clone(rows[start:end])}
	if p.hasNext() {
		p.next = cursorAfter(p.rows[len(p.rows)-1], q.listing)
	}
	return p
}

// A cursor begins with a character that means something else in a query, if it is not escaped.
const cursorMark = "&cursor="

func cursorAfter(last *row, l listing) string {
	return cursorMark + base64.StdEncoding.EncodeToString(append(l.digest(last), last.ID...))
}

func (l *ledger) rowOf(cursor string, q listing) *row {
	encoded, marked := strings.CutPrefix(cursor, cursorMark)
	text, err := base64.StdEncoding.DecodeString(encoded)
	const digestSize = 8
	if !marked || err != nil || len(text) < digestSize {
		return nil
	}
	last := l.byID[string(text[digestSize:])]
	if last == nil || !bytes.Equal(text[:digestSize], q.digest(last)) {
		return nil
	}
	return last
}

// listed is an answer that lists. What a kind of paging does not have is left out: a null that a client could take for
// the end would be a lie.
type listed struct {
	Status     bool              `json:"status"`
	TotalRows  int               `json:"totalRows"`
	TotalPages *int              `json:"totalPages,omitzero"`
	PageNumber *int              `json:"pageNumber,omitzero"`
	PageSize   *int              `json:"pageSize,omitzero"`
	HasNext    *bool             `json:"hasNext,omitzero"`
	NextPage   json.RawMessage   `json:"nextPage,omitzero"`
	Data       []json.RawMessage `json:"data"`
}

func (p page) answer(kind Paging) listed {
	a := listed{Status: true, TotalRows: p.total, Data: make([]json.RawMessage, 0, len(p.rows))}
	for _, r := range p.rows {
		a.Data = append(a.Data, r.encode())
	}
	if kind == Unpaged {
		return a
	}
	a.PageSize, a.HasNext = new(p.size), new(p.hasNext())
	switch kind {
	case ByPage:
		a.TotalPages, a.PageNumber = new((p.total+p.size-1)/p.size), &p.number
		if p.hasNext() {
			a.NextPage = encode(p.number + 1)
		}
	case ByCursor:
		if p.hasNext() {
			a.NextPage = encode(p.next)
		}
	default:
		return a
	}
	if a.NextPage == nil {
		a.NextPage = encode(nil)
	}
	return a
}
