package messagingtest

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
)

// A DeliveryState is how far a chat-app message has come.
type DeliveryState string

// The states. A message that has expired may still be delivered, with [DeliveryLate]. Read and failed are final, and so is
// delivered without [DeliveryRead].
const (
	StateQueued    DeliveryState = "queued"    // waits for a recipient who cannot be reached
	StateSent      DeliveryState = "sent"      // is on its way
	StateDelivered DeliveryState = "delivered" // has reached the recipient
	StateRead      DeliveryState = "read"      // and was read
	StateFailed    DeliveryState = "failed"    // will not reach the recipient, which was clear at once
	StateExpired   DeliveryState = "expired"   // its lifetime ended before it was delivered
)

// A Delivery is what becomes of a chat-app message after it was accepted, for [Server.SetDelivery]. The zero Delivery is
// [Deliver]. Outcomes can be compared with ==.
type Delivery struct {
	name  string // of the function that made it, unless it delivers in time
	delay time.Duration
}

// Deliver delivers the message at once.
func Deliver() Delivery { return Delivery{} }

// Read delivers the message at once, and the recipient reads it.
func DeliveryRead() Delivery { return Delivery{name: "Read"} }

// DeliverAfter delivers the message when d has passed on the server's clock, unless its lifetime is shorter.
func DeliveryAfter(d time.Duration) Delivery { return Delivery{delay: max(d, 0)} }

// Unreachable never reaches the recipient. The message is queued until it expires.
func DeliveryUnreachable() Delivery { return Delivery{name: "Unreachable"} }

// FailDelivery makes the delivery fail at once.
func DeliveryFailed() Delivery { return Delivery{name: "FailDelivery"} }

// DeliverLate lets the message expire, and delivers it all the same when d has passed since.
func DeliveryLate(d time.Duration) Delivery { return Delivery{"DeliverLate", max(d, 0)} }

// SetDelivery sets the outcome of chat-app messages to a recipient that are accepted from now on; at the start it is
// [Deliver]. A number is the same with and without its leading +. The client is not told: [Sent.State] shows the outcome. An
// SMS has none. SetDelivery panics if the recipient is empty.
func (s *Server) SetDelivery(recipient string, outcome Delivery) {
	must(recipient != "", "SetDelivery: the recipient is empty")
	s.set(func() { s.ledger.outcomes[outcomeKey(recipient)] = outcome })
}

// SetOutcome sets what becomes of one message in the ledger from now on, as [Server.SetDelivery] does for messages to come, and
// reports whether there is such a message. Its lifetime does not begin again. A fallback that was not sent yet is sent if and
// when it now applies. Unlike SetDelivery, it takes an SMS too, which lives for [DefaultTTL]. A listing shows the state of an SMS by the
// contract's own word.
func (s *Server) SetOutcome(id string, outcome Delivery) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.ledger.byID[id]
	if r == nil || r.foreign {
		return false
	}
	s.ledger.setOutcome(r, outcome)
	if r.Channel == ChannelSMS {
		r.DeliveryStatus, s.ledger.sorted = s.statusWord(r.at(s.ledger.advanced).State), nil
	}
	s.ledger.touch(r)
	return true
}

// statusWord returns the contract's word for a state: the state itself, if that is one, or the first.
func (s *Server) statusWord(state DeliveryState) string {
	statuses := s.names.WebhookDelivery.Statuses
	if meaning, _ := table.Meaning(statuses, string(state), true); meaning == string(state) {
		return meaning
	}
	return cmp.Or(firstWord(statuses[string(state)]), string(state))
}

func outcomeKey(recipient string) string {
	if number := plainNumber(recipient); isMobileNumber(number) {
		return strings.TrimPrefix(number, "+")
	}
	return recipient
}

// A step is a state of a message, and how long after it was accepted the message gets there.
type step struct {
	after time.Duration
	state DeliveryState
}

// course returns the steps of a message with this outcome, in order.
func (o Delivery) course(ttl time.Duration) []step {
	switch {
	case o.name == "FailDelivery":
		return []step{{0, StateFailed}}
	case o.name == "Read":
		return []step{{0, StateSent}, {0, StateDelivered}, {0, StateRead}}
	case o.name == "Unreachable":
		return []step{{0, StateQueued}, {ttl, StateExpired}}
	case o.name == "DeliverLate":
		return []step{{0, StateSent}, {ttl, StateExpired}, {addDurations(ttl, o.delay), StateDelivered}}
	case o.delay > ttl:
		return []step{{0, StateSent}, {ttl, StateExpired}}
	default:
		return []step{{0, StateSent}, {o.delay, StateDelivered}}
	}
}

// setOutcome sets what becomes of a message from now on: its course, and its fallback.
func (l *ledger) setOutcome(r *row, outcome Delivery) {
	if r.course == nil { // new, an SMS, or seeded
		r.accepted = l.advanced
	}
	passed := l.advanced - r.accepted
	left := max(0, cmp.Or(r.TTL, DefaultTTL)-passed)
	r.course = slices.DeleteFunc(r.course, func(s step) bool { return s.after > passed })
	isMissed, isAtOnce := false, left == 0
	for _, s := range outcome.course(left) {
		r.course = append(r.course, step{addDurations(passed, s.after), s.state})
		isMissed = isMissed || s.state == StateFailed || s.state == StateExpired
		isAtOnce = isAtOnce || s.state == StateFailed && r.Channel == ChannelChatApp2
	}
	r.due, r.waits = addDurations(l.advanced, left), isMissed && r.FallbackFrom != "" && !r.replaced
	if r.waits && isAtOnce {
		r.due = l.advanced
		l.sendFallback(r)
	}
}

// sendFallback sends the SMS of a message that is not delivered, or nothing if the balance is too small: there is nobody to be refused.
func (l *ledger) sendFallback(chat *row) {
	parts := countParts(chat.FallbackText)
	chat.waits, chat.replaced = false, l.pay(parts)
	if !chat.replaced {
		return
	}
	l.enter(l.newRow(Sent{
		ID:          l.newID(ChannelSMS),
		Channel:     ChannelSMS,
		Kind:        "text",
		From:        chat.FallbackFrom,
		To:          chat.To,
		Text:        chat.FallbackText,
		CallbackURL: chat.CallbackURL,
		ReferenceID: chat.ReferenceID,
		RequestID:   chat.RequestID,
		FallbackOf:  chat.ID,
		Parts:       parts,
		At:          chat.At.Add(chat.due - chat.accepted),
	}))
}

// DefaultTTL is the lifetime of a chat-app message whose request has no ttl.
const DefaultTTL = 24 * time.Hour

func (l *ledger) now() time.Time { return time.Now().Add(l.advanced) }

// addDurations adds two durations of at least zero, and stops at the largest.
func addDurations(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Advance moves the server's clock by d. When it returns, every message has expired and every fallback has been sent that was
// due by then. Points of time, such as [Sent.At], are [time.Now] plus everything advanced so far. Advance panics if d is
// negative.
func (s *Server) Advance(d time.Duration) {
	must(d >= 0, "Advance(%v): time does not go back", d)
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.ledger.advanced
	s.ledger.advanced = addDurations(before, d)
	var due []*row
	for _, r := range s.ledger.rows {
		if n := len(r.course); n > 0 && r.course[n-1].after > before-r.accepted { // not final before
			s.ledger.touch(r)
		}
		if r.waits && r.due <= s.ledger.advanced {
			due = append(due, r)
		}
	}
	slices.SortStableFunc(due, func(a, b *row) int { return cmp.Compare(a.due, b.due) })
	for _, r := range due {
		s.ledger.sendFallback(r)
	}
}
