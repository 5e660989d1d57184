package messagingriver

import (
	"time"

	"golang.org/x/sys/unix"
)

// uptime returns the time since the machine started. It continues while a process or the machine is suspended, and cannot be set. If the
// system refuses this clock, which it does on every call, uptime returns the time since the process started.
func uptime() time.Duration { return uptimeBy(unix.CLOCK_BOOTTIME) }

func uptimeBy(clock int32) time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(clock, &t) != nil {
		return processAge()
	}
	return time.Duration(t.Nano())
}
