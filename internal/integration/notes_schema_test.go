package integration_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"
	"sync"
	"testing"

	"github.com/recollect-go/recollect/provider/notes"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hooked is a connector that calls a function before it connects.
type hooked struct {
	driver.Connector
	before func()
}

func (h hooked) Connect(ctx context.Context) (driver.Conn, error) {
	h.before()
	return h.Connector.Connect(ctx)
}

func testNotesSchema(t *testing.T, d database) {
	t.Run("many processes may create the tables at once", func(t *testing.T) {
		tables := newNoteTables()
		var racers sync.WaitGroup
		for range 8 {
			db := d.open(t)
			racers.Go(func() {
				store, err := notes.New(db, d.notesDialect(), &notes.Options{Tables: tables})
				assert.NoError(t, err)
				assert.NoError(t, store.EnsureSchema(context.Background()))
				assert.NoError(t, store.EnsureSchema(context.Background()), "a second time")
			})
		}
		racers.Wait()
	})

	t.Run("tables that appear while they are looked at are not taken for wrong ones", func(t *testing.T) {
		tables := newNoteTables()
		other := d.open(t)
		connected := 0
		db := sql.OpenDB(hooked{d.connector, func() {
			if connected++; connected == 2 {
				d.notesIn(t, other, tables, nil)
			}
		}})
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		db.SetMaxIdleConns(-1) // each statement connects
		store, err := notes.New(db, d.notesDialect(), &notes.Options{Tables: tables})
		require.NoError(t, err)
		require.NoError(t, store.EnsureSchema(t.Context()))
		require.Greater(t, connected, 2)
	})

	t.Run("the printed schema is accepted", func(t *testing.T) {
		db := d.open(t)
		store, err := notes.New(db, d.notesDialect(), &notes.Options{Tables: newNoteTables()})
		require.NoError(t, err)
		require.ErrorIs(t, store.CheckSchema(t.Context()), notes.ErrSchema, "missing tables")
		run(t, db, store.Schema())
		run(t, db, store.Schema())
		require.NoError(t, store.CheckSchema(t.Context()))
		addFacts(t, store, keyOf("printed"), "A fact.")
		require.Equal(t, []string{"A fact."}, searchFacts(t, store, keyOf("printed"), "fact"))
	})

	t.Run("a table of another shape is refused and left alone", func(t *testing.T) {
		db := d.open(t)
		tables := newNoteTables()
		run(t, db, `CREATE TABLE `+tables+`_scopes (id INTEGER PRIMARY KEY, name `+textType(d.dialect)+`)`)
		before := describe(t, db, d.dialect, tables+"_scopes")
		store, err := notes.New(db, d.notesDialect(), &notes.Options{Tables: tables})
		require.NoError(t, err)
		err = store.EnsureSchema(t.Context())
		var wrong *notes.SchemaError
		require.ErrorAs(t, err, &wrong)
		require.Contains(t, strings.Join(wrong.Found, "\n"), "column 1 of "+tables+"_scopes is id")
		require.Contains(t, strings.Join(wrong.Found, "\n"), "table "+tables+"_notes does not exist")
		require.Equal(t, before, describe(t, db, d.dialect, tables+"_scopes"))
		require.ErrorIs(t, store.EnsureSchema(t.Context()), notes.ErrSchema, "nothing was created beside it")
	})

	t.Run("tables of a newer version are refused", func(t *testing.T) {
		db := d.open(t)
		tables := newNoteTables()
		store := d.notesIn(t, db, tables, nil)
		run(t, db, `INSERT INTO `+tables+`_schema (version) VALUES (2)`)
		require.ErrorContains(t, store.EnsureSchema(t.Context()), "version 2")
	})
}
