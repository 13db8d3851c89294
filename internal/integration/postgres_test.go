package integration_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/integration/proxy"
	"github.com/recollect-go/recollect/internal/integration/server"
	"github.com/recollect-go/recollect/provider/sqlstore"
)

// tables numbers the tables of a server, so that each test has one of its own.
var tables atomic.Int64

func newTable() string { return fmt.Sprintf("documents_%d", tables.Add(1)) }

// TestPostgreSQL runs stores that share a table with a connection pool each.
func TestPostgreSQL(t *testing.T) {
	t.Parallel()
	pg := server.StartPostgres(t)
	open := func(t testing.TB, address, table string) docstore.Store {
		return newSQLStore(t, openDB(t, "pgx", pg.DSN(address)), sqlstore.PostgreSQL, table)
	}
	exercise(t, engine{
		open: func(t *testing.T, n int) []docstore.Store {
			table := newTable()
			stores := make([]docstore.Store, n)
			for i := range stores {
				stores[i] = open(t, pg.Address, table)
			}
			return stores
		},
		disturb: func(t *testing.T) *disturbance {
			table := newTable()
			calm := open(t, pg.Address, table)
			p := proxy.Start(t, pg.Address)
			stores := repeated(open(t, p.Address(), table), processes)
			p.CutWith(proxy.Anywhere(4000))
			p.CutAll()
			return &disturbance{stores: stores, calm: calm, count: p.Cuts, stop: func() { p.CutWith(nil) }}
		},
	})
}

