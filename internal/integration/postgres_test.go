package integration_test

import (
	"bytes"
	"context"
	"database/sql/driver"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/integration/proxy"
	"github.com/recollect-go/recollect/internal/integration/server"
	"github.com/recollect-go/recollect/provider/sqlstore"
	"github.com/stretchr/testify/require"
)

func postgresConnector(t testing.TB, dsn string) driver.Connector {
	t.Helper()
	config, err := pgx.ParseConfig(dsn)
	require.NoError(t, err)
	return stdlib.GetConnector(*config)
}

// postgresDatabase is the server's database, reached at address: its own, or a proxy's before it.
func postgresDatabase(t testing.TB, pg *server.Postgres, address string) database {
	return database{dialect: sqlstore.PostgreSQL, connector: postgresConnector(t, pg.DSN(address))}
}

// TestPostgreSQL runs stores that share a table with a connection pool each.
func TestPostgreSQL(t *testing.T) {
	t.Parallel()
	pg := server.StartPostgres(t)
	direct := postgresDatabase(t, pg, pg.Address)
	stores := &postgresStores{server: pg}
	exercise(t, engine{open: stores.open, again: stores.again, loseReply: stores.loseReply, disturb: stores.disturb})
	exerciseSQL(t, direct)
	t.Run("acknowledged writes outlive cut connections", func(t *testing.T) { testAudit(t, pg) })
	t.Run("every collation", func(t *testing.T) { testCollations(t, pg) })
	t.Run("every protocol", func(t *testing.T) { testProtocols(t, pg) })
	t.Run("nothing is locked but the row", func(t *testing.T) { testRowLocks(t, direct) })
	t.Run("every isolation level", func(t *testing.T) { testIsolation(t, direct) })
}

// testRowLocks guards that a document which a transaction has written keeps nobody from any other document of the table.
func testRowLocks(t *testing.T, d database) {
	store, db := d.store(t)
	version := create(t, store, keyOf("replaced"), nil)
	doomed := create(t, store, keyOf("deleted"), nil)
	tx := begin(t, db, nil)
	bound := store.Tx(tx)
	_, err := bound.Write(t.Context(), keyOf("replaced"), []byte("inside"), version)
	require.NoError(t, err)
	_, err = bound.Write(t.Context(), keyOf("created"), []byte("inside"), "")
	require.NoError(t, err)
	require.NoError(t, bound.Delete(t.Context(), keyOf("deleted"), doomed))

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	require.NoError(t, everyCall(ctx, store, keyOf("another")))
	_, seen, err := store.Read(ctx, keyOf("replaced"))
	require.NoError(t, err)
	require.Equal(t, version, seen, "a reader does not wait either")
	require.NoError(t, tx.Rollback())
}

// postgresStores opens stores through a proxy each and remembers where they are.
type postgresStores struct {
	server *server.Postgres
	places sync.Map // docstore.Store to place
}

type place struct {
	table string
	proxy *proxy.Proxy
}

func (s *postgresStores) openAt(t *testing.T, table string) (docstore.Store, *proxy.Proxy) {
	p := proxy.Start(t, s.server.Address)
	d := postgresDatabase(t, s.server, p.Address())
	store := d.storeIn(t, d.open(t), table)
	s.places.Store(store, place{table, p})
	return store, p
}

func (s *postgresStores) placeOf(store docstore.Store) place {
	found, _ := s.places.Load(store)
	return found.(place)
}

func (s *postgresStores) open(t *testing.T, n int) []docstore.Store {
	table := newTable()
	stores := make([]docstore.Store, n)
	for i := range stores {
		stores[i], _ = s.openAt(t, table)
	}
	return stores
}

func (s *postgresStores) again(t *testing.T, store docstore.Store) docstore.Store {
	again, _ := s.openAt(t, s.placeOf(store).table)
	return again
}

// loseReply cuts the connection when the server tells that the row was written, or when it is about to be asked to.
func (s *postgresStores) loseReply(_ *testing.T, store docstore.Store, applied bool) {
	p := s.placeOf(store).proxy
	if applied {
		p.CutOn(proxy.Reply, func(data []byte) bool {
			return bytes.Contains(data, []byte("INSERT 0 1\x00")) || bytes.Contains(data, []byte("UPDATE 1\x00"))
		})
		return
	}
	// The key is in the message that carries the arguments, not in the one that prepares the statement.
	p.CutOn(proxy.Request, func(data []byte) bool {
		return bytes.Contains(data, []byte("memscope1_")) || bytes.Contains(data, []byte("memstate1_"))
	})
}

func (s *postgresStores) disturb(t *testing.T) *disturbance {
	table := newTable()
	calm, _ := s.openAt(t, table)
	shaky, p := s.openAt(t, table)
	p.CutWith(proxy.Anywhere(4000))
	p.CutAll()
	return &disturbance{stores: []docstore.Store{shaky}, calm: calm, count: p.Cuts, stop: func() { p.CutWith(nil) }}
}
