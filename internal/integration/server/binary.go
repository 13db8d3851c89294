package server

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// binary returns the path of the program called name: the newest that a pattern finds, else the one in PATH. Without one
// the server is missing.
func binary(t testing.TB, name string, patterns ...string) string {
	t.Helper()
	for _, pattern := range patterns {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return slices.Max(found)
		}
	}
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	missing(t, "%s is not installed: run internal/integration/install-servers.sh", name)
	return ""
}

// missing ends a test whose server cannot be started: failed when CI=true, skipped elsewhere.
func missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}
