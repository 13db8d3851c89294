package backendtest_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/filememory/backendtest"
	"github.com/recollect-go/recollect/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

func TestInMemoryObeysTheRules(t *testing.T) {
	t.Parallel()
	backendtest.Run(t, func(*testing.T) filememory.Backend { return filememory.InMemory() }, nil)
}

func TestDirObeysTheRules(t *testing.T) {
	t.Parallel()
	roots := map[filememory.Backend]string{}
	open := func(t *testing.T, root string) filememory.Backend {
		backend, err := filememory.Dir(root)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, backend.Close()) })
		roots[backend] = root
		return backend
	}
	backendtest.Run(t, func(t *testing.T) filememory.Backend { return open(t, t.TempDir()) }, &backendtest.Options{
		Bounded: true,
		Reopen:  func(t *testing.T, backend filememory.Backend) filememory.Backend { return open(t, roots[backend]) },
	})
}

// faulty is a backend behind a connection that can be cut.
type faulty struct {
	filememory.Backend

	mu      sync.Mutex
	cut     bool
	applied bool
}

func (f *faulty) Write(ctx context.Context, key string, content []byte, expected string) (string, error) {
	f.mu.Lock()
	cut, applied := f.cut, f.applied
	f.cut = false
	f.mu.Unlock()
	if !cut {
		return f.Backend.Write(ctx, key, content, expected)
	}
	if applied {
		if _, err := f.Backend.Write(ctx, key, content, expected); err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("%w: connection was cut", filememory.ErrUnknownOutcome)
}

func TestUnknownOutcomesAreProvokedByTheCallersFault(t *testing.T) {
	t.Parallel()
	backendtest.Run(t, func(*testing.T) filememory.Backend { return &faulty{Backend: filememory.InMemory()} }, &backendtest.Options{
		LoseReply: func(_ *testing.T, backend filememory.Backend, applied bool) {
			f := backend.(*faulty)
			f.mu.Lock()
			defer f.mu.Unlock()
			f.cut, f.applied = true, applied
		},
	})
}
