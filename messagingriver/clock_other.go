//go:build !linux

package messagingriver

import "time"

// uptime returns the time since the process started.
func uptime() time.Duration { return processAge() }
