package messagingtest

import (
	"fmt"
	"time"
)

// ShiftRows lets n transactions arrive in front of all rows after each response that is not the last of its listing, so that
// the last n rows of a page are on the next page again. 0 ends it, as does [Server.Reset].
//
// Each arriving row is a copy of the first one, a millisecond newer (older if the oldest come first), with an ID of its own and
// no reference ID, unless the listing filters or sorts by it. It stays in listings, but is not in [Server.Sent]. With n of at
// least the page size, a listing does not end. ShiftRows panics if n is negative.
func (s *Server) ShiftRows(n int) {
	must(n >= 0, "ShiftRows(%d): the number of rows is negative", n)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger.shift = n
}

// RepeatPage lets the next list responses, as many as times says, repeat the one before them, as a stale cache does. The first
// page of a listing is never a repetition, and is not counted. RepeatPage panics if times is negative; 0 ends it.
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
	key := fmt.Sprint(q.size, " ", q.key)
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
		order, step := len(s.ledger.rows), time.Millisecond
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
