package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/recollect-go/recollect/internal/docstore"
)

// sqlState is implemented by the errors of PostgreSQL drivers: pgconn.PgError and pq.Error.
type sqlState interface{ SQLState() string }

// resultCode is implemented by the errors of modernc.org/sqlite. The low byte is SQLite's primary result code.
type resultCode interface{ Code() int }

// refused reports whether the database itself says that it did not carry out the statement. Every other error leaves that
// open: a connection that broke, a context that ended, a server that went down and may have committed before.
func refused(err error) bool {
	var state sqlState
	if errors.As(err, &state) {
		return refusedState(state.SQLState())
	}
	var code resultCode
	if errors.As(err, &code) {
		return refusedCode(code.Code() & 0xff)
	}
	return false
}

// refusedState judges a code of PostgreSQL's appendix A. Left out on purpose, as they can come with or after a commit: 08
// and 57P (connection lost, server going down), 40003 (statement completion unknown), 53 and 58 (a full or failing disk can
// strike the commit itself), XX (internal errors).
func refusedState(state string) bool {
	switch state {
	case "40003":
		return false
	case "57014": // query canceled
		return true
	}
	if len(state) != 5 {
		return false
	}
	switch state[:2] {
	case "0A", "21", "22", "23", "25", "26", "28", "3D", "3F", "40", "42", "44", "54", "55":
		return true
	default:
		return false
	}
}

// refusedCode judges a primary result code of SQLite (https://sqlite.org/rescode.html). Left out on purpose: SQLITE_IOERR and
// SQLITE_FULL, which can strike the commit, and SQLITE_INTERRUPT, which says that the context ended.
func refusedCode(code int) bool {
	switch code {
	case 1, // ERROR: no such table, no such column
		3,  // PERM
		5,  // BUSY
		6,  // LOCKED
		8,  // READONLY
		14, // CANTOPEN
		17, // SCHEMA
		18, // TOOBIG
		19, // CONSTRAINT
		20, // MISMATCH
		23, // AUTH
		26: // NOTADB
		return true
	default:
		return false
	}
}

// busy reports whether SQLite refused because somebody else holds a lock. Waiting for it is left to the store, which
// watches the context while it waits; SQLite's own busy handler does not.
func (s *Store) busy(err error) bool {
	if s.dialect != SQLite {
		return false
	}
	var code resultCode
	if errors.As(err, &code) {
		primary := code.Code() & 0xff
		return primary == 5 || primary == 6
	}
	return isBusyText(err)
}

// isBusyText recognizes SQLITE_BUSY and SQLITE_LOCKED by SQLite's own text for them, for drivers whose errors have no code
// to ask for.
func isBusyText(err error) bool {
	text := err.Error()
	return strings.Contains(text, "database is locked") || strings.Contains(text, "database table is locked")
}

// gaveWay reports whether PostgreSQL gave the statement up in favour of a concurrent transaction. Carried out again it sees
// what that one did.
func gaveWay(err error) bool {
	return hasState(err, serializationFailure) || hasState(err, deadlockDetected)
}

const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
)

func hasState(err error, code string) bool {
	var state sqlState
	return errors.As(err, &state) && state.SQLState() == code
}

// unknownOutcome is the error of a statement that was or was not carried out.
func unknownOutcome(ctx context.Context, err error) error {
	return fmt.Errorf("%w: %w", docstore.ErrUnknownOutcome, withContext(ctx, err))
}

// withContext makes err match the context's error when the context has ended: not every driver says that this is why it
// failed.
func withContext(ctx context.Context, err error) error {
	end := ended(ctx)
	if end == nil || errors.Is(err, end) {
		return err
	}
	return fmt.Errorf("%w: %w", end, err)
}

// ended is ctx.Err, but a deadline that has passed counts also in the instant before the context's own timer fires: a
// network timeout set to the same deadline is often first.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return nil
}

// readError is the error of a query for one row.
func readError(ctx context.Context, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("sqlstore: no such document: %w", fs.ErrNotExist)
	}
	return fmt.Errorf("sqlstore: read: %w", withContext(ctx, err))
}
