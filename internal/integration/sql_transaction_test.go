package integration_test

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"testing"
	"time"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/provider/sqlstore"
	"github.com/stretchr/testify/require"
)

// testTransaction guards that a document and the application's own rows count together or not at all.
func testTransaction(t *testing.T, d database) {
	store, db := d.store(t)
	orders := newTable()
	run(t, db, `CREATE TABLE `+orders+` (id INTEGER PRIMARY KEY)`)
	countOrders := func() int64 { return one[int64](t, db, `SELECT count(*) FROM `+orders) }
	insert := func(tx *sql.Tx) {
		_, err := tx.ExecContext(t.Context(), `INSERT INTO `+orders+` VALUES (1)`)
		require.NoError(t, err)
	}
	key := keyOf("transaction")
	version := create(t, store, key, []byte("before"))

	t.Run("rolled back", func(t *testing.T) {
		tx := begin(t, db, nil)
		insert(tx)
		lost, err := store.Tx(tx).Write(t.Context(), key, []byte("lost"), version)
		require.NoError(t, err)
		content, seen, err := store.Tx(tx).Read(t.Context(), key)
		require.NoError(t, err)
		require.Equal(t, "lost", string(content), "the transaction sees its own write")
		require.Equal(t, lost, seen)
		require.NoError(t, tx.Rollback())

		require.Zero(t, countOrders())
		require.Equal(t, version, requireContent(t, store, key, []byte("before")))
		_, err = store.Write(t.Context(), key, []byte("after"), lost)
		require.ErrorIs(t, err, docstore.ErrConflict, "a version that was rolled back never counted")
	})

	t.Run("committed", func(t *testing.T) {
		tx := begin(t, db, nil)
		insert(tx)
		next, err := store.Tx(tx).Write(t.Context(), key, []byte("after"), version)
		require.NoError(t, err)
		require.NoError(t, tx.Commit())

		require.EqualValues(t, 1, countOrders())
		require.Equal(t, next, requireContent(t, store, key, []byte("after")))
	})

	t.Run("a conflict leaves the rest to the caller", func(t *testing.T) {
		tx := begin(t, db, nil)
		bound := store.Tx(tx)
		_, err := bound.Write(t.Context(), key, []byte("stale"), version)
		var conflict *docstore.ConflictError
		require.ErrorAs(t, err, &conflict)
		require.Equal(t, docstore.ConflictError{Key: key, Expected: version}, *conflict)
		require.ErrorIs(t, bound.Delete(t.Context(), key, version), docstore.ErrConflict)

		_, fresh, err := bound.Read(t.Context(), key)
		require.NoError(t, err)
		require.NoError(t, bound.Delete(t.Context(), key, fresh))
		require.NoError(t, bound.Delete(t.Context(), key, fresh), "absent is success")
		_, _, err = bound.Read(t.Context(), key)
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.NoError(t, tx.Commit())
		_, _, err = store.Read(t.Context(), key)
		require.ErrorIs(t, err, fs.ErrNotExist)
	})

	t.Run("a writer outside waits and then meets the conflict", func(t *testing.T) {
		key := keyOf("waiting")
		version := create(t, store, key, []byte("before"))
		tx := begin(t, db, nil)
		_, err := store.Tx(tx).Write(t.Context(), key, []byte("inside"), version)
		require.NoError(t, err)

		outside := make(chan error, 1)
		go func() {
			_, err := store.Write(context.Background(), key, []byte("outside"), version)
			outside <- err
		}()
		select {
		case err := <-outside:
			t.Fatalf("the writer did not wait for the transaction: %v", err)
		case <-time.After(50 * time.Millisecond):
		}
		require.NoError(t, tx.Commit())
		require.ErrorIs(t, <-outside, docstore.ErrConflict)
		requireContent(t, store, key, []byte("inside"))
	})

	t.Run("an ended context is no unknown outcome", func(t *testing.T) {
		tx := begin(t, db, nil)
		defer func() { _ = tx.Rollback() }()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := store.Tx(tx).Write(ctx, keyOf("ended"), nil, "")
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, docstore.ErrUnknownOutcome)
	})

	t.Run("a key outside the grammar is refused", func(t *testing.T) {
		tx := begin(t, db, nil)
		defer func() { _ = tx.Rollback() }()
		_, err := store.Tx(tx).Write(t.Context(), "users/7", nil, "")
		require.ErrorIs(t, err, docstore.ErrInvalidKey)
	})
}

func begin(t *testing.T, db *sql.DB, opts *sql.TxOptions) *sql.Tx {
	t.Helper()
	tx, err := db.BeginTx(t.Context(), opts)
	require.NoError(t, err)
	return tx
}

// testIsolation guards that a document that changed after the transaction's snapshot is a conflict under every isolation
// level.
func testIsolation(t *testing.T, d database) {
	store, db := d.store(t)
	for _, level := range []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable} {
		t.Run(level.String(), func(t *testing.T) {
			key, created := keyOf("replace "+level.String()), keyOf("create "+level.String())
			version := create(t, store, key, []byte("before"))
			for name, change := range map[string]func(*sqlstore.Tx) error{
				"write": func(tx *sqlstore.Tx) error {
					_, err := tx.Write(t.Context(), key, []byte("mine"), version)
					return err
				},
				"create": func(tx *sqlstore.Tx) error {
					_, err := tx.Write(t.Context(), created, []byte("mine"), "")
					return err
				},
				"delete": func(tx *sqlstore.Tx) error { return tx.Delete(t.Context(), key, version) },
			} {
				tx := begin(t, db, &sql.TxOptions{Isolation: level})
				_, _, err := store.Tx(tx).Read(t.Context(), keyOf("the snapshot is taken"))
				require.ErrorIs(t, err, fs.ErrNotExist)

				theirs, err := store.Write(t.Context(), key, []byte("theirs"), version)
				require.NoError(t, err)
				if _, err := store.Write(t.Context(), created, []byte("theirs"), ""); !errors.Is(err, docstore.ErrConflict) {
					require.NoError(t, err)
				}

				require.ErrorIs(t, change(store.Tx(tx)), docstore.ErrConflict, name)
				require.NoError(t, tx.Rollback())
				requireContent(t, store, key, []byte("theirs"))
				version = theirs
			}
		})
	}
}
