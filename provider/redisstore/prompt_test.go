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
		var w workers
		require.ErrorIs(t, w.prompt(context.Background(), func() error { return want }), want)
		require.ErrorIs(t, w.prompt(t.Context(), func() error { return want }), want)
		time.Sleep(3 * idleTime)
	})
}

func TestPromptLeavesACallThatOutlivesItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var returned atomic.Bool
		var w workers
		begun := time.Now()
		err := w.prompt(ctx, func() error { time.Sleep(time.Minute); returned.Store(true); return nil })
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(begun))
		time.Sleep(time.Hour)
		require.True(t, returned.Load())
		require.Zero(t, kept(&w), "a worker that was left behind takes no other call")
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
