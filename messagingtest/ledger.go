package messagingtest

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

// Sent is one message that the server has processed. Texts and addresses are exactly those of the request.
type Sent struct {
	// ID is what the answer calls data.id. It is distinct among the messages of one server.
	ID string

	// From is the sender ID, To the recipient and Text the text of the message; none is empty.
	From, To, Text string

	// CallbackURL is where delivery is to be reported to, byte for byte. Empty if the request had none.
	CallbackURL string

	// ReferenceID is the reference that the client chose. Empty if the request had none. The server accepts the same
	// reference again and again, so that a message that is sent twice is seen twice.
	ReferenceID string

	// Parts is in how many parts the text travels, at least 1, by the server's own count: 160 characters of GSM-7 or
	// 70 units of UTF-16 in one part, 153 or 67 in each of several.
	Parts int

	// Extra holds the fields of the request that the default contract does not know, as raw JSON. The credentials
	// are not among them. Nil if there was none.
	Extra map[string]json.RawMessage

	// At is when the message was processed, which for [Slow] is before it was answered.
	At time.Time
}

// ledger is guarded by the server's mutex.
type ledger struct {
	requests int
	accepted int // ever: the number in the last ID
	sent     []Sent
	balance  balance
}

func newLedger() ledger {
	b, _ := parseBalance(firstBalance)
	return ledger{balance: b}
}

// accept pays for the message and enters it, or reports false if the balance is too small.
func (l *ledger) accept(m Sent) (smsReceipt, bool) {
	cost, ok := l.balance.pay(m.Parts)
	if !ok {
		return smsReceipt{}, false
	}
	l.accepted++
	m.ID = "msg-" + strconv.Itoa(l.accepted)
	m.At = time.Now()
	l.sent = append(l.sent, m)
	return receiptOf(m, cost, l.balance.String()), true
}

// Sent returns the messages that the server has processed since the start or the last [Server.Reset], in the order of
// processing. A message is there before its answer is written. The result is a copy, and nil if there is none.
func (s *Server) Sent() []Sent {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent := slices.Clone(s.ledger.sent)
	for i := range sent {
		sent[i].Extra = cloneFields(sent[i].Extra)
	}
	return sent
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
