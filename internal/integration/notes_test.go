package integration_test

import (
	"database/sql"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/recollect-go/recollect/internal/integration/server"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/memory/memorytest"
	"github.com/recollect-go/recollect/provider/notes"
	"github.com/recollect-go/recollect/provider/sqlstore"
	"github.com/stretchr/testify/require"
)

func TestNotesInSQLite(t *testing.T) {
	t.Parallel()
	exerciseNotes(t, sqliteDatabase(t))
}

func TestNotesInPostgreSQL(t *testing.T) {
	t.Parallel()
	pg := server.StartPostgres(t)
	exerciseNotes(t, postgresDatabase(t, pg, pg.Address))
}

// exerciseNotes runs everything that notes have to stand in every database.
func exerciseNotes(t *testing.T, d database) {
	t.Run("provider", func(t *testing.T) { testNotesProvider(t, d) })
}

// testNotesProvider runs the conformance kit of providers.
func testNotesProvider(t *testing.T, d database) {
	opts := &memorytest.Options{
		SaveTool: "save", SaveArgument: "text", Captures: true, CapturesCompaction: true, StableRecall: true,
		ReadTools: []memorytest.ReadTool{{Name: "search", Input: func(text string) string { return fmt.Sprintf(`{"query":%q}`, text) }}},
	}
	memorytest.Run(t, func(t *testing.T) memory.Provider {
		store, _ := d.notes(t, nil)
		provider, err := notes.NewProvider(store, nil)
		require.NoError(t, err)
		return provider
	}, opts)
}

// noteTables numbers the sets of tables of all databases.
var noteTables atomic.Int64

// notes returns a store in new tables, and its pool.
func (d database) notes(t testing.TB, opts *notes.Options) (*notes.Store, *sql.DB) {
	t.Helper()
	db := d.open(t)
	return d.notesIn(t, db, fmt.Sprintf("notes_%d", noteTables.Add(1)), opts), db
}

// notesIn returns a store in the tables of the given name, which it creates if need be.
func (d database) notesIn(t testing.TB, db *sql.DB, tables string, opts *notes.Options) *notes.Store {
	t.Helper()
	var o notes.Options
	if opts != nil {
		o = *opts
	}
	o.Tables = tables
	store, err := notes.New(db, d.notesDialect(), &o)
	require.NoError(t, err)
	require.NoError(t, store.EnsureSchema(t.Context()))
	return store
}

func (d database) notesDialect() notes.Dialect {
	if d.dialect == sqlstore.SQLite {
		return notes.SQLite
	}
	return notes.PostgreSQL
}
