package redisstore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// prompt returns call's error, or ctx's as soon as ctx ends: the client waits for a reply up to its own timeout, whatever
// becomes of the context. An abandoned call goes on alone, and nothing it fills in may be looked at.
func (w *workers) prompt(ctx context.Context, call func() error) error {
	if ctx.Done() == nil {
		return call()
	}
	taken := w.take()
	taken.calls <- call
	select {
	case err := <-taken.results:
		w.giveBack(taken)
		return withContext(ctx, err)
	case <-ctx.Done():
		taken.end()
		return ctx.Err()
	}
}

// withContext makes err match the error of a context that has ended: a client that sets the deadline on its connection
// reports a timeout of the network, even a little before the context's own timer.
func withContext(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	ended := ctx.Err()
	if deadline, ok := ctx.Deadline(); ended == nil && ok && !time.Now().Before(deadline) && isTimeout(err) {
		ended = context.DeadlineExceeded
	}
	if ended == nil || errors.Is(err, ended) {
		return err
	}
	return fmt.Errorf("%w: %w", ended, err)
}

func isTimeout(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}
