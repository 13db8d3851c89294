package integration_test

import (
	"database/sql/driver"
	"testing"

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
	exercise(t, engine{
		open: func(t *testing.T, n int) []docstore.Store {
			table := newTable()
			stores := make([]docstore.Store, n)
			for i := range stores {
				stores[i] = direct.storeIn(t, direct.open(t), table)
			}
			return stores
		},
		disturb: func(t *testing.T) *disturbance {
			table := newTable()
			calm := direct.storeIn(t, direct.open(t), table)
			p := proxy.Start(t, pg.Address)
			cut := postgresDatabase(t, pg, p.Address())
			store := cut.storeIn(t, cut.open(t), table)
			p.CutWith(proxy.Anywhere(4000))
			p.CutAll()
			return &disturbance{stores: repeated(store, 1), calm: calm, count: p.Cuts, stop: func() { p.CutWith(nil) }}
		},
	})
	exerciseSQL(t, direct)
	t.Run("acknowledged writes outlive cut connections", func(t *testing.T) { testAudit(t, pg) })
	t.Run("every collation", func(t *testing.T) { testCollations(t, pg) })
	t.Run("every isolation level", func(t *testing.T) { testIsolation(t, direct) })
}
