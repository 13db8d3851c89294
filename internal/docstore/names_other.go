//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd)

package docstore

import "io/fs"

// hasNoName is never asked here, where OpenDir fails.
func hasNoName(fs.FileInfo) bool { return false }
