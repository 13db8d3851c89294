package integration_test

import (
	"testing"

	"github.com/recollect-go/recollect/internal/docstore"
)

func TestInMemory(t *testing.T) {
	t.Parallel()
	exercise(t, engine{open: func(_ *testing.T, n int) []docstore.Store {
		return repeated(docstore.NewMemory(), n)
	}})
}

// repeated returns one store n times, for an engine that lives in one process.
func repeated(store docstore.Store, n int) []docstore.Store {
	stores := make([]docstore.Store, n)
	for i := range stores {
		stores[i] = store
	}
	return stores
}
