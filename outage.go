package messaging

import (
	"sync"
	"time"
)

// A tokenOutage is a time in which the messages of a SendAll get no token. They wait until it has lasted for MaxWait. Then it pauses: messages end
// not sent, and only after each pause do they ask for a token again.
type tokenOutage struct {
	mu       sync.Mutex
	since    time.Time // when the first attempt without a token began
	last     time.Time // when the last one ended; zero after the outage
	pauseEnd time.Time
	cause    error // of the pause
}

// record records an attempt that began at began and got no token for a cause. It returns how long the message waits for another attempt, or
// final. A pause is as long as the attempt before it, so that a token source that hangs takes no more than half of the time.
func (o *tokenOutage) record(began time.Time, cause error, maxWait time.Duration) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if now.Before(o.pauseEnd) {
		return final
	}
	if began.Sub(o.last) > maxWait {
		o.since = began
	}
	o.last = now
	lasted := now.Sub(o.since)
	if lasted < maxWait {
		return min(max(lasted, time.Second), maxWait-lasted) // twice as long each time
	}
	o.pauseEnd = now.Add(max(now.Sub(began), time.Second))
	o.cause = cause
	return final
}

// end ends the outage, because an attempt that began at began had a token.
func (o *tokenOutage) end(began time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if began.After(o.since) {
		o.last = time.Time{}
		o.pauseEnd = time.Time{}
	}
}

// paused returns why a message that begins now gets no token, or nil.
func (o *tokenOutage) paused() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if time.Now().Before(o.pauseEnd) {
		return o.cause
	}
	return nil
}
