package sqlstore_test

import (
	"database/sql"
	"io/fs"
	"strings"
	"testing"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/provider/sqlstore"
	"github.com/recollect-go/recollect/state"
	"github.com/stretchr/testify/require"
)

var (
	_ filememory.Backend = (*sqlstore.Store)(nil)
	_ filememory.Lister  = (*sqlstore.Store)(nil)
	_ state.Store        = (*sqlstore.Store)(nil)
	_ state.Lister       = (*sqlstore.Store)(nil)
	_ filememory.Backend = (*sqlstore.Tx)(nil)
	_ state.Store        = (*sqlstore.Tx)(nil)
)

const key = "memscope1_0000000000000000000000000000000000000000000"

func TestNewTellsEverythingThatIsWrong(t *testing.T) {
	t.Parallel()
	_, err := sqlstore.New(nil, 0, &sqlstore.Options{Table: "no table"})
	require.ErrorContains(t, err, "db is nil")
	require.ErrorContains(t, err, "dialect 0 is neither PostgreSQL nor SQLite")
	require.ErrorContains(t, err, `table name "no table"`)
	for _, line := range strings.Split(err.Error(), "\n") {
		require.True(t, strings.HasPrefix(line, "sqlstore: "), line)
	}
}

func TestATableNameIsAnIdentifierAndNothingElse(t *testing.T) {
	t.Parallel()
	db := sql.OpenDB(newFake())
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	for name, quoted := range map[string]string{
		"":                      `"recollect_documents"`,
		"Memories":              `"Memories"`,
		"agents.memories":       `"agents"."memories"`,
		"_1":                    `"_1"`,
		strings.Repeat("a", 63): `"` + strings.Repeat("a", 63) + `"`,
	} {
		store, err := sqlstore.New(db, sqlstore.PostgreSQL, &sqlstore.Options{Table: name})
		require.NoError(t, err, name)
		require.Contains(t, store.Schema(), "CREATE TABLE IF NOT EXISTS "+quoted+" (")
	}
	for _, name := range []string{
		" ", "1a", "a b", `a"b`, "a;b", "a.b.c", ".a", "a.", "ä", "a-b", "a\n", strings.Repeat("a", 64), `x"; DROP TABLE y; --`,
	} {
		_, err := sqlstore.New(db, sqlstore.PostgreSQL, &sqlstore.Options{Table: name})
		require.Error(t, err, "%q", name)
	}
}

func TestOptionsAreCopied(t *testing.T) {
	t.Parallel()
	opts := &sqlstore.Options{}
	db := sql.OpenDB(newFake())
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	store, err := sqlstore.New(db, sqlstore.SQLite, opts)
	require.NoError(t, err)
	require.Empty(t, opts.Table)
	opts.Table = "other"
	require.Contains(t, store.Schema(), sqlstore.DefaultTable)
}

func TestAKeyOutsideTheGrammarReachesNoDatabase(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.dialErr = fs.ErrPermission
	store, _ := f.store(t, sqlstore.PostgreSQL)
	for _, bad := range []string{"", "users/7", key + "0", strings.ToUpper(key)} {
		_, _, readErr := store.Read(t.Context(), bad)
		_, writeErr := store.Write(t.Context(), bad, nil, "")
		for _, err := range []error{readErr, writeErr, store.Delete(t.Context(), bad, "")} {
			require.ErrorIs(t, err, filememory.ErrInvalidKey, "%q", bad)
		}
	}
}

func TestAListingLeavesOutRowsWhoseKeyIsNone(t *testing.T) {
	t.Parallel()
	f := newFake()
	store, _ := f.store(t, sqlstore.PostgreSQL)
	upper := strings.ToUpper(key)
	for _, k := range []string{" ", "aaa", key, key + "0", upper, "users/7", "zzz"} {
		f.put(k, "v", "x")
	}
	for limit := 1; limit <= 8; limit++ {
		var listed []string
		for cursor, more := "", true; more; more = cursor != "" {
			keys, next, err := store.List(t.Context(), cursor, limit)
			require.NoError(t, err)
			listed, cursor = append(listed, keys...), next
		}
		require.Equal(t, []string{key}, listed, "limit %d", limit)
	}
}

func TestAListingThatWouldNotEndIsAnError(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.unordered = true
	store, _ := f.store(t, sqlstore.SQLite)
	f.put(key, "v", "x")
	_, next, err := store.List(t.Context(), "", 1)
	require.NoError(t, err)
	_, _, err = store.List(t.Context(), next, 1)
	require.ErrorContains(t, err, "does not order keys by their bytes")
}

func TestAListingNeedsAPositiveLimit(t *testing.T) {
	t.Parallel()
	store, _ := newFake().store(t, sqlstore.PostgreSQL)
	for _, limit := range []int{0, -1} {
		_, _, err := store.List(t.Context(), "", limit)
		require.ErrorContains(t, err, "not positive")
	}
}
