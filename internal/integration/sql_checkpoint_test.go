package integration_test

import (
	"context"
	"errors"
	"testing"

	"github.com/recollect-go/recollect/provider/sqlstore"
	"github.com/recollect-go/recollect/state"
	"github.com/stretchr/testify/require"
)

// testCheckpoint guards that a step's checkpoint and the rows that it wrote count together: in a transaction for each
// attempt at the step.
func testCheckpoint(t *testing.T, d database) {
	store, db := d.store(t)
	payments := newTable()
	run(t, db, `CREATE TABLE `+payments+` (id INTEGER PRIMARY KEY)`)
	var registry state.Registry
	paid, err := state.DefineIn(&registry, "shop.paid", func() int { return 0 })
	require.NoError(t, err)
	id := state.ID{Session: "checkpoint in a transaction"}

	// attempt runs the step in a transaction and commits it unless the step or what comes after it fails.
	attempt := func(after error) (ran bool, err error) {
		tx := begin(t, db, nil)
		defer func() { _ = tx.Rollback() }()
		session, err := state.Open(t.Context(), store.Tx(tx), id, nil)
		require.NoError(t, err)
		require.NoError(t, session.BeginTurn(t.Context(), "turn 1"))
		_, err = state.Step(session.Context(t.Context()), "pay", func(ctx context.Context) (string, error) {
			ran = true
			if _, err := tx.ExecContext(ctx, `INSERT INTO `+payments+` VALUES (7)`); err != nil {
				return "", err
			}
			_, err := paid.Update(ctx, func(n int) (int, error) { return n + 1, nil })
			return "receipt", err
		})
		if err = errors.Join(err, after); err != nil {
			return ran, err
		}
		return ran, tx.Commit()
	}
	paidSoFar := func() int { return paidIn(t, store, id, paid) }
	rows := func() int64 { return one[int64](t, db, `SELECT count(*) FROM `+payments) }

	_, err = attempt(errors.New("crash before the commit"))
	require.Error(t, err)
	require.Zero(t, paidSoFar())
	require.Zero(t, rows())

	ran, err := attempt(nil)
	require.NoError(t, err)
	require.True(t, ran, "the step that was rolled back runs again")
	require.Equal(t, 1, paidSoFar())
	require.EqualValues(t, 1, rows())

	ran, err = attempt(nil)
	require.NoError(t, err)
	require.False(t, ran, "the step that was committed does not")
	require.Equal(t, 1, paidSoFar())
	require.EqualValues(t, 1, rows())
}

func paidIn(t *testing.T, store *sqlstore.Store, id state.ID, paid *state.Handle[int]) int {
	t.Helper()
	session, err := state.Open(t.Context(), store, id, nil)
	require.NoError(t, err)
	n, err := paid.Get(session.Context(t.Context()))
	require.NoError(t, err)
	return n
}
