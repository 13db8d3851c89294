package integration_test

import (
	"database/sql"
	"database/sql/driver"
	"path/filepath"
	"slices"
	"sync"
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
	return sqliteConnectorWith(t, sqliteDSN(path))
}

func sqliteConnectorWith(t testing.TB, dsn string) driver.Connector {
	t.Helper()
	connector, err := sqlite.NewConnector(dsn)
	require.NoError(t, err)
	return connector
}

func sqliteDatabase(t testing.TB) database {
	return database{dialect: sqlstore.SQLite, connector: sqliteConnector(t, sqliteFile(t))}
}

// TestSQLite runs stores that share a file in processes of their own.
func TestSQLite(t *testing.T) {
	t.Parallel()
	stores := new(sqliteStores)
	exercise(t, engine{open: stores.open, again: stores.again, disturb: stores.disturb})
	exerciseSQL(t, sqliteDatabase(t))
}

// TestAListingInSQLiteEndsBeforeBlobs guards that rows of the application under keys that are no text do not keep a listing from
// its end: SQLite puts them behind all that are.
func TestAListingInSQLiteEndsBeforeBlobs(t *testing.T) {
	t.Parallel()
	d := sqliteDatabase(t)
	db := d.open(t)
	_, err := db.ExecContext(t.Context(), `CREATE TABLE mixed (key TEXT NOT NULL PRIMARY KEY, version TEXT NOT NULL, content BLOB NOT NULL)`)
	require.NoError(t, err)
	store, err := sqlstore.New(db, d.dialect, &sqlstore.Options{Table: "mixed"})
	require.NoError(t, err)
	require.NoError(t, store.CheckSchema(t.Context()))
	want := []string{keyOf("one"), keyOf("two")}
	slices.Sort(want)
	for _, key := range []any{want[0], want[1], "", "a\x00b", "zzz", "é", []byte("blob"), []byte(want[0]), []byte("zzz")} {
		_, err := db.ExecContext(t.Context(), `INSERT INTO mixed VALUES (?, 'v', x'00')`, key)
		require.NoError(t, err)
	}
	for _, limit := range []int{1, 2, 3, 100} {
		require.Equal(t, want, listAll(t, store, limit), "limit %d", limit)
	}
}

// sqliteStores opens stores on files of their own and remembers which.
type sqliteStores struct {
	paths sync.Map // docstore.Store to string
}

func (s *sqliteStores) openAt(t *testing.T, path string) docstore.Store {
	d := database{dialect: sqlstore.SQLite, connector: sqliteConnector(t, path)}
	store := d.storeIn(t, d.open(t), "")
	s.paths.Store(store, path)
	return store
}

func (s *sqliteStores) open(t *testing.T, n int) []docstore.Store {
	path := sqliteFile(t)
	store := s.openAt(t, path)
	if n > 1 {
		return started(t, "sqlite "+path, n)
	}
	return []docstore.Store{store}
}

func (s *sqliteStores) again(t *testing.T, store docstore.Store) docstore.Store {
	path, _ := s.paths.Load(store)
	return s.openAt(t, path.(string))
}

func (s *sqliteStores) disturb(t *testing.T) *disturbance {
	path := sqliteFile(t)
	return killed(t, "sqlite "+path, s.openAt(t, path))
}
