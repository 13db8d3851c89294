package server

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// binary returns the path of the program called name: the newest that a pattern finds, else the one in PATH. Without one it ends the
// test: failed when CI=true, skipped elsewhere.
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
	missing := t.Skipf
	if os.Getenv("CI") == "true" {
		missing = t.Fatalf
	}
	missing("%s is not installed: run internal/integration/install-servers.sh", name)
	return ""
}
