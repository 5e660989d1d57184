//go:build unix && !aix && !solaris

package sandbox

import (
	"errors"
	"os"
	"syscall"
)

// lock locks a file. It fails with errKept if another process has locked it. The lock ends with the process, or when the file is
// closed.
func lock(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errKept
	}
	return os.NewSyscallError("flock", err) // some file systems have no locks
}
