package integration_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/stretchr/testify/require"
)

// BenchmarkDir measures a folder of a hundred thousand documents beside one of a thousand.
func BenchmarkDir(b *testing.B) {
	thousand := newFolder(b, 1000)
	b.Run("list a thousand", func(b *testing.B) { thousand.list(b) })
	if testing.Short() {
		return
	}
	many := newFolder(b, 100_000)
	b.Run("list a hundred thousand", func(b *testing.B) { many.list(b) })
	b.Run("read/hundred-thousand-to-thousand", func(b *testing.B) { compare(b, thousand.read, many.read) })
}

// folder is a folder store under measurement.
type folder struct {
	store *docstore.Dir
	keys  []string
	next  int
}

// newFolder fills a folder past the store, which would wait for the disk at each document.
func newFolder(b *testing.B, documents int) *folder {
	b.Helper()
	root := b.TempDir()
	f := &folder{}
	for i := range documents {
		key := keyOf(fmt.Sprint(i))
		require.NoError(b, os.Mkdir(filepath.Join(root, key), 0o700))
		require.NoError(b, os.WriteFile(filepath.Join(root, key, "MEMORY.md"), noise(documentSize), 0o600))
		f.keys = append(f.keys, key)
	}
	var err error
	f.store, err = docstore.OpenDir(root, "MEMORY.md", nil)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, f.store.Close()) })
	return f
}

func (f *folder) read(t testing.TB) {
	f.next = (f.next + 7919) % len(f.keys)
	if _, _, err := f.store.Read(context.Background(), f.keys[f.next]); err != nil {
		t.Fatal(err)
	}
}

func (f *folder) list(b *testing.B) {
	for b.Loop() {
		if keys := listAll(b, f.store, 10_000); len(keys) != len(f.keys) {
			b.Fatalf("listed %d of %d", len(keys), len(f.keys))
		}
	}
}
