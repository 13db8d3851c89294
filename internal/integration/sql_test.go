package integration_test

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/recollect-go/recollect/provider/sqlstore"
	"github.com/stretchr/testify/require"
)

// database is a real database in which each test has a table of its own.
type database struct {
	dialect   sqlstore.Dialect
	connector driver.Connector
}

// exerciseSQL runs what only SQL engines have to stand.
func exerciseSQL(t *testing.T, d database) {
	t.Run("keys", func(t *testing.T) { testKeysInSQL(t, d) })
	t.Run("schema", func(t *testing.T) { testSchema(t, d) })
	t.Run("tenants", func(t *testing.T) { testTenants(t, d) })
	t.Run("transaction", func(t *testing.T) { testTransaction(t, d) })
	t.Run("checkpoint", func(t *testing.T) { testCheckpoint(t, d) })
	t.Run("cancelled", func(t *testing.T) { testCancelled(t, d) })
}

// connections is the size of each pool. Idle connections are kept, as they should be everywhere: database/sql keeps two by
// default and opens the others again and again.
const connections = 8

// open returns a new pool that is closed when the test ends.
func (d database) open(t testing.TB) *sql.DB { return openPool(t, d.connector) }

func openPool(t testing.TB, connector driver.Connector) *sql.DB {
	t.Helper()
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// store returns a store in a new table, and its pool.
func (d database) store(t testing.TB) (*sqlstore.Store, *sql.DB) {
	t.Helper()
	db := d.open(t)
	return d.storeIn(t, db, newTable()), db
}

// storeIn returns a store in the table, which it creates if need be.
func (d database) storeIn(t testing.TB, db *sql.DB, table string) *sqlstore.Store {
	t.Helper()
	store, err := sqlstore.New(db, d.dialect, &sqlstore.Options{Table: table})
	require.NoError(t, err)
	require.NoError(t, store.EnsureSchema(t.Context()))
	return store
}

// tables numbers the tables of all databases.
var tables atomic.Int64

func newTable() string { return fmt.Sprintf("documents_%d", tables.Add(1)) }

func run(t testing.TB, db *sql.DB, statement string, args ...any) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), statement, args...)
	require.NoError(t, err, "%s", statement)
}

// one returns the single value that the query selects.
func one[T any](t testing.TB, db *sql.DB, query string, args ...any) T {
	t.Helper()
	var value T
	require.NoError(t, db.QueryRowContext(t.Context(), query, args...).Scan(&value), "%s", query)
	return value
}
