package messagingtest

import (
	"fmt"
	"time"
)

// listControls is how listings go, and go wrong. It is guarded by the server's mutex.
type listControls struct {
	paging       Paging
	ignoreFilter bool
	shift        int              // rows that arrive between two pages
	repeats      int              // answers that are still to repeat the one before
	repeated     map[division]int // the first row of the page that is being repeated
}

// division is a listing in pages of one size.
type division struct {
	listing
	size int
}

// forget ends what goes wrong for a while. What is set stays.
func (c *listControls) forget() {
	c.shift, c.repeats, c.repeated = 0, 0, nil
}

// ShiftRows lets n transactions arrive between any two pages of a listing, from now on until another number is set or the
// server is reset; 0 ends it. They come after each list answer that is not the last of its listing, whether the answer
// reaches the client or not, and they stand in front of all rows, so that the last n rows of a page are on the next page
// again. In a listing that is sorted by transactionId or requestId, which are new, they stand where those belong; and in
// one whose filter excludes their dates nothing arrives.
//
// Each is a copy of the first row, a millisecond later, or earlier if the oldest come first, with a transaction ID that
// begins with "shift-", a request ID of its own, and no reference ID unless the listing filters or sorts by it. They are
// not in [Server.Sent], for nobody sent them here, and stay in listings until the server is reset.
//
// A correct client that reads [ByPage] or [ByOffset] hands out each row that was there at the start once: it knows the
// rows that it has seen on the last pages. If n is the page size, each page repeats the first, and it ends with an error
// after two; above that each page is new, and the listing does not end. With [ByCursor] nothing shifts.
// ShiftRows panics if n is below zero.
func (s *Server) ShiftRows(n int) {
	if n < 0 {
		panic(fmt.Sprintf("messagingtest: ShiftRows(%d): the number of rows is below zero", n))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listing.shift = n
}

// RepeatPage lets the next list answers, as many as times says, repeat the answer before them, as a stale cache on the way
// does: the rows, and what the answer says about the page. The first page of a listing is never a repetition, and is not
// counted. The answer before is the one that the same listing got; if it got none, the page before the one that is
// asked for.
//
// A correct client passes over a page that brings only rows which it has seen, and ends the listing with an error, which
// names the paging of its contract, after two such pages in a row. What a repetition hides from a client that counts
// pages or rows it cannot know; with [ByCursor] nothing is lost, because the cursor is repeated too.
// RepeatPage panics if times is below zero; 0 ends it.
func (s *Server) RepeatPage(times int) {
	if times < 0 {
		panic(fmt.Sprintf("messagingtest: RepeatPage(%d): the number of answers is below zero", times))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listing.repeats, s.listing.repeated = times, nil
}

// IgnoreFilter lets the server list all rows, whatever the filters of the request say, or apply them, as it does at the
// start. They are still read, and refused if they are wrong; sorting and paging stay.
//
// A correct client that looks up a message takes no row for its own but one that bears the reference which it asked for:
// other rows settle nothing, and its verdict stays unknown.
func (s *Server) IgnoreFilter(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listing.ignoreFilter = on
}

// SetLag lets a message be listed only when d has passed since it was processed, by [time.Now] and [Sent.At]; with d of
// zero or less, at once, as at the start. [Server.Sent] shows it at once in any case. It applies to the messages that are in
// the ledger already, too: one that [Server.Seed] has dated back can be old enough. What [Server.Advance] lets pass counts,
// beside the time that really passes.
//
// A correct client that settles an unknown verdict asks again until its window has ended, and sends nothing before.
func (s *Server) SetLag(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger.lag = d
	s.ledger.views = nil // they list what the new lag may hide
}

func (s *Server) pagingKind() Paging {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listing.paging
}

// page finds the page that is asked for, or reports false if its cursor is not good.
func (s *Server) page(q listRequest) (page, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	applied := q.listing
	if s.listing.ignoreFilter {
		applied = applied.unfiltered()
	}
	rows := s.ledger.list(applied, s.ledger.clock.now())
	start, ok := q.start(&s.ledger, rows)
	if !ok {
		return page{}, false
	}
	p := q.cut(rows, start)
	if before, ok := s.listing.repeat(q, start); ok {
		p = q.cut(rows, before)
		p.number = before/q.size + 1
	}
	if p.hasNext() {
		s.shift(applied, rows[0])
	}
	return p, true
}

// shift lets rows arrive in front of the first.
func (s *Server) shift(l listing, first *row) {
	for range s.listing.shift {
		m := first.Sent
		m.ID = s.ledger.newShiftID()
		if l.request == "" {
			m.RequestID = s.newRequestID()
		}
		if l.reference == "" && l.column != columnReference {
			m.ReferenceID = ""
		}
		order := len(s.ledger.rows)
		step := time.Millisecond
		if !l.descending {
			order, step = -s.ledger.shifted, -step
		}
		if m.At = first.created; l.column == columnCreated {
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

// repeat says whether the page that begins at start is replaced by another, and where that begins.
func (c *listControls) repeat(q listRequest, start int) (before int, ok bool) {
	key := division{q.listing, q.size}
	if start == 0 || c.repeats == 0 {
		delete(c.repeated, key)
		return 0, false
	}
	c.repeats--
	if before, ok = c.repeated[key]; !ok {
		before = max(0, start-q.size)
		if q.paging == ByPage { // a page beyond the last begins anywhere
			before = (start - 1) / q.size * q.size
		}
	}
	if c.repeated == nil {
		c.repeated = map[division]int{}
	}
	c.repeated[key] = before
	return before, true
}
