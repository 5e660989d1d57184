//go:build !linux

package messagingriver

import "time"

var started = time.Now()

// uptime returns the time since the process started. Where a machine that is suspended stops this clock, what a process claimed
// before counts as claimed just now.
func uptime() time.Duration { return time.Since(started) }
