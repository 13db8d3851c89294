package integration_test

import (
	"database/sql"
	"database/sql/driver"
	"path/filepath"
	"testing"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/provider/sqlstore"
	"github.com/stretchr/testify/require"
	"modernc.org/sqlite"
)

func init() {
	workers["sqlite"] = func(path string) (docstore.Store, error) {
		db, err := sql.Open("sqlite", sqliteDSN(path))
		if err != nil {
			return nil, err
		}
		db.SetMaxIdleConns(connections)
		return sqlstore.New(db, sqlstore.SQLite, nil)
	}
}

// sqliteDSN is the configuration that the documentation recommends.
func sqliteDSN(path string) string {
	return "file:" + path + "?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate"
}

func sqliteFile(t testing.TB) string { return filepath.Join(t.TempDir(), "recollect.db") }

func sqliteConnector(t testing.TB, path string) driver.Connector {
	t.Helper()
	connector, err := sqlite.NewConnector(sqliteDSN(path))
	require.NoError(t, err)
	return connector
}

func sqliteDatabase(t testing.TB) database {
	return database{dialect: sqlstore.SQLite, connector: sqliteConnector(t, sqliteFile(t))}
}

// TestSQLite runs stores that share a file in processes of their own.
func TestSQLite(t *testing.T) {
	t.Parallel()
	openFile := func(t *testing.T) (*sqlstore.Store, string) {
		path := sqliteFile(t)
		d := database{dialect: sqlstore.SQLite, connector: sqliteConnector(t, path)}
		return d.storeIn(t, d.open(t), ""), path
	}
	exercise(t, engine{
		open: func(t *testing.T, n int) []docstore.Store {
			store, path := openFile(t)
			if n > 1 {
				return started(t, "sqlite "+path, n)
			}
			return []docstore.Store{store}
		},
		disturb: func(t *testing.T) *disturbance {
			calm, path := openFile(t)
			return killed(t, "sqlite "+path, calm)
		},
	})
	exerciseSQL(t, sqliteDatabase(t))
}
