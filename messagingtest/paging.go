package messagingtest

import (
	"encoding/base64"
	"slices"
	"strings"
)

// Paging is how a listing is divided into pages, for [Server.SetPaging].
type Paging string

// The kinds of paging, by the words of a contract. A client whose contract says otherwise is refused with status 400, because
// it sends parameters that the server does not know.
const (
	// ByPage counts pages from 1, as the default contract does. A page beyond the last is empty.
	ByPage Paging = "page"

	// ByOffset passes over a number of rows. A client needs the overlay
	//
	//	{"sms.list": {"paging": {"by": "offset"}, "params": {"offset": "offset"}}}
	ByOffset Paging = "offset"

	// ByCursor responds with an opaque text, or null on the last page, which goes into the next request. A cursor marks a
	// row, so that rows which arrive in front of it shift nothing. It is refused with other filters or another order than it
	// was made for, and has characters that have to be escaped in a query. A client needs the overlay
	//
	//	{"sms.list": {"paging": {"by": "cursor"}, "params": {"cursor": "cursor"}}}
	ByCursor Paging = "cursor"

	// Unpaged responds with all rows at once. A client needs the overlay
	//
	//	{"sms.list": {"paging": {"by": "none"}, "params": {"page": "", "pageSize": ""}}}
	Unpaged Paging = "none"
)

// SetPaging sets how listings are divided from now on; at the start it is [ByPage]. It panics if there is no such kind.
func (s *Server) SetPaging(kind Paging) {
	must(slices.Contains([]Paging{ByPage, ByOffset, ByCursor, Unpaged}, kind), "SetPaging(%q): no such kind", kind)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paging = kind
}

// start returns the index of the first row of the page that is asked for, or reports false if its cursor is wrong.
func (q listRequest) start(l *ledger, rows []*row) (int, bool) {
	if q.cursor == "" {
		skipped := int64(q.offset) + int64(q.number-1)*int64(q.size)
		return int(min(skipped, int64(len(rows)))), true
	}
	last := l.rowOfCursor(q.cursor, q.listing)
	if last == nil {
		return 0, false
	}
	at, found := slices.BinarySearchFunc(rows, last, q.compare())
	if found {
		at++
	}
	return at, true
}

// cut returns the page that begins at start as a response, and reports whether another follows. What a kind of paging does not
// have is left out: a client could take a null for the end.
func (q listRequest) cut(n listNames, rows []*row, start int) (page document, hasNext bool) {
	size := q.size
	if q.paging == Unpaged {
		size = len(rows)
	}
	end := min(start+size, len(rows))
	hasNext = end < len(rows)
	items, all := []document{}, columns()
	for _, r := range rows[start:end] {
		items = append(items, r.document(n.record, all))
	}
	values := map[string]any{"status": true, "total": len(rows), "items": items}
	if q.paging != Unpaged {
		values["size"], values["hasNext"] = size, hasNext
	}
	switch q.paging {
	case ByPage:
		values["pages"], values["number"], values["next"] = (len(rows)+size-1)/size, q.number, nil
		if hasNext {
			values["next"] = q.number + 1
		}
	case ByCursor:
		values["next"] = nil
		if hasNext {
			values["next"] = cursorAfter(rows[end-1], q.listing)
		}
	case ByOffset, Unpaged:
	}
	page = document{}
	for concept, value := range values {
		page.set(n.page[concept], value)
	}
	return page, hasNext
}

// A cursor begins with a character that means something else in a query, if it is not escaped.
const cursorMark = "&cursor="

// cursorAfter returns a cursor that holds the listing that it belongs to and the last row before it.
func cursorAfter(last *row, l listing) string {
	return cursorMark + base64.StdEncoding.EncodeToString([]byte(l.key+"\n"+last.ID))
}

// rowOfCursor returns nil if the cursor belongs to another listing.
func (l *ledger) rowOfCursor(cursor string, q listing) *row {
	text, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(cursor, cursorMark))
	id, same := strings.CutPrefix(string(text), q.key+"\n")
	if err != nil || !same {
		return nil
	}
	return l.byID[id]
}
