package integration_test

import (
	"context"
	"database/sql"
	"strings"
	"sync"
	"testing"

	"github.com/recollect-go/recollect/provider/sqlstore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func testSchema(t *testing.T, d database) {
	t.Run("many processes may create the table at once", func(t *testing.T) {
		table := newTable()
		var racers sync.WaitGroup
		for range 16 {
			db := d.open(t)
			racers.Go(func() {
				store, err := sqlstore.New(db, d.dialect, &sqlstore.Options{Table: table})
				assert.NoError(t, err)
				assert.NoError(t, store.EnsureSchema(context.Background()))
				assert.NoError(t, store.EnsureSchema(context.Background()), "a second time")
			})
		}
		racers.Wait()
	})

	t.Run("the printed schema is accepted", func(t *testing.T) {
		db := d.open(t)
		store, err := sqlstore.New(db, d.dialect, &sqlstore.Options{Table: newTable()})
		require.NoError(t, err)
		require.ErrorIs(t, store.CheckSchema(t.Context()), sqlstore.ErrSchema, "a missing table")
		run(t, db, store.Schema())
		run(t, db, store.Schema())
		require.NoError(t, store.CheckSchema(t.Context()))
		require.NoError(t, everyCall(t.Context(), store, keyOf("printed")))
	})

	t.Run("a name is taken as it is written", func(t *testing.T) {
		db := d.open(t)
		schema := map[sqlstore.Dialect]string{sqlstore.PostgreSQL: "public.", sqlstore.SQLite: "main."}[d.dialect]
		for _, name := range []string{"Select", "ORDER", schema + "Group_" + newTable()} {
			require.NoError(t, everyCall(t.Context(), d.storeIn(t, db, name), keyOf(name)))
		}
	})

	t.Run("columns of the application may be added", func(t *testing.T) {
		store, db := d.store(t)
		table := strings.Fields(store.Schema())[5]
		run(t, db, `ALTER TABLE `+table+` ADD COLUMN note `+textType(d.dialect))
		run(t, db, `ALTER TABLE `+table+` ADD COLUMN flags `+textType(d.dialect)+` NOT NULL DEFAULT ''`)
		require.NoError(t, store.EnsureSchema(t.Context()))
		require.NoError(t, everyCall(t.Context(), store, keyOf("columns")))
	})

	for name, wrong := range wrongShapes(d.dialect) {
		t.Run("another shape is refused: "+name, func(t *testing.T) {
			db := d.open(t)
			table := newTable()
			run(t, db, strings.ReplaceAll(wrong.create, "TABLENAME", table))
			before := describe(t, db, d.dialect, table)
			store, err := sqlstore.New(db, d.dialect, &sqlstore.Options{Table: table})
			require.NoError(t, err)

			err = store.EnsureSchema(t.Context())
			var found *sqlstore.SchemaError
			require.ErrorAs(t, err, &found)
			require.ErrorIs(t, err, sqlstore.ErrSchema)
			require.Equal(t, wrong.found, found.Found)
			require.Equal(t, before, describe(t, db, d.dialect, table), "the table was changed")
		})
	}
}

func textType(d sqlstore.Dialect) string {
	if d == sqlstore.SQLite {
		return "TEXT"
	}
	return "text"
}

// describe returns what the database knows about a table and its indexes.
func describe(t *testing.T, db *sql.DB, d sqlstore.Dialect, table string) string {
	t.Helper()
	if d == sqlstore.SQLite {
		return one[string](t, db, `SELECT group_concat(sql || rootpage, ';') FROM sqlite_schema WHERE tbl_name = ?1`, table)
	}
	return one[string](t, db, `SELECT
		(SELECT string_agg(a::text, ';' ORDER BY attnum) FROM pg_attribute a WHERE attrelid = to_regclass($1)) || ';' ||
		(SELECT coalesce(string_agg(pg_get_indexdef(indexrelid), ';' ORDER BY indexrelid), '') FROM pg_index WHERE indrelid = to_regclass($1))`, table)
}

type wrongShape struct {
	create string
	found  []string
}

func wrongShapes(d sqlstore.Dialect) map[string]wrongShape {
	if d == sqlstore.SQLite {
		return map[string]wrongShape{
			"another table": {`CREATE TABLE TABLENAME (id INTEGER PRIMARY KEY, body TEXT NOT NULL)`, []string{
				"column key is missing", "column version is missing", "column content is missing",
				"column body is NOT NULL without a default, so no document could be inserted",
				"no unique index on key alone that compares bytes",
			}},
			"keys folded to one case": {`CREATE TABLE TABLENAME (
				key TEXT COLLATE NOCASE NOT NULL PRIMARY KEY, version TEXT NOT NULL, content BLOB NOT NULL)`, []string{
				"column key or version has another collation than BINARY", "no unique index on key alone that compares bytes",
			}},
			"keys folded to one case under an index that is not": {`CREATE TABLE TABLENAME (
				key TEXT COLLATE NOCASE NOT NULL, version TEXT NOT NULL, content BLOB NOT NULL, PRIMARY KEY (key COLLATE BINARY))`, []string{
				"column key or version has another collation than BINARY",
			}},
			"versions that spaces do not tell apart": {`CREATE TABLE TABLENAME (
				key TEXT NOT NULL PRIMARY KEY, version TEXT COLLATE RTRIM NOT NULL, content BLOB NOT NULL) STRICT, WITHOUT ROWID`, []string{
				"column key or version has another collation than BINARY",
			}},
			"other types": {`CREATE TABLE TABLENAME (key TEXT NOT NULL PRIMARY KEY, version INTEGER NOT NULL, content TEXT)`, []string{
				"column version is INTEGER, not TEXT", "column content is TEXT, not BLOB",
			}},
			"a key of two columns": {`CREATE TABLE TABLENAME (key TEXT NOT NULL, version TEXT NOT NULL, content BLOB NOT NULL,
				tenant TEXT NOT NULL DEFAULT '', PRIMARY KEY (tenant, key))`, []string{"no unique index on key alone that compares bytes"}},
			"a view": {`CREATE VIEW TABLENAME AS SELECT 1 AS key`, []string{"it is a view"}},
		}
	}
	return map[string]wrongShape{
		"another table": {`CREATE TABLE TABLENAME (id bigserial PRIMARY KEY, body text NOT NULL)`, []string{
			"column key is missing", "column version is missing", "column content is missing",
			"column body is NOT NULL without a default, so no document could be inserted",
			"no unique index on key alone that compares bytes",
		}},
		"keys under another collation": {`CREATE COLLATION IF NOT EXISTS folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
			CREATE TABLE TABLENAME (key text COLLATE folded PRIMARY KEY, version text COLLATE "C" NOT NULL, content bytea NOT NULL)`, []string{
			`column key is text COLLATE "folded", not text COLLATE "C"`, "no unique index on key alone that compares bytes",
		}},
		"other types": {`CREATE TABLE TABLENAME (
			key varchar(60) COLLATE "C" PRIMARY KEY, version bigint NOT NULL, content text COLLATE "C")`, []string{
			`column key is character varying(60) COLLATE "C", not text COLLATE "C"`, `column version is bigint, not text COLLATE "C"`,
			`column content is text COLLATE "C", not bytea`,
		}},
		"no unique key": {`CREATE TABLE TABLENAME (key text COLLATE "C" NOT NULL, version text COLLATE "C" NOT NULL, content bytea)`, []string{
			"column content may be NULL", "no unique index on key alone that compares bytes",
		}},
		"a key that is unique only at commit": {`CREATE TABLE TABLENAME (key text COLLATE "C" NOT NULL UNIQUE DEFERRABLE,
			version text COLLATE "C" NOT NULL, content bytea NOT NULL)`, []string{"no unique index on key alone that compares bytes"}},
		"a view": {`CREATE VIEW TABLENAME AS SELECT 1 AS key`, []string{"it is a view"}},
	}
}
