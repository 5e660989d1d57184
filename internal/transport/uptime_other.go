//go:build !linux

package transport

import "time"

// uptime returns the seconds of the wall clock, which also counts the time for which the system was suspended. If it is set back at that
// moment, the suspension goes unnoticed.
func uptime() int64 { return time.Now().Unix() }
