package messagingriver

import (
	"sync/atomic"
	"time"
)

// TestClock is the clock of a process, which a test can set. The zero value is the clock of the machine.
type TestClock struct{ ahead atomic.Int64 }

// Set sets by how much the clock is ahead of the clock of the machine.
func (c *TestClock) Set(ahead time.Duration) { c.ahead.Store(int64(ahead)) }

func (c *TestClock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// ForTests returns options with a clock, and with which River's maintenance begins without a random delay.
func ForTests(options Options, clock *TestClock) Options {
	options.now = clock.now
	options.startAtOnce = true
	return options
}
