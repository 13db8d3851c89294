package docstore

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// testKey is a valid key.
var testKey = "memscope1_" + strings.Repeat("A", digestLength)

func openDir(t testing.TB, root string, opts *DirOptions) *Dir {
	t.Helper()
	d, err := OpenDir(root, "DOC.md", opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

func TestDirWritesAFileThatNobodyElseCanRead(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "new", "root")
	d := openDir(t, root, nil)

	version, err := d.Write(t.Context(), testKey, []byte("one"), "")
	require.NoError(t, err)

	content, err := os.ReadFile(filepath.Join(root, testKey, "DOC.md"))
	require.NoError(t, err)
	require.Equal(t, "one", string(content))
	for name, mode := range map[string]fs.FileMode{
		root: 0o700 | fs.ModeDir, filepath.Join(root, testKey): 0o700 | fs.ModeDir, filepath.Join(root, testKey, "DOC.md"): 0o600,
	} {
		info, err := os.Lstat(name)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode(), name)
	}

	require.NoError(t, d.Delete(t.Context(), testKey, version))
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	require.Empty(t, entries, "a deleted document leaves nothing behind")
}
