package integration_test

import (
	"testing"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/integration/server"
	"github.com/stretchr/testify/require"
)

// testProtocols guards that the store needs no prepared statement, which a connection pooler may not allow.
func testProtocols(t *testing.T, pg *server.Postgres) {
	for _, mode := range []string{"exec", "simple_protocol"} {
		t.Run(mode, func(t *testing.T) {
			d := postgresDatabase(t, pg, pg.Address)
			d.connector = postgresConnector(t, pg.DSN(pg.Address)+"&default_query_exec_mode="+mode)
			store, _ := d.store(t)
			require.NoError(t, everyCall(t.Context(), store, keyOf(mode)))
			testContents(t, engine{open: func(*testing.T, int) []docstore.Store { return []docstore.Store{store} }})
			testSchema(t, d)
		})
	}
}
