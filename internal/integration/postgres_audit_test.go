package integration_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/integration/proxy"
	"github.com/recollect-go/recollect/internal/integration/server"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testAudit compares what the clients were told over connections that are cut with what a trigger in the server saw happen.
func testAudit(t *testing.T, pg *server.Postgres) {
	direct := postgresDatabase(t, pg, pg.Address)
	table := newTable()
	calm := direct.storeIn(t, direct.open(t), table)
	db := direct.open(t)
	run(t, db, strings.ReplaceAll(auditSchema, "TABLENAME", table))

	p := proxy.Start(t, pg.Address)
	cut := postgresDatabase(t, pg, p.Address())
	pool := cut.open(t)
	store := cut.storeIn(t, pool, table)
	p.CutWith(proxy.Anywhere(2000))
	p.CutAll()

	writes := 60
	if testing.Short() {
		writes = 30
	}
	var clients sync.WaitGroup
	told := make([]*ledger, connections)
	for i := range told {
		told[i] = &ledger{key: keyOf(fmt.Sprint("audit ", i))}
		clients.Go(func() { told[i].write(t, store, calm, writes) })
	}
	clients.Wait()
	p.CutWith(nil)
	pool.SetMaxIdleConns(0) // one that was cut after its last reply would fail once more
	pool.SetMaxIdleConns(connections)
	requireFullPool(t, pool)

	unknown := 0
	for _, l := range told {
		l.compare(t, db, table)
		unknown += len(l.unknown)
	}
	t.Logf("%d writes, %d of unknown outcome, %d cuts", len(told)*writes, unknown, p.Cuts())
	require.NotZero(t, unknown, "no outcome was ever unknown, so the run proves nothing")
}

const auditSchema = `
CREATE TABLE TABLENAME_audit (id bigserial PRIMARY KEY, key text, content text);
CREATE FUNCTION TABLENAME_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO TABLENAME_audit (key, content) VALUES (NEW.key, convert_from(NEW.content, 'UTF8'));
	RETURN NULL;
END $$;
CREATE TRIGGER audit AFTER INSERT OR UPDATE ON TABLENAME FOR EACH ROW EXECUTE FUNCTION TABLENAME_audit();`

// ledger is what the only writer of a key was told about its writes.
type ledger struct {
	key     string
	done    []string // contents acknowledged
	refused []string // contents certainly not written
	unknown []string // contents written or not
}

// write makes writes over store and, after each unknown outcome, learns over calm where it stands.
func (l *ledger) write(t *testing.T, store, calm docstore.Store, writes int) {
	ctx := context.Background()
	version := ""
	for i := range writes {
		content := fmt.Sprint("write ", i)
		next, err := store.Write(ctx, l.key, []byte(content), version)
		switch {
		case err == nil:
			l.done = append(l.done, content)
			version = next
			continue
		case errors.Is(err, docstore.ErrUnknownOutcome):
			l.unknown = append(l.unknown, content)
		default:
			l.refused = append(l.refused, content)
		}
		_, version, err = calm.Read(ctx, l.key)
		if !errors.Is(err, fs.ErrNotExist) && !assert.NoError(t, err) {
			return
		}
	}
}

// compare requires that the server saw every acknowledged write once, every unknown one at most once, and nothing else.
func (l *ledger) compare(t *testing.T, db *sql.DB, table string) {
	t.Helper()
	seen := map[string]int{}
	rows, err := db.QueryContext(t.Context(), `SELECT content, count(*) FROM `+table+`_audit WHERE key = $1 GROUP BY content`, l.key)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var content string
		var times int
		require.NoError(t, rows.Scan(&content, &times))
		seen[content] = times
	}
	require.NoError(t, rows.Err())
	for _, content := range l.done {
		require.Equal(t, 1, seen[content], "acknowledged: %s", content)
	}
	for _, content := range l.unknown {
		require.LessOrEqual(t, seen[content], 1, "unknown: %s", content)
	}
	for _, content := range l.refused {
		require.Zero(t, seen[content], "refused: %s", content)
	}
}
