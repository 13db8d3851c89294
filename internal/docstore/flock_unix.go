//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package docstore

import (
	"os"
	"syscall"
)

// nonblock keeps an open from waiting when a pipe was put in the place of a document.
const nonblock = syscall.O_NONBLOCK

// tryLock takes the advisory lock of the open folder f, or returns false when somebody else holds it. The lock belongs to
// this opening of the folder, so it keeps goroutines apart as well as processes, and the system drops it when f is closed
// or the process dies.
func tryLock(f *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch err {
		case nil:
			return true, nil
		case syscall.EINTR:
			continue
		case syscall.EWOULDBLOCK:
			return false, nil
		}
		return false, os.NewSyscallError("flock", err)
	}
}

// unlock gives the lock back while f stays open.
func unlock(f *os.File) error {
	return os.NewSyscallError("flock", syscall.Flock(int(f.Fd()), syscall.LOCK_UN))
}
