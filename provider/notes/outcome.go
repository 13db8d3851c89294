package notes

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

const (
	// attempts bounds how often a transaction that PostgreSQL gave up in favour of another is run again. It does not bound
	// the wait for a locked SQLite database, which is the context's to end.
	attempts = 8

	firstWait   = time.Millisecond
	longestWait = 32 * time.Millisecond
)

// retry runs f again as long as SQLite is busy, and some times when PostgreSQL gave it up. f changes nothing unless it
// succeeds.
func (s *Store) retry(ctx context.Context, f func() error) error {
	wait := firstWait
	for attempt := 1; ; attempt++ {
		err := f()
		switch {
		case err == nil:
			return nil
		case s.busy(err):
			attempt--
		case !gaveWay(err) || attempt >= attempts:
			return err
		}
		if err := pause(ctx, &wait); err != nil {
			return err
		}
	}
}

// busy reports whether SQLite refused because somebody else holds a lock: SQLITE_BUSY or SQLITE_LOCKED.
func (s *Store) busy(err error) bool {
	return s.refused(err, 5, "database is locked") || s.refused(err, 6, "database table is locked")
}

// malformed reports whether SQLite calls its data so: SQLITE_CORRUPT.
func (s *Store) malformed(err error) bool { return s.refused(err, 11, "malformed") }

// refused reports whether an error of SQLite has a result code, where the driver's error has one (modernc.org/sqlite), else
// whether it has SQLite's own text for it.
func (s *Store) refused(err error, primary int, text string) bool {
	if s.dialect != SQLite {
		return false
	}
	var code interface{ Code() int }
	if errors.As(err, &code) {
		return code.Code()&0xff == primary
	}
	return strings.Contains(err.Error(), text)
}

// gaveWay reports whether PostgreSQL gave the transaction up in favour of a concurrent one: serialization_failure or
// deadlock_detected. Its drivers' errors have the method.
func gaveWay(err error) bool {
	var state interface{ SQLState() string }
	return errors.As(err, &state) && (state.SQLState() == "40001" || state.SQLState() == "40P01")
}

// pause waits for *wait, more or less, and doubles it.
func pause(ctx context.Context, wait *time.Duration) error {
	timer := time.NewTimer(*wait/2 + rand.N(*wait))
	defer timer.Stop()
	*wait = min(2**wait, longestWait)
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// withContext makes err match the context's error when the context has ended: not every driver says that this is why it
// failed.
func withContext(ctx context.Context, err error) error {
	end := ctx.Err()
	if deadline, ok := ctx.Deadline(); end == nil && ok && !time.Now().Before(deadline) {
		end = context.DeadlineExceeded // the context's own timer is about to fire
	}
	if err == nil || end == nil || errors.Is(err, end) {
		return err
	}
	return fmt.Errorf("%w: %w", end, err)
}

// failed says in which operation something went wrong.
func failed(ctx context.Context, operation string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("notes: %s: %w", operation, withContext(ctx, err))
}
