package messagingtest

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

// A Channel is one of the three by which the service sends.
type Channel string

// The channels.
const (
	ChannelSMS      Channel = "sms"
	ChannelChatApp1 Channel = "chatapp1"
	ChannelChatApp2 Channel = "chatapp2"
)

// Sent is one message that the server has processed. Texts and addresses are exactly those of the request.
//
// Where a field says nothing of a channel, it is the same on all three. The zero value of a field means that the message
// has nothing of the kind.
type Sent struct {
	// ID is what the answer calls data.id, or messages[0].id on chat app 2, and a listing transactionId. It is distinct
	// among the messages of one server. On chat app 2 it begins with "wamid.", as on Meta's platform.
	ID string

	// Channel is by which channel the message was sent. An SMS that replaces a chat-app message is one of [ChannelSMS].
	Channel Channel

	// Kind is what the message is: text for an SMS; text, image, video, call_to_action or template for chat app 1; for
	// chat app 2 the type of the body, such as text, image, template or interactive, and text where it has none. The
	// kinds of chat app 1 are of the specification, the words are the stand-in's; those of chat app 2 are Meta's.
	Kind string

	// From is the sender ID, To the recipient and Text the text of the message; of an SMS none is empty.
	//
	// On chat app 1 From is the channel ID, and Text empty for the kinds that have none. On chat app 2 From is empty,
	// for the body names no sender, To is its member to, or recipient where there is no to, and Text is the body of a
	// text message.
	From, To, Text string

	// CallbackURL is where delivery is to be reported to, byte for byte. Empty if the request had none.
	CallbackURL string

	// ReferenceID is the reference that the client chose. Empty if the request had none. The server accepts the same
	// reference again and again, so that a message that is sent twice is seen twice, unless [Server.RefuseDuplicates]
	// says otherwise.
	ReferenceID string

	// Parts is in how many parts the text travels, at least 1, by the server's own count: 160 characters of GSM-7 or
	// 70 units of UTF-16 in one part, 153 or 67 in each of several. A chat-app message is one part.
	Parts int

	// Body is the body of the request as it came, but without the credentials: where it held them, they are cut out,
	// together with the white space between the other members. Nil for the SMS of a fallback, which no request brought,
	// and for what [Server.Seed] has put there without one.
	Body json.RawMessage

	// TTL is the lifetime of a chat-app message as its request has it, in whole seconds. Zero if it has none: the
	// message lives for [DefaultTTL] then. The name ttl is of the specification, that it counts seconds a default of the
	// contract. Zero for an SMS.
	TTL time.Duration

	// FallbackFrom and FallbackText are the sender ID and the text of the SMS that is sent in place of a chat-app message
	// which is not delivered in time. Either both are empty or none is.
	FallbackFrom, FallbackText string

	// FallbackOf is the ID of the chat-app message in whose place this SMS was sent. It has the To, the ReferenceID, the
	// CallbackURL and the RequestID of that message. Empty if it replaces none.
	FallbackOf string

	// Template is the ID of the template of a chat-app-1 message, and the name of that of a chat-app-2 message.
	Template string

	// Category is what a chat-app-2 message is about; see [Server.RegisterTemplate]. Empty on the other channels.
	Category Category

	// Route is the way that a chat-app-2 message has gone; see [Server.SetMarketingRoute]. Empty on the other channels.
	Route Route

	// State is how far a chat-app message has come, and StateAt when it came there, by the server's clock at the moment
	// of the call of [Server.Sent]; see [Server.SetDelivery]. An SMS has no state: see DeliveryStatus.
	State   DeliveryState
	StateAt time.Time

	// Extra holds the fields of the request that neither the default contract nor, on chat app 2, the Meta-shaped payload
	// knows, as raw JSON. The credentials are not among them. Nil if there was none. A listing shows them as further members of the record, except for those
	// that bear the name of one of its own.
	Extra map[string]json.RawMessage

	// At is when the message was processed, which for [Slow] is before it was answered; for the SMS of a fallback, when
	// the fallback applied. It is of the server's clock, which is [time.Now] unless [Server.Advance] has moved it. A
	// listing shows it in whole milliseconds, cut off.
	At time.Time

	// RequestID is what the answer calls data.requestId, on chat app 2 nothing: the request that brought the message.
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

	clock     clock
	outcomes  map[string]Outcome // by recipient
	fallbacks []fallback         // not due yet, in the order of the ledger
}

func newLedger() ledger {
	b, _ := parseBalance(firstBalance)
	l := ledger{balance: b}
	l.clear()
	return l
}

func (l *ledger) clear() {
	l.requests = 0
	l.rows, l.views, l.fallbacks = nil, nil, nil
	l.byID, l.byReference = map[string]*row{}, map[string][]*row{}
}

// accept pays for the message and enters it, or reports false if the balance is too small.
func (l *ledger) accept(m Sent) (receipt, bool) {
	cost, ok := l.balance.pay(m.Parts)
	if !ok {
		return receipt{}, false
	}
	m.ID = l.newID(m.Channel)
	m.At = l.clock.now()
	told := receiptOf(m, cost, l.balance.String()) // before a fallback that goes out at once is paid
	r := newRow(m, len(l.rows))
	if m.Channel == ChannelSMS {
		l.enter(r)
		return told, true
	}
	r.delivery = &delivery{l.outcomes[outcomeKey(m.To)], cmp.Or(m.TTL, DefaultTTL), l.clock.advanced, m.Channel}
	l.enter(r)
	l.await(r)
	return told, true
}

// newID passes over an ID that a message from elsewhere bears already.
func (l *ledger) newID(channel Channel) string {
	for {
		l.accepted++
		id := "msg-" + strconv.Itoa(l.accepted)
		if channel == ChannelChatApp2 {
			id = "wamid." + base64.StdEncoding.EncodeToString([]byte(id))
		}
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

// RefuseDuplicates lets the server refuse a message whose reference ID is that of a message in the ledger, of any channel,
// or accept it, as it does at the start. A message without a reference ID is never a duplicate, and neither is the SMS of
// a fallback.
//
// The refusal has the code 200206, which is a default of the contract, and the HTTP status 409, which is the stand-in's
// choice, as is that the text is not compared. It costs nothing. A correct client's verdict is refused, in the class of
// duplicates; if it had sent the message before and lost the answer, it looks that message up.
func (s *Server) RefuseDuplicates(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger.refuseDuplicates = on
}

// Sent returns the messages of all channels that the server has processed since the start or the last [Server.Reset], in
// the order of processing, with those of [Server.Seed] and the SMS of fallbacks. A message is there before its answer is
// written. The result is a copy, and nil if there is none.
func (s *Server) Sent() []Sent {
	s.mu.Lock()
	rows, advanced := slices.Clip(s.ledger.rows), s.ledger.clock.advanced
	s.mu.Unlock()
	var sent []Sent
	for _, r := range rows { // which never change
		if !r.foreign {
			sent = append(sent, r.sent(advanced))
		}
	}
	return sent
}

// sent is a copy of the message as it is at a time of the clock.
func (r *row) sent(advanced time.Duration) Sent {
	m := r.clone()
	if r.delivery != nil {
		state, after := r.delivery.state(advanced)
		m.State, m.StateAt = state, m.At.Add(after)
	}
	return m
}

func (m Sent) clone() Sent {
	m.Extra = cloneFields(m.Extra)
	m.Body = slices.Clone(m.Body)
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
