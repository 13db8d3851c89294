package rest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Retry says how often and when a call is tried again. The zero value means the defaults.
type Retry struct {
	// Attempts is how many requests one call makes at most. 0 means 4; 1 means no retry.
	Attempts int
	// FirstDelay is the wait before the second request. It doubles before each further one, and up to a quarter is taken off at
	// random. 0 means 500 ms.
	FirstDelay time.Duration
	// MaxDelay is the longest wait. A service that asks for a longer one is not waited for: the error says how long. 0 means
	// 8 s.
	MaxDelay time.Duration
}

const (
	defaultAttempts   = 4
	defaultFirstDelay = 500 * time.Millisecond
	defaultMaxDelay   = 8 * time.Second
)

// Normalize returns r with its defaults, or an error that lists every negative field.
func (r Retry) Normalize() (Retry, error) {
	var problems []error
	if r.Attempts < 0 {
		problems = append(problems, errors.New("retry attempts are negative"))
	}
	if r.FirstDelay < 0 || r.MaxDelay < 0 {
		problems = append(problems, errors.New("a retry delay is negative"))
	}
	if r.Attempts == 0 {
		r.Attempts = defaultAttempts
	}
	if r.FirstDelay == 0 {
		r.FirstDelay = defaultFirstDelay
	}
	if r.MaxDelay == 0 {
		r.MaxDelay = defaultMaxDelay
	}
	return r, errors.Join(problems...)
}

// Verdict is what an attempt says about the next one.
type Verdict struct {
	Again bool          // the same request may be sent again
	After time.Duration // but not before this time has passed; 0 when the service did not say
}

// Do calls attempt with 0, 1, 2, … until it returns nil or a verdict against another one, or the attempts are used up, and
// returns its last error. When ctx ends during a wait the error matches both ctx.Err() and that error. A wait that would
// outlast ctx's deadline is not begun.
func (r Retry) Do(ctx context.Context, attempt func(n int) (Verdict, error)) error {
	for n := 0; ; n++ {
		verdict, err := attempt(n)
		if err == nil || !verdict.Again || n+1 >= r.Attempts || ctx.Err() != nil {
			return err
		}
		delay := max(r.delay(n), verdict.After)
		if verdict.After > r.MaxDelay || outlasts(ctx, delay) {
			return err
		}
		if ended := Wait(ctx, delay); ended != nil {
			return fmt.Errorf("%w; not tried again: %w", err, ended)
		}
	}
}

func (r Retry) delay(n int) time.Duration {
	delay := min(r.FirstDelay, r.MaxDelay)
	for range n {
		if delay > r.MaxDelay/2 {
			delay = r.MaxDelay
			break
		}
		delay *= 2
	}
	return delay - time.Duration(rand.Float64()*0.25*float64(delay))
}

func outlasts(ctx context.Context, delay time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) < delay
}

// Wait returns nil after d, or ctx.Err() as soon as ctx ends.
func Wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
