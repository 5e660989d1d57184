package messagingriver

import "time"

// MaintainAtOnce has River's maintenance begin without a random delay, in all tests.
func MaintainAtOnce() { startsAtOnce = true }

// SetClock sets by how much the clock of the process is ahead of the machine's.
func (o *Outbox[TTx]) SetClock(ahead time.Duration) { o.process.ahead.Store(int64(ahead)) }
