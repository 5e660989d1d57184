package messagingtest

import (
	"fmt"
	"math"
	"time"
)

// DefaultTTL is how long a chat-app message lives whose request has no ttl. That there is some default is likely, how
// long it is the specification does not show: this is the stand-in's choice.
const DefaultTTL = 24 * time.Hour

// clock is the time of the server. It is guarded by the server's mutex.
type clock struct {
	advanced time.Duration // what lifetimes and deliveries count: nothing but a test moves it
}

// now is the time that is shown.
func (c clock) now() time.Time { return time.Now().Add(c.advanced) }

// later adds two durations of at least zero, and stops at the largest.
func later(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Advance lets d pass on the server's clock. Before it returns, every chat-app message whose lifetime has ended by then,
// its delivery and its SMS fallback are as they are at that time: fallbacks enter the ledger in the order in which the
// lifetimes end, those that end together in the order of the ledger.
//
// Lifetimes and deliveries pass by Advance alone: a message with a ttl of one second is alive, however slow the test,
// until the server has been advanced by one second since it was accepted. At exactly that moment it has expired, unless
// it is delivered at that moment. Points of time ([Sent.At], [Sent.StateAt], and what a listing shows) are [time.Now]
// plus all that was advanced, so that the SMS of a fallback is dated the lifetime after the message that it replaces; and
// so it is for [Server.SetLag], for which real time passes too.
//
// A program that is no test, and wants time to pass by itself, calls Advance from a ticker. [Server.Reset] does not set
// the clock back. Advance panics if d is below zero; zero changes nothing.
func (s *Server) Advance(d time.Duration) {
	if d < 0 {
		panic(fmt.Sprintf("messagingtest: Advance(%v): time does not go back", d))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger.clock.advanced = later(s.ledger.clock.advanced, d)
	s.ledger.sendFallbacks()
}
