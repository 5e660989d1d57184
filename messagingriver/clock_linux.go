package messagingriver

import (
	"time"

	"golang.org/x/sys/unix"
)

// uptime returns the time since the machine started. It continues while a process or the machine is suspended, and cannot be set.
func uptime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
