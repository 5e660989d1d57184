//go:build unix && !aix && !solaris

package sandbox

import (
	"os"
	"syscall"
)

// lock locks a file, or fails if another process has locked it. The lock ends with the process, or when the file is closed.
func lock(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
