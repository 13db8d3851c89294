package integration_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recollect-go/recollect/internal/integration/server"
	"github.com/recollect-go/recollect/provider/sqlstore"
	"github.com/stretchr/testify/require"
)

// documentSize is that of a file memory of about ten entries.
const documentSize = 600

// The benchmarks turn waiting for the disk off, in the connection strings below: it would hide what they are after. So a
// time is what a call costs the processor and the client; the commit of a write comes on top.

func BenchmarkPostgreSQL(b *testing.B) {
	pg := server.StartPostgres(b)
	d := database{dialect: sqlstore.PostgreSQL, connector: postgresConnector(b, pg.DSN(pg.Address)+"&synchronous_commit=off")}
	benchmarkSQL(b, d, `INSERT INTO TABLENAME SELECT 'memscope1_' || md5(i::text) || lpad(i::text, 11, '0'), 'v', CONTENT
		FROM generate_series(1, ROWS) i; ANALYZE TABLENAME`,
		`convert_to(repeat(md5(i::text), DOCUMENT / 32 + 1), 'UTF8')`)
}

func BenchmarkSQLite(b *testing.B) {
	// Without mmap_size every page comes through a system call, and a read among a million takes some 1.6 times one among a
	// thousand.
	pragmas := "?_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)&_pragma=mmap_size(1073741824)&_txlock=immediate"
	connector := sqliteConnectorWith(b, "file:"+sqliteFile(b)+pragmas)
	benchmarkSQL(b, database{dialect: sqlstore.SQLite, connector: connector},
		`INSERT INTO TABLENAME WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ROWS)
		SELECT 'memscope1_' || lower(hex(randomblob(16))) || printf('%011d', i), 'v', CONTENT FROM n`, `randomblob(DOCUMENT)`)
}

// benchmarkSQL measures the store beside the bare statement through the same client, and a million keys beside a thousand.
// load fills a table.
func benchmarkSQL(b *testing.B, d database, load, content string) {
	db := d.open(b) // one pool: in SQLite a write through another connection empties this one's cache
	filled := func(rows int) *documents {
		store := d.storeIn(b, db, newTable())
		table := strings.Fields(store.Schema())[5]
		fill := strings.NewReplacer("TABLENAME", table, "ROWS", fmt.Sprint(rows), "DOCUMENT", fmt.Sprint(documentSize))
		run(b, db, fill.Replace(strings.ReplaceAll(load, "CONTENT", content)))
		return newDocuments(b, store, db, table)
	}
	thousand := filled(1000)
	b.Run("read/store-to-bare", func(b *testing.B) { compare(b, thousand.readBare, thousand.read) })
	b.Run("write/store-to-bare", func(b *testing.B) { compare(b, thousand.writeBare, thousand.write) })
	if testing.Short() {
		return
	}
	million := filled(1_000_000)
	b.Run("read/million-to-thousand", func(b *testing.B) { compare(b, thousand.read, million.read) })
	b.Run("write/million-to-thousand", func(b *testing.B) { compare(b, thousand.write, million.write) })
}

// compare runs floor and subject in turn and reports the median time of each and their ratio. Turns and medians keep what
// else the machine does out of the ratio.
func compare(b *testing.B, floor, subject func(testing.TB)) {
	var floors, subjects []time.Duration
	timed := func(f func(testing.TB)) time.Duration {
		began := time.Now()
		f(b)
		return time.Since(began)
	}
	for i := 0; b.Loop(); i++ {
		if i%2 == 0 {
			floors = append(floors, timed(floor))
			subjects = append(subjects, timed(subject))
			continue
		}
		subjects = append(subjects, timed(subject))
		floors = append(floors, timed(floor))
	}
	low, high := median(floors), median(subjects)
	b.ReportMetric(float64(high), "ns/op") // in place of the time of the pair
	b.ReportMetric(float64(low), "floor-ns/op")
	b.ReportMetric(float64(high)/float64(low), "ratio")
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// documents is a table under measurement. Its versions are known, so that every write applies.
type documents struct {
	store    *sqlstore.Store
	db       *sql.DB
	keys     []string
	versions map[string]string
	content  []byte

	readSQL, writeSQL string
	writes            int
}

// sample is how many keys of a table are used.
const sample = 10_000

func newDocuments(b *testing.B, store *sqlstore.Store, db *sql.DB, table string) *documents {
	b.Helper()
	d := &documents{
		store: store, db: db, versions: map[string]string{}, content: noise(documentSize),
		readSQL:  `SELECT content, version FROM ` + table + ` WHERE key = $1`,
		writeSQL: `UPDATE ` + table + ` SET version = $3, content = $4 WHERE key = $1 AND version = $2`,
	}
	rows, err := db.Query(fmt.Sprintf(`SELECT key FROM %s ORDER BY random() LIMIT %d`, table, sample))
	require.NoError(b, err)
	defer rows.Close()
	for rows.Next() {
		var key string
		require.NoError(b, rows.Scan(&key))
		d.keys = append(d.keys, key)
		d.versions[key] = "v"
	}
	require.NoError(b, rows.Err())
	for _, key := range d.keys { // what follows finds them in memory, however many there are
		_, _, err := store.Read(b.Context(), key)
		require.NoError(b, err)
	}
	return d
}

func (d *documents) any() string { return d.keys[rand.IntN(len(d.keys))] }

func (d *documents) read(t testing.TB) {
	if _, _, err := d.store.Read(context.Background(), d.any()); err != nil {
		t.Fatal(err)
	}
}

func (d *documents) readBare(t testing.TB) {
	var content []byte
	var version string
	if err := d.db.QueryRowContext(context.Background(), d.readSQL, d.any()).Scan(&content, &version); err != nil {
		t.Fatal(err)
	}
}

func (d *documents) write(t testing.TB) {
	key := d.any()
	version, err := d.store.Write(context.Background(), key, d.content, d.versions[key])
	if err != nil {
		t.Fatal(err)
	}
	d.versions[key] = version
}

func (d *documents) writeBare(t testing.TB) {
	key := d.any()
	d.writes++
	version := fmt.Sprintf("%026d", d.writes)
	result, err := d.db.ExecContext(context.Background(), d.writeSQL, key, d.versions[key], version, d.content)
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := result.RowsAffected(); err != nil || rows != 1 {
		t.Fatal(rows, err)
	}
	d.versions[key] = version
}
