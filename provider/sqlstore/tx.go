package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
)

// Tx is a Store inside a transaction of the caller: its writes and deletes count, together with the caller's own rows, once
// the transaction is committed, and never if it is not. It is made by Store.Tx and has the methods of filememory.Backend
// and state.Store.
//
// A conflict is decided when the statement runs. From then until the end of the transaction the row is locked, so what
// Write and Delete accepted stays accepted; a concurrent writer of the same key waits, and then gets a conflict if this
// transaction was committed. So keep it short: no call of a model in it. A version that Write returned exists for others
// from the commit on, and after a rollback never. After a conflict under READ COMMITTED, PostgreSQL's default, and in
// SQLite the transaction can go on; under REPEATABLE READ and SERIALIZABLE PostgreSQL may have aborted it.
//
// For a checkpoint, open the session on it: state.Open(ctx, store.Tx(tx), id, nil), one transaction and one session for
// each step. After a rollback the session's values are those of a past that did not happen; open it again.
//
// Errors never match filememory.ErrUnknownOutcome, since nothing counts before the commit. The outcome of the commit is
// told by sql.Tx.Commit. If its error leaves open whether it happened, as a lost connection does, read the documents again:
// the transaction was committed if they have the versions that Write returned.
//
// Like sql.Tx, it is for one goroutine at a time.
type Tx struct {
	store *Store
	tx    *sql.Tx
}

// Tx returns the store inside tx, a transaction of the store's own database. Beginning, committing and rolling back stay
// the caller's.
func (s *Store) Tx(tx *sql.Tx) *Tx { return &Tx{store: s, tx: tx} }

// Read returns the document as the transaction sees it, and its version. See filememory.Backend.
func (t *Tx) Read(ctx context.Context, key string) (content []byte, version string, err error) {
	if err := admit(ctx, key); err != nil {
		return nil, "", err
	}
	if err := t.tx.QueryRowContext(ctx, t.store.sql.read, key).Scan(&content, &version); err != nil {
		return nil, "", readError(ctx, err)
	}
	return content, version, nil
}

// Write replaces the document if its version is expected. The new version counts once the transaction is committed.
func (t *Tx) Write(ctx context.Context, key string, content []byte, expected string) (string, error) {
	if err := admit(ctx, key); err != nil {
		return "", err
	}
	version := newVersion()
	statement, args := t.store.sql.write(key, content, expected, version)
	applied, err := t.change(ctx, "write", key, expected, statement, args)
	if err != nil {
		return "", err
	}
	if !applied {
		return "", conflict(key, expected)
	}
	return version, nil
}

// Delete removes the document if its version is expected, once the transaction is committed. An absent document is success.
func (t *Tx) Delete(ctx context.Context, key, expected string) error {
	if err := admit(ctx, key); err != nil {
		return err
	}
	applied, err := t.change(ctx, "delete", key, expected, t.store.sql.remove, []any{key, expected})
	if err != nil || applied {
		return err
	}
	var version string
	if err := t.tx.QueryRowContext(ctx, t.store.sql.version, key).Scan(&version); err != nil {
		if err := readError(ctx, err); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return conflict(key, expected)
}

// change carries out one conditional statement and reports whether it changed the row. A transaction that lost against
// a concurrent one is a conflict too.
func (t *Tx) change(ctx context.Context, what, key, expected, statement string, args []any) (bool, error) {
	rows, err := affected(t.tx.ExecContext(ctx, statement, args...))
	if err == nil {
		return rows > 0, nil
	}
	if hasState(err, serializationFailure) {
		return false, fmt.Errorf("%w: %w", conflict(key, expected), err)
	}
	return false, fmt.Errorf("sqlstore: %s: %w", what, withContext(ctx, err))
}
