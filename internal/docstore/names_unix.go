//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package docstore

import (
	"io/fs"
	"syscall"
)

// hasNoName reports whether the file system counts no name of what info describes: it was removed, and only those who
// opened it before still reach it.
func hasNoName(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink == 0
}
