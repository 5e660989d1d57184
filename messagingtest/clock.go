package messagingtest

import (
	"math"
	"time"
)

// DefaultTTL is the lifetime of a chat-app message whose request has no ttl.
const DefaultTTL = 24 * time.Hour

// now returns the time that messages are dated with.
func (l *ledger) now() time.Time { return time.Now().Add(l.advanced) }

// addDurations adds two durations of at least zero, and stops at the largest.
func addDurations(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Advance moves the server's clock by d. When it returns, messages have expired and fallbacks have been sent as they are due
// by then. Lifetimes and deliveries pass by Advance alone, so a test of a long ttl takes no time. Points of time, such as
// [Sent.At], are [time.Now] plus all that was advanced. Advance panics if d is negative.
func (s *Server) Advance(d time.Duration) {
	must(d >= 0, "Advance(%v): time does not go back", d)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger.advanced = addDurations(s.ledger.advanced, d)
	s.ledger.sendDueFallbacks()
}
