package messagingtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A DeliveryState is how far a chat-app message has come.
type DeliveryState string

// The states. A message that has expired may still be delivered, with [DeliverLate]. Delivered and failed are final.
const (
	StateQueued    DeliveryState = "queued"    // waits for a recipient who cannot be reached
	StateSent      DeliveryState = "sent"      // is on its way
	StateDelivered DeliveryState = "delivered" // has reached the recipient
	StateFailed    DeliveryState = "failed"    // will not reach the recipient, which was clear at once
	StateExpired   DeliveryState = "expired"   // its lifetime ended before it was delivered
)

type outcomeKind string

const (
	delivered     outcomeKind = ""
	unreachable   outcomeKind = "Unreachable"
	failed        outcomeKind = "FailDelivery"
	deliveredLate outcomeKind = "DeliverLate"
)

// An Outcome is what becomes of a chat-app message after it was accepted, for [Server.SetDelivery]. The zero Outcome is
// [Deliver]. Outcomes can be compared with ==.
type Outcome struct {
	kind  outcomeKind
	delay time.Duration
}

// Deliver delivers the message at once.
func Deliver() Outcome { return Outcome{} }

// DeliverAfter delivers the message when d has passed on the server's clock, unless its lifetime is shorter.
func DeliverAfter(d time.Duration) Outcome { return Outcome{delivered, max(d, 0)} }

// Unreachable never reaches the recipient. The message is queued until it expires.
func Unreachable() Outcome { return Outcome{kind: unreachable} }

// FailDelivery lets the delivery fail at once. By the specification, the fallback follows at once on chat app 2, and on chat
// app 1 when the lifetime ends.
func FailDelivery() Outcome { return Outcome{kind: failed} }

// DeliverLate lets the message expire, and delivers it all the same when d has passed since.
func DeliverLate(d time.Duration) Outcome { return Outcome{deliveredLate, max(d, 0)} }

// String returns the name of the outcome with its argument, such as "Unreachable" or "DeliverAfter(2s)".
func (o Outcome) String() string {
	switch {
	case o.kind == deliveredLate:
		return fmt.Sprintf("DeliverLate(%v)", o.delay)
	case o.kind == delivered && o.delay > 0:
		return fmt.Sprintf("DeliverAfter(%v)", o.delay)
	default:
		return cmp.Or(string(o.kind), "Deliver")
	}
}

// SetDelivery sets the outcome of chat-app messages to a recipient that are accepted from now on; at the start it is
// [Deliver]. A number is the same with and without its leading +. The client is not told: [Sent.State] shows the outcome. An
// SMS has none. SetDelivery panics if the recipient is empty.
func (s *Server) SetDelivery(recipient string, outcome Outcome) {
	if recipient == "" {
		panic(fmt.Sprintf("messagingtest: SetDelivery(%q, %v): the recipient is empty", recipient, outcome))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger.outcomes[outcomeKey(recipient)] = outcome
}

func outcomeKey(recipient string) string {
	if number := plainNumber(recipient); isMobileNumber(number) {
		return strings.TrimPrefix(number, "+")
	}
	return recipient
}

// delivery is what becomes of one message. It never changes: how far the message is follows from the clock.
type delivery struct {
	outcome  Outcome
	lifetime time.Duration
	accepted time.Duration // on the clock
	channel  Channel
}

// state returns how far the message is, and how long after it was accepted it got there.
func (d delivery) state(advanced time.Duration) (DeliveryState, time.Duration) {
	elapsed := advanced - d.accepted
	if at, ok := d.deliveredAfter(); ok && elapsed >= at {
		return StateDelivered, at
	}
	switch {
	case d.outcome.kind == failed:
		return StateFailed, 0
	case elapsed >= d.lifetime:
		return StateExpired, d.lifetime
	case d.outcome.kind == unreachable:
		return StateQueued, 0
	default:
		return StateSent, 0
	}
}

// deliveredAfter returns how long after it was accepted the message is delivered, and reports whether it ever is.
func (d delivery) deliveredAfter() (time.Duration, bool) {
	switch d.outcome.kind {
	case delivered:
		return d.outcome.delay, d.outcome.delay <= d.lifetime
	case deliveredLate:
		return addDurations(d.lifetime, d.outcome.delay), true
	default:
		return 0, false
	}
}

// fallbackAfter returns how long after it was accepted the fallback of the message applies, and reports whether it ever does.
func (d delivery) fallbackAfter() (time.Duration, bool) {
	if d.outcome.kind == failed && d.channel == ChannelChatApp2 {
		return 0, true
	}
	_, reached := d.deliveredAfter()
	return d.lifetime, !reached || d.outcome.kind == deliveredLate
}

// fallback is the SMS that is to go out in place of a message.
type fallback struct {
	message *row
	due     time.Duration // on the clock
}

// scheduleFallback keeps the fallback of a message that was just accepted until it is due.
func (l *ledger) scheduleFallback(r *row) {
	if after, applies := r.delivery.fallbackAfter(); applies && r.FallbackFrom != "" {
		l.fallbacks = append(l.fallbacks, fallback{r, addDurations(r.delivery.accepted, after)})
		l.sendDueFallbacks()
	}
}

func (l *ledger) sendDueFallbacks() {
	var due []fallback
	l.fallbacks = slices.DeleteFunc(l.fallbacks, func(f fallback) bool {
		if f.due > l.clock.advanced {
			return false
		}
		due = append(due, f)
		return true
	})
	slices.SortStableFunc(due, func(a, b fallback) int { return cmp.Compare(a.due, b.due) })
	for _, f := range due {
		l.sendFallback(f)
	}
}

// sendFallback sends nothing if the balance is too small: there is nobody to be refused.
func (l *ledger) sendFallback(f fallback) {
	chat := f.message.Sent
	parts := countParts(chat.FallbackText)
	if _, ok := l.balance.pay(parts); !ok {
		return
	}
	l.enter(newRow(Sent{
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
		At:          chat.At.Add(f.due - f.message.delivery.accepted),
	}, len(l.rows)))
}
