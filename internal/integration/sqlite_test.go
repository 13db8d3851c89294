package integration_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/provider/sqlstore"
	_ "modernc.org/sqlite"
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

func openSQLite(t testing.TB) *sql.DB {
	return openDB(t, "sqlite", sqliteDSN(filepath.Join(t.TempDir(), "recollect.db")))
}

// TestSQLite runs stores that share a file in processes of their own.
func TestSQLite(t *testing.T) {
	t.Parallel()
	exercise(t, engine{
		open: func(t *testing.T, n int) []docstore.Store {
			path := filepath.Join(t.TempDir(), "recollect.db")
			store := newSQLStore(t, openDB(t, "sqlite", sqliteDSN(path)), sqlstore.SQLite, "")
			if n > 1 {
				return started(t, "sqlite "+path, n)
			}
			return []docstore.Store{store}
		},
		disturb: func(t *testing.T) *disturbance {
			path := filepath.Join(t.TempDir(), "recollect.db")
			calm := newSQLStore(t, openDB(t, "sqlite", sqliteDSN(path)), sqlstore.SQLite, "")
			return killed(t, "sqlite "+path, calm)
		},
	})
}
