//go:build unix

package docstore

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

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
			requireListed(t, d, root)
		})
	}
}

func TestDirLooksAtThePathWhereTheFileSystemCountsNoNames(t *testing.T) {
	t.Parallel()
	d := openDir(t, t.TempDir(), nil)
	info, err := d.self.Stat()
	require.NoError(t, err)
	require.False(t, d.wasRemoved(info))
	info.Sys().(*syscall.Stat_t).Nlink = 0
	require.False(t, d.wasRemoved(info), "the path leads to the root")
	d.path = t.TempDir()
	require.True(t, d.wasRemoved(info), "the path leads elsewhere")
}
