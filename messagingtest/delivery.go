package messagingtest

import (
	"fmt"
	"strings"
	"time"
)

// A DeliveryState is how far a chat-app message has come. The specification shows no states: these words are the
// stand-in's, and among those that the default contract reads in delivery reports.
type DeliveryState string

// The states. A message that has expired may still be delivered, with [DeliverLate]; delivered and failed are final.
const (
	StateQueued    DeliveryState = "queued"    // waits for a recipient who cannot be reached
	StateSent      DeliveryState = "sent"      // is on its way
	StateDelivered DeliveryState = "delivered" // has reached the recipient
	StateFailed    DeliveryState = "failed"    // will not reach the recipient, which was clear at once
	StateExpired   DeliveryState = "expired"   // its lifetime has ended before it was delivered
)

type outcomeKind int

const (
	delivered outcomeKind = iota
	unreachable
	failed
	deliveredLate
)

// An Outcome is what becomes of a chat-app message after it was accepted, for [Server.SetDelivery]. The functions of this
// package make them. The zero Outcome is that of [Deliver]. Outcomes can be compared with ==.
type Outcome struct {
	kind  outcomeKind
	delay time.Duration
}

// Deliver delivers the message as soon as it is accepted, as every message for whose recipient nothing was set. No
// fallback is sent.
func Deliver() Outcome { return Outcome{} }

// DeliverAfter delivers the message when d has passed on the server's clock (see [Server.Advance]) since it was accepted;
// with d of zero or less, at once. Until then its state is sent. With d above its lifetime it expires, its fallback is
// sent, and it is never delivered. With d equal to it the message is delivered.
func DeliverAfter(d time.Duration) Outcome { return Outcome{delivered, max(d, 0)} }

// Unreachable never reaches the recipient: the message is queued until its lifetime ends, and then expires. Its fallback is
// sent at that moment. With that of a chat-app-1 message this is what the specification says of ttl.
func Unreachable() Outcome { return Outcome{kind: unreachable} }

// FailDelivery lets the delivery fail as soon as the message is accepted. The state is failed from then on, and stays so.
//
// The two chat apps differ in when the fallback applies, which is of the specification: on chat app 2 also when a
// delivery fails, so that it is sent at once; on chat app 1 only when the recipient is not reached within the ttl, so that
// it is sent when the lifetime ends.
func FailDelivery() Outcome { return Outcome{kind: failed} }

// DeliverLate lets the message expire, so that its fallback is sent, and yet reports it as delivered when d has passed
// since its lifetime ended; with d of zero or less, at that moment. Until the lifetime ends, its state is sent. The
// recipient gets both messages, and both are paid: what a receipt can mean that comes after the fallback has gone out.
func DeliverLate(d time.Duration) Outcome { return Outcome{deliveredLate, max(d, 0)} }

// String returns the name of the outcome with what it was made with, such as "Unreachable" or "DeliverAfter(2s)".
func (o Outcome) String() string {
	switch o.kind {
	case unreachable:
		return "Unreachable"
	case failed:
		return "FailDelivery"
	case deliveredLate:
		return "DeliverLate(" + o.delay.String() + ")"
	default:
		if o.delay == 0 {
			return "Deliver"
		}
		return "DeliverAfter(" + o.delay.String() + ")"
	}
}

// SetDelivery sets what becomes of the chat-app messages to a recipient that are accepted from now on, on both channels,
// until another outcome is set; [Server.Reset] forgets none. A message that was accepted before keeps its outcome. A
// number is the same with and without its leading +; any other recipient (a group, a user ID) is taken as it is.
//
// Nothing of this is told to the client, for which a message is accepted in any case; [Sent.State] shows it. An SMS has no
// outcome, neither one that was sent nor the one of a fallback. SetDelivery panics if the recipient is empty.
func (s *Server) SetDelivery(recipient string, outcome Outcome) {
	if recipient == "" {
		panic(fmt.Sprintf("messagingtest: SetDelivery(%q, %v): the recipient is empty", recipient, outcome))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ledger.outcomes == nil {
		s.ledger.outcomes = map[string]Outcome{}
	}
	s.ledger.outcomes[outcomeKey(recipient)] = outcome
}

func outcomeKey(recipient string) string {
	if isRecipient(recipient) {
		return strings.TrimPrefix(recipient, "+")
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

// state is how far the message is, and how long after it was accepted it came there.
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

// deliveredAfter is how long after it was accepted the message is delivered, if ever.
func (d delivery) deliveredAfter() (time.Duration, bool) {
	switch d.outcome.kind {
	case delivered:
		return d.outcome.delay, d.outcome.delay <= d.lifetime
	case deliveredLate:
		return later(d.lifetime, d.outcome.delay), true
	default:
		return 0, false
	}
}

// fallbackAfter is how long after the message was accepted its fallback applies, if ever.
func (d delivery) fallbackAfter() (time.Duration, bool) {
	if d.outcome.kind == failed && d.channel == ChannelChatApp2 {
		return 0, true
	}
	at, ok := d.deliveredAfter()
	return d.lifetime, !ok || d.outcome.kind == deliveredLate || at > d.lifetime
}
