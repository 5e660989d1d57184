package messagingtest

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

// Sent is one message that the server has processed. Texts and addresses are exactly those of the request.
type Sent struct {
	// ID is what the answer calls data.id, and a listing transactionId. It is distinct among the messages of one server.
	ID string

	// From is the sender ID, To the recipient and Text the text of the message; none is empty.
	From, To, Text string

	// CallbackURL is where delivery is to be reported to, byte for byte. Empty if the request had none.
	CallbackURL string

	// ReferenceID is the reference that the client chose. Empty if the request had none. The server accepts the same
	// reference again and again, so that a message that is sent twice is seen twice, unless [Server.RefuseDuplicates]
	// says otherwise.
	ReferenceID string

	// Parts is in how many parts the text travels, at least 1, by the server's own count: 160 characters of GSM-7 or
	// 70 units of UTF-16 in one part, 153 or 67 in each of several.
	Parts int

	// Extra holds the fields of the request that the default contract does not know, as raw JSON. The credentials
	// are not among them. Nil if there was none. A listing shows them as further members of the record, except for those
	// that bear the name of one of its own.
	Extra map[string]json.RawMessage

	// At is when the message was processed, which for [Slow] is before it was answered. A listing shows it in whole
	// milliseconds, cut off.
	At time.Time

	// RequestID is what the answer calls data.requestId: the request that brought the message.
	RequestID string

	// CategoryID is the category that a listing shows. A request of the default contract has none: it is empty unless
	// [Server.Seed] has set it.
	CategoryID string

	// SentAt is when the message went out, as a listing shows it. The server sends nothing: it is the zero time, shown
	// as null, unless [Server.Seed] has set it.
	SentAt time.Time

	// DeliveryStatus is what a listing shows as dlrStatus. Empty, shown as null, unless [Server.Seed] has set it.
	DeliveryStatus string
}

// ledger is guarded by the server's mutex.
type ledger struct {
	requests int
	accepted int // ever: the number in the last ID
	shifted  int // ever: the number in the last ID of a row that nobody sent
	balance  balance

	refuseDuplicates bool

	rows        []*row // only ever appended to, until all of it is cleared
	byID        map[string]*row
	byReference map[string][]*row
	views       []*view // the latest first
	lag         time.Duration
}

func newLedger() ledger {
	b, _ := parseBalance(firstBalance)
	l := ledger{balance: b}
	l.clear()
	return l
}

func (l *ledger) clear() {
	l.requests = 0
	l.rows, l.views = nil, nil
	l.byID, l.byReference = map[string]*row{}, map[string][]*row{}
}

// accept pays for the message and enters it, or reports false if the balance is too small.
func (l *ledger) accept(m Sent) (smsReceipt, bool) {
	cost, ok := l.balance.pay(m.Parts)
	if !ok {
		return smsReceipt{}, false
	}
	m.ID = l.newID()
	m.At = time.Now()
	l.enter(newRow(m, len(l.rows)))
	return receiptOf(m, cost, l.balance.String()), true
}

// newID passes over an ID that a message from elsewhere bears already.
func (l *ledger) newID() string {
	for {
		l.accepted++
		id := "msg-" + strconv.Itoa(l.accepted)
		if l.byID[id] == nil {
			return id
		}
	}
}

func (l *ledger) newShiftID() string {
	for {
		l.shifted++
		id := "shift-" + strconv.Itoa(l.shifted)
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
}

func (l *ledger) isDuplicate(m Sent) bool {
	return l.refuseDuplicates && len(l.byReference[m.ReferenceID]) > 0
}

// RefuseDuplicates lets the server refuse a message whose reference ID is that of a message in the ledger, or accept it,
// as it does at the start. A message without a reference ID is never a duplicate.
//
// The refusal has the code 200206, which is a default of the contract, and the HTTP status 409, which is the stand-in's
// choice, as is that the text is not compared. It costs nothing. A correct client's verdict is refused, in the class of
// duplicates; if it had sent the message before and lost the answer, it looks that message up.
func (s *Server) RefuseDuplicates(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger.refuseDuplicates = on
}

// Sent returns the messages that the server has processed since the start or the last [Server.Reset], in the order of
// processing, with those of [Server.Seed]. A message is there before its answer is written. The result is a copy, and nil
// if there is none.
func (s *Server) Sent() []Sent {
	s.mu.Lock()
	rows := slices.Clip(s.ledger.rows)
	s.mu.Unlock()
	var sent []Sent
	for _, r := range rows { // which never change
		if !r.foreign {
			sent = append(sent, r.clone())
		}
	}
	return sent
}

func (m Sent) clone() Sent {
	m.Extra = cloneFields(m.Extra)
	return m
}

func cloneFields(fields map[string]json.RawMessage) map[string]json.RawMessage {
	if fields == nil {
		return nil
	}
	clone := make(map[string]json.RawMessage, len(fields))
	for name, value := range fields {
		clone[name] = slices.Clone(value)
	}
	return clone
}
