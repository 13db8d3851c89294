package redisstore

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWorkersRunTheNextCallOnTheSameGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w workers
		first := w.take()
		w.giveBack(first)
		require.Same(t, first, w.take())
		second := w.take()
		require.NotSame(t, first, second, "the first one has a call")
		first.end()
		second.end()
		time.Sleep(2 * idleTime)
	})
}

// TestWorkersEndWhenIdle relies on the bubble, which fails when a goroutine in it does not end.
func TestWorkersEndWhenIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w workers
		runTogether(t, &w, 3)
		require.Equal(t, 3, kept(&w))
		time.Sleep(2*idleTime + 1)
		synctest.Wait()
		require.Zero(t, kept(&w))
	})
}

func TestWorkersKeepAsManyAsAreNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w workers
		runTogether(t, &w, 8)
		for range 10 {
			runTogether(t, &w, 2)
			time.Sleep(idleTime)
		}
		require.Equal(t, 2, kept(&w))
		time.Sleep(3 * idleTime)
	})
}

// runTogether makes a number of calls of which none ends before all have begun.
func runTogether(t *testing.T, w *workers, calls int) {
	t.Helper()
	var begun, ended sync.WaitGroup
	begun.Add(calls)
	for range calls {
		ended.Go(func() {
			err := w.prompt(t.Context(), func() error { begun.Done(); begun.Wait(); return nil })
			assert.NoError(t, err)
		})
	}
	ended.Wait()
}

func kept(w *workers) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.idle)
}
