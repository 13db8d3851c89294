package sqlstore_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/recollect-go/recollect/internal/leak"
	"github.com/recollect-go/recollect/provider/sqlstore"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { leak.Main(m) }

// fake is a database that understands the statements of this package alone and fails as it is told to: what drivers do when
// connections break cannot be had from a real one on demand. The real ones are in internal/integration.
type fake struct {
	mu      sync.Mutex
	rows    map[string]row
	created bool
	faults  []fault
	dialErr error
	execs   int // statements other than SELECT that arrived

	unordered bool    // every key comes after every other
	unread    []error // what the next SELECTs return
}

type row struct {
	version string
	content []byte
}

// fault is what happens to one statement other than a SELECT.
type fault struct {
	applied bool  // it takes effect
	err     error // what the driver returns
	block   bool  // it does not return before the context ends

	after    func(*fake) // runs after it took effect, as another client would
	noResult error       // what RowsAffected returns
}

func newFake() *fake { return &fake{rows: map[string]row{}} }

// store returns a store in the table of the fake, and its pool.
func (f *fake) store(t *testing.T, dialect sqlstore.Dialect) (*sqlstore.Store, *sql.DB) {
	t.Helper()
	db := sql.OpenDB(f)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	store, err := sqlstore.New(db, dialect, nil)
	require.NoError(t, err)
	return store, db
}

// fail appends faults of the statements to come.
func (f *fake) fail(faults ...fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, faults...)
}

// failReads makes the next SELECTs, as many as times says, return err.
func (f *fake) failReads(times int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unread = append(f.unread, slices.Repeat([]error{err}, times)...)
}

func (f *fake) put(key, version, content string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rows[key] = row{version, []byte(content)}
}

func (f *fake) content(key string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return string(f.rows[key].content)
}

func (f *fake) statements() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.execs
}

// Connect and Driver make it a driver.Connector.
func (f *fake) Connect(context.Context) (driver.Conn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dialErr != nil {
		return nil, f.dialErr
	}
	return &fakeConn{f: f}, nil
}

func (f *fake) Driver() driver.Driver { return nil }

// exec carries out one statement, or does not, and returns what it comes back with.
func (f *fake) exec(query string, args []driver.NamedValue) (what fault, changed int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.execs++
	what = f.nextFault()
	if what.applied {
		changed = f.apply(query, args)
	}
	if what.after != nil {
		what.after(f)
	}
	return what, changed
}

func (f *fake) nextFault() fault {
	if len(f.faults) == 0 {
		return fault{applied: true}
	}
	next := f.faults[0]
	f.faults = f.faults[1:]
	return next
}

// apply carries out one statement and returns how many rows it changed.
func (f *fake) apply(query string, args []driver.NamedValue) int64 {
	text := func(i int) string { return args[i].Value.(string) }
	switch {
	case strings.HasPrefix(query, "CREATE TABLE IF NOT EXISTS"):
		f.created = true
		return 0
	case strings.HasPrefix(query, "INSERT INTO"):
		if _, exists := f.rows[text(0)]; exists {
			return 0
		}
		f.rows[text(0)] = row{text(1), slices.Clone(args[2].Value.([]byte))}
	case strings.HasPrefix(query, "UPDATE"):
		if f.rows[text(0)].version != text(1) {
			return 0
		}
		f.rows[text(0)] = row{text(2), slices.Clone(args[3].Value.([]byte))}
	case strings.HasPrefix(query, "DELETE"):
		if stored, exists := f.rows[text(0)]; !exists || stored.version != text(1) {
			return 0
		}
		delete(f.rows, text(0))
	default:
		panic("fake: " + query)
	}
	return 1
}

// answer returns the rows of a SELECT.
func (f *fake) answer(query string, args []driver.NamedValue) [][]driver.Value {
	switch {
	case strings.HasPrefix(query, "SELECT content, version"):
		if stored, ok := f.rows[args[0].Value.(string)]; ok {
			return [][]driver.Value{{slices.Clone(stored.content), stored.version}}
		}
	case strings.HasPrefix(query, "SELECT version"):
		if stored, ok := f.rows[args[0].Value.(string)]; ok {
			return [][]driver.Value{{stored.version}}
		}
	case strings.HasPrefix(query, "SELECT key"):
		var page [][]driver.Value
		for _, key := range slices.Sorted(maps.Keys(f.rows)) {
			if (f.unordered || key > args[0].Value.(string)) && int64(len(page)) < args[1].Value.(int64) {
				page = append(page, []driver.Value{key})
			}
		}
		return page
	case !f.created:
	case strings.Contains(query, "pg_class"):
		return [][]driver.Value{{"table"}}
	case strings.Contains(query, "pg_index"):
		return [][]driver.Value{{true}}
	case strings.Contains(query, "pg_attribute"):
		return [][]driver.Value{
			{"key", "text", "C", true, false}, {"version", "text", "C", true, false}, {"content", "bytea", "", true, false},
		}
	}
	return nil
}

// fakeConn is a connection. A transaction is undone from a copy: the tests have one at a time.
type fakeConn struct {
	f    *fake
	undo map[string]row
}

func (c *fakeConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	what, changed := c.f.exec(query, args)
	if what.block {
		<-ctx.Done()
	}
	if what.err != nil {
		return nil, what.err
	}
	return result{changed, what.noResult}, nil
}

func (c *fakeConn) QueryContext(_ context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	if len(c.f.unread) > 0 {
		err := c.f.unread[0]
		c.f.unread = c.f.unread[1:]
		return nil, err
	}
	return &answers{rows: c.f.answer(query, args)}, nil
}

func (c *fakeConn) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	c.undo = maps.Clone(c.f.rows)
	return c, nil
}

func (c *fakeConn) Commit() error { return nil }

func (c *fakeConn) Rollback() error {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	c.f.rows = c.undo
	return nil
}

func (c *fakeConn) Close() error                        { return nil }
func (c *fakeConn) Begin() (driver.Tx, error)           { return nil, errors.ErrUnsupported }
func (c *fakeConn) Prepare(string) (driver.Stmt, error) { return nil, errors.ErrUnsupported }

type result struct {
	changed int64
	err     error
}

func (r result) RowsAffected() (int64, error) { return r.changed, r.err }
func (r result) LastInsertId() (int64, error) { return 0, errors.ErrUnsupported }

type answers struct{ rows [][]driver.Value }

func (a *answers) Columns() []string {
	if len(a.rows) == 0 {
		return []string{"", "", "", "", ""}
	}
	return make([]string, len(a.rows[0]))
}

func (a *answers) Close() error { return nil }

func (a *answers) Next(dest []driver.Value) error {
	if len(a.rows) == 0 {
		return io.EOF
	}
	copy(dest, a.rows[0])
	a.rows = a.rows[1:]
	return nil
}
