package redisstore

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPromptReturnsTheCallsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		want := errors.New("no")
		w := newWorkers()
		require.ErrorIs(t, w.prompt(context.Background(), func() error { return want }), want)
		require.ErrorIs(t, w.prompt(t.Context(), func() error { return want }), want)
		time.Sleep(2 * idleTime)
	})
}

func TestPromptLeavesACallThatOutlivesItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var returned atomic.Bool
		begun := time.Now()
		err := newWorkers().prompt(ctx, func() error { time.Sleep(time.Minute); returned.Store(true); return nil })
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(begun))
		time.Sleep(time.Hour)
		require.True(t, returned.Load())
	})
}

type timeout struct{}

func (timeout) Error() string   { return "i/o timeout" }
func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }

// TestPromptRecognizesTheDeadlineInANetworkTimeout guards clients that put the context's deadline on the connection.
func TestPromptRecognizesTheDeadlineInANetworkTimeout(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	require.ErrorIs(t, withContext(ctx, timeout{}), context.DeadlineExceeded)
	require.NoError(t, withContext(ctx, nil))

	later, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	require.Equal(t, timeout{}, withContext(later, timeout{}))
}

func TestWorkersEndWhenIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkers()
		running := 0
		for range 3 {
			done := make(chan struct{})
			w.run(func() { running++; close(done) })
			<-done
			synctest.Wait()
		}
		require.Equal(t, 3, running)
		select {
		case w.calls <- func() {}:
		default:
			t.Fatal("no worker waits for the next call")
		}
		time.Sleep(2 * idleTime)
		select {
		case w.calls <- func() {}:
			t.Fatal("a worker waits for ever")
		default:
		}
	})
}
