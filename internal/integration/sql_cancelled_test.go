package integration_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// promptly is how long a call may take to return after its context has ended, on a machine that is busy with other tests.
const promptly = 2 * time.Second

// testCancelled guards that a call returns when its context ends, that a write which was under way says so, and that no
// connection is lost by it.
func testCancelled(t *testing.T, d database) {
	t.Run("while it waits for another writer", func(t *testing.T) {
		store, db := d.store(t)
		key := keyOf("blocked")
		version := create(t, store, key, []byte("before"))
		tx := begin(t, db, nil)
		_, err := store.Tx(tx).Write(t.Context(), key, []byte("held"), version)
		require.NoError(t, err)

		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		began := time.Now()
		_, writeErr := store.Write(ctx, key, []byte("waiting"), version)
		require.ErrorIs(t, writeErr, context.DeadlineExceeded)
		require.NotErrorIs(t, writeErr, docstore.ErrConflict)
		require.Less(t, time.Since(began), promptly)
		require.NoError(t, tx.Rollback())

		// PostgreSQL had the statement and may still carry it out; the locked SQLite database never took it.
		if !errors.Is(writeErr, docstore.ErrUnknownOutcome) {
			require.Equal(t, version, requireContent(t, store, key, []byte("before")))
		}
		requireFullPool(t, db)
	})

	t.Run("while it waits for a connection", func(t *testing.T) {
		store, db := d.store(t)
		db.SetMaxOpenConns(1)
		held, err := db.Conn(t.Context())
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_, err = store.Write(ctx, keyOf("no connection"), nil, "")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, docstore.ErrUnknownOutcome, "nothing was sent")
		require.NoError(t, held.Close())
	})

	t.Run("at any moment", func(t *testing.T) {
		store, db := d.store(t)
		var clients sync.WaitGroup
		for client := range connections {
			clients.Go(func() {
				for attempt := range 8 {
					key := keyOf(fmt.Sprint("any moment ", client, " ", attempt))
					if attempt%2 == 0 {
						create(t, store, key, []byte("before"))
					}
					cancelledWrite(t, store, key)
				}
			})
		}
		clients.Wait()
		requireFullPool(t, db)
	})
}

// cancelledWrite writes under a deadline that strikes before, while or after the statement runs, and resolves what is left
// open. Nobody else may write key, nor may an earlier call that was left behind and still be carried out.
func cancelledWrite(t *testing.T, store docstore.Store, key string) {
	_, version, err := store.Read(context.Background(), key)
	if err != nil {
		version = ""
	}
	content := fmt.Sprint(rand.Int64())
	ctx, cancel := context.WithTimeout(context.Background(), rand.N(3*time.Millisecond))
	defer cancel()
	_, err = store.Write(ctx, key, []byte(content), version)
	if late := time.Since(deadline(ctx)); late > promptly {
		t.Errorf("the call returned %v after its context had ended", late)
	}
	if err == nil {
		return
	}
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.NotErrorIs(t, err, docstore.ErrConflict)
	if errors.Is(err, docstore.ErrUnknownOutcome) {
		return
	}
	stored, _, _ := store.Read(context.Background(), key)
	assert.NotEqual(t, content, string(stored), "a write that was certainly not done was done")
}

func deadline(ctx context.Context) time.Time {
	end, _ := ctx.Deadline()
	return end
}

// requireFullPool takes every connection of the pool at once and uses each.
func requireFullPool(t *testing.T, db *sql.DB) {
	t.Helper()
	require.Zero(t, db.Stats().InUse, "a connection was not given back")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var held []*sql.Conn
	for range connections {
		conn, err := db.Conn(ctx)
		require.NoError(t, err)
		held = append(held, conn)
		var answer int
		require.NoError(t, conn.QueryRowContext(ctx, `SELECT 42`).Scan(&answer))
	}
	for _, conn := range held {
		require.NoError(t, conn.Close())
	}
}
