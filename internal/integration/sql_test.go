package integration_test

import (
	"database/sql"
	"testing"

	"github.com/recollect-go/recollect/provider/sqlstore"
	"github.com/stretchr/testify/require"
)

// newSQLStore returns a store in a table that it creates.
func newSQLStore(t testing.TB, db *sql.DB, dialect sqlstore.Dialect, table string) *sqlstore.Store {
	t.Helper()
	store, err := sqlstore.New(db, dialect, &sqlstore.Options{Table: table})
	require.NoError(t, err)
	require.NoError(t, store.EnsureSchema(t.Context()))
	return store
}

// connections is the size of each pool. Idle connections are kept, as they should be everywhere: database/sql keeps two by default and
// opens the others again and again.
const connections = 8

// openDB opens a pool that is closed when the test ends.
func openDB(t testing.TB, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	require.NoError(t, err)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}
