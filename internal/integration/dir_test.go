package integration_test

import (
	"testing"
	"time"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/integration/worker"
	"github.com/stretchr/testify/require"
)

func init() { workers["dir"] = openDir }

func openDir(root string) (docstore.Store, error) { return docstore.OpenDir(root, "MEMORY.md", nil) }

// TestDir runs stores that share a folder in processes of their own.
func TestDir(t *testing.T) {
	t.Parallel()
	exercise(t, engine{
		open: func(t *testing.T, n int) []docstore.Store {
			root := t.TempDir()
			if n > 1 {
				return started(t, "dir "+root, n)
			}
			store, err := openDir(root)
			require.NoError(t, err)
			return []docstore.Store{store}
		},
		disturb: func(t *testing.T) *disturbance {
			root := t.TempDir()
			calm, err := openDir(root)
			require.NoError(t, err)
			return killed(t, "dir "+root, calm)
		},
	})
}

// started returns n stores in processes of their own.
func started(t *testing.T, description string, n int) []docstore.Store {
	stores := make([]docstore.Store, n)
	for i := range stores {
		stores[i] = worker.Start(t, description)
	}
	return stores
}

// killed returns stores whose processes are killed several times a second.
func killed(t *testing.T, description string, calm docstore.Store) *disturbance {
	d := &disturbance{calm: calm}
	var mortals []*worker.Mortal
	var stops []func()
	for range processes {
		mortal, stop := worker.StartMortal(t, description, 300*time.Millisecond)
		mortals = append(mortals, mortal)
		stops = append(stops, stop)
		d.stores = append(d.stores, mortal)
	}
	d.stop = func() {
		for _, stop := range stops {
			stop()
		}
	}
	d.count = func() int {
		deaths := 0
		for _, mortal := range mortals {
			deaths += mortal.Deaths()
		}
		return deaths
	}
	return d
}
