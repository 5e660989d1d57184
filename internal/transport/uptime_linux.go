package transport

import "syscall"

// uptime returns for how many seconds the system has run, with the time for which it was suspended: CLOCK_BOOTTIME.
func uptime() int64 {
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) != nil {
		return 0
	}
	return int64(info.Uptime) //nolint:unconvert // an int32 on some
}
