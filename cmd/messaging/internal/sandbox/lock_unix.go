//go:build unix && !aix && !solaris

package sandbox

import (
	"errors"
	"os"
	"syscall"
)

// lock locks a file. It fails with errLocked if another process has locked it. The lock ends with the process, or with unlock.
func lock(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return os.NewSyscallError("flock", err) // some file systems have no locks
}

// unlock ends the lock of a file. To close the file is not enough: a child that is being started has a copy until its program begins.
func unlock(file *os.File) { _ = syscall.Flock(int(file.Fd()), syscall.LOCK_UN) }
