package messagingtest

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A row is a message in the ledger. The server's mutex guards it.
type row struct {
	Sent
	timeline

	created    time.Time // At as listings show it: clients read, filter and sort by the same time
	order      int       // breaks ties in every order
	sendStatus any       // as listings show it: that the message was accepted
	isReturned bool      // by WaitFor
	revision   int       // of the ledger, when the row entered or its status changed
}

// at returns a copy of the message, with the status that it has at a time on the clock.
func (r *row) at(clock time.Duration) Sent {
	m := r.clone()
	for _, s := range r.stages {
		if s.after <= clock-r.accepted {
			m.Status = s.status
			m.StatusAt = m.At.Add(s.after)
		}
	}
	return m
}

// A ledger holds the messages that the server has processed. The server's mutex guards it.
type ledger struct {
	requests         int // since the start or the last Reset
	idPrefix         string
	serial           int // the number in the last ID
	balance          amount
	refuseDuplicates bool
	deliveries       map[string]Delivery // by recipient
	advanced         time.Duration       // the clock, which lifetimes and deliveries follow

	rows        []*row
	byID        map[string]*row
	byReference map[string][]*row

	// For listings.
	times      timeFormat
	sendStatus any // of new rows
	lag        time.Duration
	sorted     map[string][]*row // the rows of the last listing, by its key; nil if rows have changed

	revision int           // counts the changes that Changes yields
	changed  chan struct{} // closed by the next change
}

func newLedger() ledger {
	return ledger{
		idPrefix:    "msg-",
		balance:     firstBalance,
		deliveries:  map[string]Delivery{},
		byID:        map[string]*row{},
		byReference: map[string][]*row{},
		changed:     make(chan struct{}),
	}
}

func (l *ledger) clear() {
	l.requests = 0
	l.rows = nil
	l.sorted = nil
	clear(l.byID)
	clear(l.byReference)
}

func (l *ledger) newRow(m Sent) *row {
	created, ok := l.times.parse(l.times.text(m.At))
	if !ok { // the layout has no day, for example
		created = m.At
	}
	return &row{Sent: m, created: created, order: l.revision, sendStatus: l.sendStatus}
}

// touch makes Changes yield a row.
func (l *ledger) touch(r *row) {
	l.revision++
	r.revision = l.revision
	close(l.changed)
	l.changed = make(chan struct{})
}

// accept enters a message, or reports false if the balance is too small.
func (l *ledger) accept(m *submission) bool {
	if !l.pay(m.Parts) {
		return false
	}
	if m.ID == "" {
		m.ID = l.newID(m.Channel)
	}
	m.At = l.now()
	m.balance = l.balance
	r := l.newRow(m.Sent)
	l.enter(r)
	if m.Channel != channelSMS {
		l.setDelivery(r, l.deliveries[recipientKey(r.To)])
	}
	return true
}

// pay takes the cost of the parts from the balance, or reports false if the balance is too small.
func (l *ledger) pay(parts int) bool {
	price := priceOf(parts)
	if l.balance < price {
		return false
	}
	l.balance -= price
	return true
}

func (l *ledger) newID(channel string) string {
	for {
		l.serial++
		id := l.idPrefix + strconv.Itoa(l.serial)
		if channel == channelChatApp2 {
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

// remove removes a row.
func (l *ledger) remove(removed *row) {
	isRemoved := func(r *row) bool { return r == removed }
	l.rows = slices.DeleteFunc(slices.Clone(l.rows), isRemoved)
	l.sorted = nil
	delete(l.byID, removed.ID)
	others := slices.DeleteFunc(slices.Clone(l.byReference[removed.ReferenceID]), isRemoved)
	l.byReference[removed.ReferenceID] = others
	if len(others) == 0 {
		delete(l.byReference, removed.ReferenceID)
	}
}

// RefuseDuplicates sets whether the server refuses a message whose reference ID a message in the ledger has, on any channel,
// with the HTTP status 409 and, by the default contract, the code 200206. By default it accepts them.
func (s *Server) RefuseDuplicates(on bool) { s.set(func() { s.ledger.refuseDuplicates = on }) }

// Sent returns copies of the messages that the server has processed since the start or the last [Server.Reset], in order of
// processing, including those of [Server.Seed] and the SMS of fallbacks. A message is there before its response is written.
func (s *Server) Sent() []Sent {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sent []Sent
	for _, r := range s.ledger.rows {
		sent = append(sent, r.at(s.ledger.advanced))
	}
	return sent
}

// Seed puts copies of messages into the ledger, as if they had been accepted in this order. They cost nothing, and no request
// is counted. An absent ID, RequestID, At, Parts or Channel (SMS) is filled in, and so is the DeliveryStatus of an SMS with a Status; everything
// else is taken as it is. A chat-app message keeps its Status: it does not expire, and its fallback is not sent.
//
// Seed panics, and enters nothing, if an ID is in the ledger already or comes twice, if there is no such channel, if Price is not an
// amount, if a value of Extra or Row is not JSON, or if the contract does not use a name of Row.
func (s *Server) Seed(messages ...Sent) {
	_, err := s.enterSeeds(messages)
	panicUnless(err == nil, "Seed: %v", err)
}

// TrySeed is like [Server.Seed], for a program that is not a test. It returns copies of the messages as they are in the ledger, or an error
// where Seed panics. The error names the message by its index.
func (s *Server) TrySeed(messages ...Sent) ([]Sent, error) {
	entered, err := s.enterSeeds(messages)
	if err != nil {
		return nil, fmt.Errorf("messagingtest: %w", err)
	}
	return entered, nil
}

// enterSeeds enters copies of all messages and returns others, or enters none.
func (s *Server) enterSeeds(messages []Sent) ([]Sent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids, err := s.checkSeeds(messages)
	if err != nil {
		return nil, err
	}
	var entered []Sent
	for _, m := range messages {
		m = m.clone()
		s.completeSeed(&m, ids)
		s.ledger.enter(s.ledger.newRow(m))
		entered = append(entered, m.clone())
	}
	return entered, nil
}

// completeSeed fills in what a message lacks. ids are the IDs that are not free.
func (s *Server) completeSeed(m *Sent, ids map[string]bool) {
	m.Channel = cmp.Or(m.Channel, channelSMS)
	for m.ID == "" {
		id := s.ledger.newID(m.Channel)
		if !ids[id] { // otherwise a later message has this ID
			m.ID = id
		}
	}
	if m.RequestID == "" {
		m.RequestID = s.newRequestID()
	}
	m.At = cmp.Or(m.At, s.ledger.now())
	m.Parts = cmp.Or(m.Parts, countParts(m.Text))
	if m.Channel == channelSMS && m.Status != "" {
		m.DeliveryStatus = cmp.Or(m.DeliveryStatus, s.listedStatus(m.Status))
	}
}

// checkSeeds returns the IDs that the messages have, or the reason why a message cannot be seeded.
func (s *Server) checkSeeds(messages []Sent) (ids map[string]bool, err error) {
	ids = map[string]bool{}
	for i, m := range messages {
		if ids[m.ID] || s.ledger.byID[m.ID] != nil {
			return nil, fmt.Errorf("message %d: the ID %q is taken", i, m.ID)
		}
		if m.ID != "" {
			ids[m.ID] = true
		}
		if err := s.checkSeed(m); err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
	}
	return ids, nil
}

// checkSeed returns an error if a message has a value that it cannot have.
func (s *Server) checkSeed(m Sent) error {
	if m.Channel != "" && !isChannel(m.Channel) {
		return fmt.Errorf("no such channel: %q", m.Channel)
	}
	_, isAmount := parseAmount(m.Price)
	if m.Price != "" && !isAmount {
		return fmt.Errorf("the price is %q; want an amount with up to two decimals", m.Price)
	}
	for name, value := range m.Extra {
		if !json.Valid(value) {
			return fmt.Errorf("the value of %q in Extra is not JSON", name)
		}
	}
	for name, value := range m.Row {
		if names := s.rowNames(); !slices.Contains(names, name) {
			return fmt.Errorf("the name %q in Row is unknown; want names that the contract uses in rows (%s), and other names in Extra",
				name, strings.Join(names, ", "))
		}
		if !json.Valid(value) {
			return fmt.Errorf("the value of %q in Row is not JSON", name)
		}
	}
	return nil
}

// rowNames returns the names that Row may have, sorted: the first that the contract has for each concept, which a client prefers to the
// others, and those of errors.
func (s *Server) rowNames() []string {
	var paths []string
	for _, alternatives := range s.names.SMSList.Record {
		paths = append(paths, alternatives[:min(1, len(alternatives))]...)
	}
	paths = append(paths, slices.Collect(maps.Keys(s.names.SMSList.Only))...)
	paths = append(paths, s.names.Errors.Code...)
	paths = append(paths, s.names.Errors.Message...)
	var names []string
	for _, path := range paths {
		name, _, _ := strings.Cut(path, ".")
		if name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Changes yields a copy of every message in the ledger, then of each message as it enters and as its status changes, until the
// context ends.
func (s *Server) Changes(ctx context.Context) iter.Seq[Sent] {
	return func(yield func(Sent) bool) {
		revision := 0
		for {
			var news []Sent
			var changed chan struct{}
			s.set(func() {
				news = s.ledger.changedSince(revision)
				revision = s.ledger.revision
				changed = s.ledger.changed
			})
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

// changedSince returns copies of the messages that entered or changed after a revision, in order of their changes.
func (l *ledger) changedSince(revision int) []Sent {
	var rows []*row
	for _, r := range l.rows {
		if r.revision > revision {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b *row) int { return cmp.Compare(a.revision, b.revision) })
	var news []Sent
	for _, r := range rows {
		news = append(news, r.at(l.advanced))
	}
	return news
}

// WaitFor returns the first message to a recipient that WaitFor has not returned before, and waits for it until the context
// ends. A number is the same with and without its leading +.
func (s *Server) WaitFor(ctx context.Context, to string) (Sent, error) {
	for m := range s.Changes(ctx) {
		if recipientKey(m.To) == recipientKey(to) && s.markReturned(m.ID) {
			return m, nil
		}
	}
	return Sent{}, fmt.Errorf("messagingtest: no message: %w", context.Cause(ctx))
}

// markReturned reports whether WaitFor has not returned a message before.
func (s *Server) markReturned(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.ledger.byID[id]
	if r == nil || r.isReturned {
		return false
	}
	r.isReturned = true
	return true
}

// Remove removes a message from the ledger and reports whether it was there. Its fallback is not sent. A long-running
// program uses it to bound the memory of the server.
func (s *Server) Remove(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.ledger.byID[id]
	if r == nil {
		return false
	}
	s.ledger.remove(r)
	return true
}
