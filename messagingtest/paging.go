package messagingtest

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"
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

// A cursor holds the listing that it belongs to and the last row before it. It begins with a character that means something
// else in a query, if it is not escaped.
const cursorMark = "&cursor="

// start returns the index of the first row of the page that is asked for, or reports false if its cursor is wrong.
func (q listRequest) start(l *ledger, rows []*row) (int, bool) {
	if q.cursor == "" {
		skipped := int64(q.offset) + int64(q.number-1)*int64(q.size)
		return int(min(skipped, int64(len(rows)))), true
	}
	text, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(q.cursor, cursorMark))
	id, same := strings.CutPrefix(string(text), q.key+"\n")
	last := l.byID[id]
	if err != nil || !same || last == nil {
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
			values["next"] = cursorMark + base64.StdEncoding.EncodeToString([]byte(q.key+"\n"+rows[end-1].ID))
		}
	case ByOffset, Unpaged:
	}
	page = document{}
	for concept, value := range values {
		page.set(n.page[concept], value)
	}
	return page, hasNext
}

// ShiftRows makes n transactions arrive in front of all rows after each response that is not the last of its listing, so that
// the last n rows of a page are on the next page again. 0 ends it, as does [Server.Reset].
//
// Each arriving row is a copy of the first one, a millisecond newer (older if the oldest come first), with an ID of its own and
// no reference ID, unless the listing filters or sorts by it. It stays in listings, but is not in [Server.Sent]. If n is at
// least the page size, a listing does not end. ShiftRows panics if n is negative.
func (s *Server) ShiftRows(n int) {
	must(n >= 0, "ShiftRows(%d): the number of rows is negative", n)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger.shift = n
}

// RepeatPage makes the given number of list responses repeat the one before them, as a stale cache does. The first page of a
// listing is never a repetition, and is not counted. RepeatPage panics if times is negative; 0 ends it.
func (s *Server) RepeatPage(times int) {
	must(times >= 0, "RepeatPage(%d): the number of responses is negative", times)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger.repeats = times
}

// IgnoreFilter sets whether the server lists all rows, regardless of the filters of the request. The filters are still read,
// and refused if they are invalid. Order and paging stay.
func (s *Server) IgnoreFilter(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ignoreFilter = on
}

// SetLag delays the listing of messages until d has passed since [Sent.At], for messages in the ledger too. Both the time that
// really passes and the time of [Server.Advance] count.
func (s *Server) SetLag(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger.lag = d
	s.ledger.sorted = nil
}

// page returns the requested page, or reports false if its cursor is wrong.
func (s *Server) page(q listRequest) (document, bool) {
	applied := q.listing
	if s.ignoreFilter {
		applied = listing{key: fmt.Sprint("all rows ", q.sortBy, q.descending), sortBy: q.sortBy, descending: q.descending}
	}
	rows := s.ledger.list(applied)
	start, ok := q.start(&s.ledger, rows)
	if !ok {
		return nil, false
	}
	key := fmt.Sprint(q.paging, q.size, " ", q.key)
	page, hasNext := s.ledger.previous[key]
	if start > 0 && hasNext && s.ledger.repeats > 0 {
		s.ledger.repeats--
	} else {
		page, hasNext = q.cut(s.names.list, rows, start)
	}
	if hasNext {
		s.ledger.previous[key] = page
		s.shiftRows(applied, rows[0])
	}
	return page, true
}

// shiftRows lets rows arrive in front of the first.
func (s *Server) shiftRows(l listing, first *row) {
	for range s.ledger.shift {
		m := first.Sent
		m.ID = s.ledger.newID(ChannelSMS)
		if l.reference == "" && l.sortBy != "reference" {
			m.ReferenceID = ""
		}
		order, step := s.ledger.revision, time.Millisecond
		if !l.descending {
			order, step = -order, -step
		}
		if m.At = first.created; l.sortBy == "created" {
			m.At = m.At.Add(step)
		}
		first = newRow(m, order)
		first.foreign = true
		if !l.matches(first) {
			return
		}
		s.ledger.enter(first)
	}
}
