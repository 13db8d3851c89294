//go:build unix

package docstore

import (
	"path/filepath"
	"syscall"
	"testing"

	"os"

	"github.com/stretchr/testify/require"
)

func TestDirDoesNotWaitForAPipe(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]string{
		"in the place of the document": filepath.Join(testKey, testFile),
		"in the place of the folder":   testKey,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			d := openDir(t, root, nil)
			pipe := filepath.Join(root, place)
			require.NoError(t, os.MkdirAll(filepath.Dir(pipe), 0o700))
			require.NoError(t, syscall.Mkfifo(pipe, 0o600))
			requireRefused(t, d)
		})
	}
}
