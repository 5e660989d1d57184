//go:build !linux

package messagingriver

import "time"

var started = time.Now()

// uptime returns the time since the process started. If a suspended machine stops this clock, the suspension does not count
// toward the age of a claim.
func uptime() time.Duration { return time.Since(started) }
