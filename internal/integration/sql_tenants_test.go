package integration_test

import (
	"context"
	"errors"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/integration/spy"
	"github.com/recollect-go/recollect/provider/sqlstore"
	"github.com/stretchr/testify/require"
)

var (
	keyCondition = regexp.MustCompile(`^(SELECT|UPDATE|DELETE)\b.* WHERE key = [$?]1( AND version = [$?]2)?$`)
	keyInserted  = regexp.MustCompile(`^INSERT INTO \S+ \(key, .*\) VALUES \([$?]1, .*\) ON CONFLICT \(key\) DO NOTHING$`)
	keyListing   = regexp.MustCompile(`^SELECT key FROM \S+ WHERE key > [$?]1 AND key < '\{' ORDER BY key LIMIT [$?]2$`)
)

// testTenants guards that no statement about a document can touch that of another tenant: each has the key it is about as
// an equality condition, and the listing returns no bodies.
func testTenants(t *testing.T, d database) {
	var recorder spy.Recorder
	db := openPool(t, recorder.Connector(d.connector))
	store := d.storeIn(t, db, newTable())
	recorder.Take()

	tenants := []string{keyOf("tenant one"), keyOf("tenant two")}
	inTransaction := func(key string) error {
		tx, err := db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, tx.Commit()) }()
		return everyCall(t.Context(), store.Tx(tx), key)
	}
	for _, key := range tenants {
		other := tenants[0]
		if key == other {
			other = tenants[1]
		}
		version := create(t, store, other, []byte("of the other tenant"))
		recorder.Take()

		require.NoError(t, everyCall(t.Context(), store, key))
		require.NoError(t, inTransaction(key))
		requireAbout(t, key, recorder.Take())

		require.Equal(t, version, requireContent(t, store, other, []byte("of the other tenant")))
		require.NoError(t, store.Delete(t.Context(), other, version))
		recorder.Take()
	}

	_, _, err := store.List(t.Context(), "", 10)
	require.NoError(t, err)
	statements := recorder.Take()
	require.NotEmpty(t, statements, "statements were not recorded")
	for _, statement := range statements {
		require.Regexp(t, keyListing, statement.SQL)
	}
}

// everyCall makes every call that there is on a document, with every outcome, and leaves none behind.
func everyCall(ctx context.Context, store docstore.Store, key string) error {
	const stale = "stale version"
	_, _, absent := store.Read(ctx, key)
	_, conflictAbsent := store.Write(ctx, key, []byte("x"), stale)
	first, err := store.Write(ctx, key, []byte("one"), "")
	_, conflictCreate := store.Write(ctx, key, []byte("two"), "")
	_, conflictReplace := store.Write(ctx, key, []byte("two"), stale)
	second, err2 := store.Write(ctx, key, []byte("two"), first)
	_, _, err3 := store.Read(ctx, key)
	conflictDelete := store.Delete(ctx, key, stale)
	err4 := store.Delete(ctx, key, second)
	err5 := store.Delete(ctx, key, second)
	for _, conflict := range []error{conflictAbsent, conflictCreate, conflictReplace, conflictDelete} {
		if !errors.Is(conflict, docstore.ErrConflict) {
			return errors.Join(errors.New("no conflict"), conflict)
		}
	}
	if !errors.Is(absent, fs.ErrNotExist) {
		return errors.Join(errors.New("not absent"), absent)
	}
	return errors.Join(err, err2, err3, err4, err5)
}

func requireAbout(t *testing.T, key string, statements []spy.Statement) {
	t.Helper()
	require.GreaterOrEqual(t, len(statements), 2*10, "statements were not recorded")
	for _, statement := range statements {
		text := strings.Join(strings.Fields(statement.SQL), " ")
		require.True(t, keyCondition.MatchString(text) || keyInserted.MatchString(text), "no equality condition on the key: %s", text)
		require.Equal(t, key, statement.Args[0], "%s", text)
	}
}

var _ docstore.Store = (*sqlstore.Tx)(nil)
