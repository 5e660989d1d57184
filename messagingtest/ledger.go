package messagingtest

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"time"
)

// row is a message in the ledger. The server's mutex guards it: SetOutcome changes it.
type row struct {
	Sent
	created    time.Time // At as listings show it: what a client reads, filters and sorts by must agree
	order      int       // breaks ties in every order
	sendStatus any       // as listings show it: that the message was accepted
	foreign    bool      // nobody sent it to this server: see ShiftRows
	taken      bool      // WaitFor has returned it

	revision int // of the ledger, when the row entered or its state changed

	// Times on the clock. The course is nil for an SMS, and for what was seeded.
	accepted time.Duration // where the course begins
	course   []step
	waits    bool // for its fallback, which is due
	due      time.Duration
	replaced bool // by its fallback
}

// at returns a copy of the message, in the state that it has by then.
func (r *row) at(advanced time.Duration) Sent {
	m := r.clone()
	for _, s := range r.course {
		if s.after <= advanced-r.accepted {
			m.State, m.StateAt = s.state, m.At.Add(s.after)
		}
	}
	return m
}

func (l *ledger) newRow(m Sent) *row {
	created, ok := l.times.parse(l.times.text(m.At))
	if !ok { // a layout without a day, say
		created = m.At
	}
	return &row{Sent: m, created: created, order: l.revision, sendStatus: l.sendStatus}
}

// ledger is guarded by the server's mutex.
type ledger struct {
	requests   int
	serial     int // ever: the number in the last ID
	balance    amount
	times      timeFormat // of listings
	sendStatus any        // of rows

	refuseDuplicates bool
	rows             []*row
	byID             map[string]*row
	byReference      map[string][]*row

	lag      time.Duration
	sorted   map[string][]*row // of the last listing, by its key, as long as it is true
	shift    int               // rows that arrive between two pages
	repeats  int               // list responses that are still to repeat the one before
	previous map[string]any    // by paging, page size and listing, the page before, unless it is the last

	advanced time.Duration       // what lifetimes and deliveries count
	outcomes map[string]Delivery // by recipient

	revision int           // counts what Changes yields
	changed  chan struct{} // closed by the next change
}

func (l *ledger) clear() {
	l.requests, l.shift, l.repeats = 0, 0, 0
	l.rows, l.sorted, l.previous = nil, nil, map[string]any{}
	l.byID, l.byReference = map[string]*row{}, map[string][]*row{}
}

// touch makes Changes yield a row.
func (l *ledger) touch(r *row) {
	l.revision++
	r.revision = l.revision
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *ledger) accept(m *submission) bool {
	if !l.pay(m.Parts) {
		return false
	}
	if m.ID == "" {
		m.ID = l.newID(m.Channel)
	}
	m.At, m.left = l.now(), l.balance
	r := l.newRow(m.Sent)
	l.enter(r)
	if m.Channel != ChannelSMS {
		l.setOutcome(r, l.outcomes[outcomeKey(r.To)])
	}
	return true
}

// pay takes the cost of the parts from the balance, or reports false if it is too small.
func (l *ledger) pay(parts int) bool {
	if l.balance < priceOf(parts) {
		return false
	}
	l.balance -= priceOf(parts)
	return true
}

func (l *ledger) newID(channel Channel) string {
	for {
		l.serial++
		id := "msg-" + strconv.Itoa(l.serial)
		if channel == ChannelChatApp2 {
			id = "wamid." + base64.StdEncoding.EncodeToString([]byte(id))
		}
		if l.byID[id] == nil {
			return id
		}
	}
}

func (l *ledger) enter(r *row) {
	l.rows = append(l.rows, r)
	l.byID[r.ID] = r
	if r.ReferenceID != "" {
		l.byReference[r.ReferenceID] = append(l.byReference[r.ReferenceID], r)
	}
	l.sorted = nil
	l.touch(r)
}

// RefuseDuplicates sets whether the server refuses a message whose reference ID a message in the ledger has, on any channel,
// with the HTTP status 409 and the code 200206. At the start it accepts them.
func (s *Server) RefuseDuplicates(on bool) { s.set(func() { s.ledger.refuseDuplicates = on }) }

// Sent returns copies of the messages that the server has processed since the start or the last [Server.Reset], in order of
// processing, including those of [Server.Seed] and the SMS of fallbacks. A message is there before its response is written.
func (s *Server) Sent() []Sent {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sent []Sent
	for _, r := range s.ledger.rows {
		if !r.foreign {
			sent = append(sent, r.at(s.ledger.advanced))
		}
	}
	return sent
}

// Seed puts copies of messages into the ledger, as if they had been accepted in this order. They cost nothing, and no request
// is counted. An absent ID, RequestID, At, Parts or Channel (an SMS) is filled in; everything else is taken as it is. A
// chat-app message keeps its State: it does not expire, and its fallback is not sent.
//
// Seed panics, and enters nothing, if an ID is in the ledger already or comes twice, if there is no such channel, or if a
// value of Extra is not JSON.
func (s *Server) Seed(messages ...Sent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	given := make(map[string]bool)
	for i, m := range messages {
		must(!given[m.ID] && s.ledger.byID[m.ID] == nil, "Seed: message %d: the ID %q is taken", i, m.ID)
		given[m.ID] = m.ID != ""
		must(m.Channel == "" || s.rules.Channels[m.Channel] != nil, "Seed: message %d: no such channel: %q", i, m.Channel)
		for name, value := range m.Extra {
			must(json.Valid(value), "Seed: message %d: the value of %q in Extra is not JSON", i, name)
		}
	}
	now := s.ledger.now()
	for _, m := range messages {
		m = m.clone()
		m.Channel = cmp.Or(m.Channel, ChannelSMS)
		for m.ID == "" {
			if id := s.ledger.newID(m.Channel); !given[id] { // a message further on may have it
				m.ID = id
			}
		}
		if m.RequestID == "" {
			m.RequestID = s.newRequestID()
		}
		m.At = cmp.Or(m.At, now)
		m.Parts = cmp.Or(m.Parts, countParts(m.Text))
		s.ledger.enter(s.ledger.newRow(m))
	}
}

// Changes yields a copy of every message in the ledger, then of each message as it enters and as its state changes, until the
// context ends.
func (s *Server) Changes(ctx context.Context) iter.Seq[Sent] {
	return func(yield func(Sent) bool) {
		for seen := 0; ; {
			var news []Sent
			s.mu.Lock()
			rows := slices.DeleteFunc(slices.Clone(s.ledger.rows), func(r *row) bool { return r.foreign || r.revision <= seen })
			slices.SortFunc(rows, func(a, b *row) int { return cmp.Compare(a.revision, b.revision) })
			for _, r := range rows {
				news = append(news, r.at(s.ledger.advanced))
			}
			seen = s.ledger.revision
			changed := s.ledger.changed
			s.mu.Unlock()
			for _, m := range news {
				if ctx.Err() != nil || !yield(m) {
					return
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-changed:
			}
		}
	}
}

// WaitFor returns the first message to a recipient that WaitFor has not returned before, and waits for it until the context
// ends. A number is the same with and without its leading +.
func (s *Server) WaitFor(ctx context.Context, to string) (Sent, error) {
	for m := range s.Changes(ctx) {
		isNew := false
		s.set(func() {
			if r := s.ledger.byID[m.ID]; r != nil && !r.taken && outcomeKey(m.To) == outcomeKey(to) {
				r.taken, isNew = true, true
			}
		})
		if isNew {
			return m, nil
		}
	}
	return Sent{}, fmt.Errorf("messagingtest: no message: %w", context.Cause(ctx))
}

// Drop removes the oldest n messages from the ledger, so that the memory of a server that runs for long stays bounded. Their
// fallbacks are not sent.
func (s *Server) Drop(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger.remove(0, min(max(n, 0), len(s.ledger.rows)))
}

// Remove removes one message from the ledger and reports whether it was there. Its fallback is not sent.
func (s *Server) Remove(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.ledger.rows, func(r *row) bool { return r.ID == id && !r.foreign })
	if i >= 0 {
		s.ledger.remove(i, i+1)
	}
	return i >= 0
}

// remove removes the rows from one place to before another.
func (l *ledger) remove(from, to int) {
	for _, r := range l.rows[from:to] {
		delete(l.byID, r.ID)
		same := slices.DeleteFunc(slices.Clone(l.byReference[r.ReferenceID]), func(other *row) bool { return other == r })
		if l.byReference[r.ReferenceID] = same; len(same) == 0 {
			delete(l.byReference, r.ReferenceID)
		}
	}
	l.rows, l.sorted, l.previous = slices.Concat(l.rows[:from], l.rows[to:]), nil, map[string]any{}
}
