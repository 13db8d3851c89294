package docstore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/docstore/storetest"
)

func TestMemoryObeysTheRules(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(*testing.T) docstore.Store { return docstore.NewMemory() }, &storetest.Options{MaxBytes: 8 << 20})
}

func TestDirObeysTheRules(t *testing.T) {
	t.Parallel()
	roots := map[docstore.Store]string{}
	open := func(t *testing.T, root string) docstore.Store {
		d, err := docstore.OpenDir(root, "DOC.md", nil)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, d.Close()) })
		roots[d] = root
		return d
	}
	storetest.Run(t, func(t *testing.T) docstore.Store { return open(t, t.TempDir()) }, &storetest.Options{
		MaxBytes: docstore.DefaultMaxBytes,
		Bounded:  true,
		Reopen:   func(t *testing.T, store docstore.Store) docstore.Store { return open(t, roots[store]) },
	})
}
