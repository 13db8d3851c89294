//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd)

package docstore

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

const nonblock = 0

// tryLock fails, and OpenDir with it: without a lock that dies with its holder the folder store would lose documents.
func tryLock(*os.File) (bool, error) {
	return false, fmt.Errorf("locks on folders of %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

func unlock(*os.File) error { return nil }
