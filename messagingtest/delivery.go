package messagingtest

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

// defaultTTL is the lifetime of a message whose request has no ttl, and of an SMS.
const defaultTTL = 24 * time.Hour

// A Delivery is what becomes of a message after it was accepted, for [Server.SetDelivery]. The zero Delivery delivers the message
// at once. Deliveries can be compared with ==.
type Delivery struct {
	kind  deliveryKind
	delay time.Duration
}

type deliveryKind int

const (
	deliveryInTime deliveryKind = iota
	deliveryRead
	deliveryLate
	deliveryFailed
	deliveryUnreachable
)

// DeliveryRead delivers the message at once, and the recipient reads it.
func DeliveryRead() Delivery { return Delivery{kind: deliveryRead} }

// DeliveryAfter delivers the message when d has passed on the server's clock. If the message expires first, it is not delivered.
func DeliveryAfter(d time.Duration) Delivery { return Delivery{}.After(d) }

// DeliveryLate lets the message expire, and delivers it nevertheless when d has passed since.
func DeliveryLate(d time.Duration) Delivery { return Delivery{kind: deliveryLate}.After(d) }

// DeliveryFailed makes the delivery fail at once.
func DeliveryFailed() Delivery { return Delivery{kind: deliveryFailed} }

// DeliveryUnreachable never reaches the recipient. The message is queued until it expires.
func DeliveryUnreachable() Delivery { return Delivery{kind: deliveryUnreachable} }

// After returns the delivery with a delay, which replaces an earlier one: the message is sent at once, and is delivered, is read or fails
// when delay has passed on the server's clock. If it expires first, it stays expired. The delay of [DeliveryLate] begins when the message
// expires. A negative delay is zero.
//
// After panics for [DeliveryUnreachable].
func (d Delivery) After(delay time.Duration) Delivery {
	panicUnless(d.kind != deliveryUnreachable, "After: a message that is never delivered has no delay")
	d.delay = max(delay, 0)
	return d
}

// SetDelivery sets what becomes of chat-app messages to a recipient that are accepted from now on. Without it they are delivered
// at once. A number is the same with and without its leading +. The client is not told: [Sent.Status] shows the status. SMS are not
// affected. SetDelivery panics if the recipient is empty.
func (s *Server) SetDelivery(recipient string, delivery Delivery) {
	panicUnless(recipient != "", "SetDelivery: the recipient is empty")
	s.set(func() { s.ledger.deliveries[recipientKey(recipient)] = delivery })
}

// SetMessageDelivery sets what becomes of one message in the ledger from now on, and reports whether there is such a message. Its
// lifetime does not begin again. A fallback that was not sent yet is sent if and when it now applies. Unlike SetDelivery, it
// applies to an SMS too, which lives for 24 hours. A listing shows the status of an SMS by the contract's own word.
func (s *Server) SetMessageDelivery(id string, delivery Delivery) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.ledger.byID[id]
	if r == nil {
		return false
	}
	s.ledger.setDelivery(r, delivery)
	s.updateStatus(r)
	return true
}

// updateStatus shows the status that a message has now, in listings and in Changes.
func (s *Server) updateStatus(r *row) {
	if r.Channel == channelSMS {
		status := r.at(s.ledger.advanced).Status
		r.DeliveryStatus = s.listedStatus(status)
		s.ledger.sorted = nil
	}
	s.ledger.touch(r)
}

// listedStatus returns the contract's word for a status, or the status itself if the contract has none.
func (s *Server) listedStatus(status contract.Status) string {
	words := s.names.WebhookDelivery.Statuses
	if meaning, _ := table.Meaning(words, string(status), true); meaning == string(status) {
		return meaning
	}
	return cmp.Or(firstWord(words[string(status)]), string(status))
}

// recipientKey returns the same text for all ways to write a number.
func recipientKey(recipient string) string {
	number := plainNumber(recipient)
	if isMobileNumber(number) {
		return strings.TrimPrefix(number, "+")
	}
	return recipient
}

// A stage is a status of a message, and how long after it was accepted the message reaches it.
type stage struct {
	after  time.Duration
	status contract.Status
}

// stages returns the stages of a message that lives for ttl, in order.
func (d Delivery) stages(ttl time.Duration) []stage {
	sent := stage{0, contract.StatusSent}
	expired := stage{ttl, contract.StatusExpired}
	delivered := stage{d.delay, contract.StatusDelivered}
	switch {
	case d.kind == deliveryUnreachable:
		return []stage{{0, contract.StatusQueued}, expired}
	case d.kind == deliveryLate:
		delivered.after = addDurations(ttl, d.delay)
		return []stage{sent, expired, delivered}
	case d.delay > ttl:
		return []stage{sent, expired}
	case d.kind == deliveryFailed:
		return []stage{sent, {d.delay, contract.StatusFailed}}
	case d.kind == deliveryRead:
		return []stage{sent, delivered, {d.delay, contract.StatusRead}}
	default:
		return []stage{sent, delivered}
	}
}

// A timeline is what becomes of a row. Times are on the server's clock. It is empty for an SMS and for a seeded row.
type timeline struct {
	accepted time.Duration // when it begins
	stages   []stage

	isFallbackPending bool
	fallbackDue       time.Duration
	isFallbackSent    bool
}

// setDelivery sets what becomes of a message from now on: its stages, and its fallback.
func (l *ledger) setDelivery(r *row, delivery Delivery) {
	if r.stages == nil { // a new row, an SMS, or a seeded row
		r.accepted = l.advanced
	}
	age := l.advanced - r.accepted
	left := max(0, cmp.Or(r.TTL, defaultTTL)-age)
	next := delivery.stages(left)
	r.stages = slices.DeleteFunc(r.stages, func(s stage) bool { return s.after > age })
	for _, s := range next {
		r.stages = append(r.stages, stage{addDurations(age, s.after), s.status})
	}

	r.fallbackDue = addDurations(l.advanced, left)
	if delivery.kind == deliveryFailed && r.Channel == channelChatApp2 {
		r.fallbackDue = addDurations(l.advanced, min(delivery.delay, left))
	}
	r.isFallbackPending = misses(next) && r.FallbackFrom != "" && !r.isFallbackSent
	if r.isFallbackPending && r.fallbackDue <= l.advanced {
		l.sendFallback(r)
	}
}

// misses reports whether a message fails or expires.
func misses(stages []stage) bool {
	return slices.ContainsFunc(stages, func(s stage) bool {
		return s.status == contract.StatusFailed || s.status == contract.StatusExpired
	})
}

// sendFallback sends the SMS of a message that is not delivered. If the balance is too small, it sends nothing.
func (l *ledger) sendFallback(chat *row) {
	parts := countParts(chat.FallbackText)
	chat.isFallbackPending = false
	chat.isFallbackSent = l.pay(parts)
	if !chat.isFallbackSent {
		return
	}
	l.enter(l.newRow(Sent{
		ID:          l.newID(channelSMS),
		Channel:     channelSMS,
		Kind:        "text",
		From:        chat.FallbackFrom,
		To:          chat.To,
		Text:        chat.FallbackText,
		CallbackURL: chat.CallbackURL,
		ReferenceID: chat.ReferenceID,
		RequestID:   chat.RequestID,
		FallbackOf:  chat.ID,
		Parts:       parts,
		At:          chat.At.Add(chat.fallbackDue - chat.accepted),
	}))
}

func (l *ledger) now() time.Time { return time.Now().Add(l.advanced) }

// addDurations adds two durations of at least zero, and stops at the largest.
func addDurations(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Advance moves the server's clock by d. When it returns, every message has expired and every fallback has been sent that was
// due by then. Points of time, such as [Sent.At], are [time.Now] plus everything advanced so far. Advance panics if d is negative.
func (s *Server) Advance(d time.Duration) {
	panicUnless(d >= 0, "Advance(%v): the duration is negative", d)
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.ledger.advanced
	s.ledger.advanced = addDurations(before, d)
	var due []*row
	for _, r := range s.ledger.rows {
		if r.changesWithin(before, s.ledger.advanced) {
			s.updateStatus(r)
		}
		if r.isFallbackPending && r.fallbackDue <= s.ledger.advanced {
			due = append(due, r)
		}
	}
	slices.SortStableFunc(due, func(a, b *row) int { return cmp.Compare(a.fallbackDue, b.fallbackDue) })
	for _, r := range due {
		s.ledger.sendFallback(r)
	}
}

// changesWithin reports whether the message reaches a stage after the time from on the clock, and no later than the time to.
func (t timeline) changesWithin(from, to time.Duration) bool {
	return slices.ContainsFunc(t.stages, func(s stage) bool {
		return s.after > from-t.accepted && s.after <= to-t.accepted
	})
}
