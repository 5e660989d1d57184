package messagingtest

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
)

// A cursor holds the listing that it belongs to and the last row before it. It begins with a character that means something
// else in a query, if it is not escaped.
const cursorMark = "&cursor="

// start returns the index of the first row of the page that is asked for, or reports false if its cursor is wrong.
func (q listing) start(l *ledger, t table.List, rows []*row) (int, bool) {
	if q.cursor == "" {
		skipped := int64(q.offset) + int64(q.number-t.Paging.First)*int64(q.size)
		return int(min(skipped, int64(len(rows)))), true
	}
	if _, inRow := t.CursorInLastRow(); len(inRow) > 0 {
		column := columns()[columnAt(t, inRow[0])]
		for i, r := range slices.Backward(rows) {
			if fmt.Sprint(l.shown(column(r), t)) == q.cursor {
				return i + 1, true
			}
		}
		return 0, false
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
func (q listing) cut(l *ledger, t table.List, rows []*row, start int) (page any, hasNext bool) {
	if t.Paging.By == "none" {
		q.size = len(rows)
	}
	end := min(start+q.size, len(rows))
	hasNext = end < len(rows)
	items, all := []any{}, columns()
	for _, r := range rows[start:end] {
		items = append(items, l.show(r, t, all))
	}
	values := map[string]any{"total": len(rows), "size": q.size, "hasNext": hasNext}
	switch t.Paging.By {
	case "page":
		values["pages"], values["number"], values["next"] = (len(rows)+q.size-1)/q.size, q.number, nil
		if hasNext {
			values["next"] = q.number + 1
		}
	case "cursor":
		values["next"] = nil
		if hasNext {
			values["next"] = cursorMark + base64.StdEncoding.EncodeToString([]byte(q.key+"\n"+rows[end-1].ID))
		}
	case "none":
		values = map[string]any{"total": len(rows)}
	}
	page, _ = place(nil, t.Items[0], items)
	paths, _ := t.CursorInLastRow()
	for _, concept := range slices.Sorted(maps.Keys(values)) {
		page = placeFirst(page, paths[concept], values[concept])
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
	s.set(func() { s.ledger.shift = n })
}

// RepeatPage makes the given number of list responses repeat the one before them, as a stale cache does. The first page of a
// listing is never a repetition, and is not counted. RepeatPage panics if times is negative; 0 ends it.
func (s *Server) RepeatPage(times int) {
	must(times >= 0, "RepeatPage(%d): the number of responses is negative", times)
	s.set(func() { s.ledger.repeats = times })
}

// IgnoreFilter sets whether the server lists all rows, regardless of the filters of the request. The filters are still read,
// and refused if they are invalid. Order and paging stay.
func (s *Server) IgnoreFilter(on bool) { s.set(func() { s.ignoreFilter = on }) }

// SetLag delays the listing of messages until d has passed since [Sent.At], for messages in the ledger too. Both the time that
// really passes and the time of [Server.Advance] count.
func (s *Server) SetLag(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger.lag = d
	s.ledger.sorted = nil
}

// page returns the requested page, or reports false if its cursor is wrong.
func (s *Server) page(q listing) (any, bool) {
	applied := q
	if s.ignoreFilter {
		applied.key, applied.filters, applied.reference = fmt.Sprint("all rows ", q.sortBy, q.descending), nil, ""
	}
	rows := s.ledger.list(applied)
	start, ok := q.start(&s.ledger, s.names.SMSList, rows)
	if !ok {
		return nil, false
	}
	key := fmt.Sprint(q.size, " ", q.key)
	page, hasNext := s.ledger.previous[key]
	if start > 0 && hasNext && s.ledger.repeats > 0 {
		s.ledger.repeats--
	} else {
		page, hasNext = q.cut(&s.ledger, s.names.SMSList, rows, start)
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
		sign := 1
		if !l.descending {
			sign = -1
		}
		if m.At = first.created; l.sortBy == "created" {
			m.At = m.At.Add(time.Duration(sign) * time.Millisecond)
		}
		first = s.ledger.newRow(m)
		first.foreign, first.order = true, sign*first.order
		if !l.matches(first) {
			return
		}
		s.ledger.enter(first)
	}
}
