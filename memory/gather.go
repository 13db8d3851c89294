package memory

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"
)

// gather calls f for 0 to n-1 at once and waits for all of the calls, or for the end of ctx, which is an error matching
// ErrCancelled. What f writes may be read only if gather returned nil: otherwise calls may still be running, and their
// results are to be discarded.
func gather(ctx context.Context, n int, f func(i int)) error {
	if err := cancelled(ctx); err != nil {
		return err
	}
	done := make(chan struct{})
	go func() {
		defer close(done) // also when f ends its goroutine
		all(n, f)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	return cancelled(ctx)
}

// all calls f for 0 to n-1 at once and returns when every call has ended. f reports its own errors.
func all(n int, f func(i int)) {
	if n == 1 {
		f(0)
		return
	}
	var group errgroup.Group
	for i := range n {
		group.Go(func() error {
			f(i)
			return nil
		})
	}
	_ = group.Wait()
}

// cancelled returns an error matching ErrCancelled and the context's error and cause when ctx has ended, or else nil.
func cancelled(ctx context.Context) error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != err {
		return fmt.Errorf("%w: %w: %w", ErrCancelled, err, cause)
	}
	return fmt.Errorf("%w: %w", ErrCancelled, err)
}

// within calls f with a context that ends after the limit, and does not wait longer than that, even if f does. Being out of
// time is an error matching ErrTimeout. No limit is 0.
func within[T any](ctx context.Context, log *slog.Logger, limit time.Duration, f func(context.Context) (T, error)) (T, error) {
	if limit <= 0 {
		return caught(ctx, log, f)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, ErrTimeout)
	defer cancel()
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := caught(ctx, log, f)
		done <- result{value, err}
	}()
	var r result
	select {
	case r = <-done:
	case <-ctx.Done():
		r.err = ctx.Err()
	}
	if r.err != nil && context.Cause(ctx) == ErrTimeout {
		r.err = fmt.Errorf("%w after %s: %w", ErrTimeout, limit, r.err)
	}
	return r.value, r.err
}

// caught calls f, which is not ours, and turns a panic into an error.
func caught[T any](ctx context.Context, log *slog.Logger, f func(context.Context) (T, error)) (value T, err error) {
	defer recoverInto(ctx, log, &err)
	return f(ctx)
}

// recoverInto is deferred to turn a panic into a *PanicError. It is logged here because an error may go where nobody sees
// its stack: to the model, or, when it is late, nowhere. Neither the log nor the stack has the value, which may hold a
// memory.
func recoverInto(ctx context.Context, log *slog.Logger, err *error) {
	if value := recover(); value != nil {
		panicked := &PanicError{Value: value, Stack: debug.Stack()}
		*err = panicked
		log.ErrorContext(ctx, "memory: "+panicked.Error(), "stack", string(panicked.Stack))
	}
}
