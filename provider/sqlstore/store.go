package sqlstore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/recollect-go/recollect/internal/docstore"
)

// DefaultTable is the table of a Store whose options name none.
const DefaultTable = "recollect_documents"

// Options configures New. nil means all defaults.
type Options struct {
	// Table is the name of the table, with its schema before it if need be: "memories", "agents.memories". It is used
	// exactly as written, upper and lower case too. In SQLite the schema is the name of an attached database. Default:
	// DefaultTable.
	Table string
}

// Store is a filememory.Backend and a state.Store in one table. It may be used concurrently, and by several processes.
type Store struct {
	db      *sql.DB
	dialect Dialect
	table   table
	sql     statements
	turn    turn
}

// New returns a store in db, which stays the caller's to configure and to close. It sends nothing: EnsureSchema creates the
// table, CheckSchema looks at it. It fails on a nil db, an unknown dialect or a name that is no table name, and tells all
// of them.
func New(db *sql.DB, dialect Dialect, opts *Options) (*Store, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Table == "" {
		o.Table = DefaultTable
	}
	var errs []error
	if db == nil {
		errs = append(errs, errors.New("sqlstore: db is nil"))
	}
	if !dialect.known() {
		errs = append(errs, fmt.Errorf("sqlstore: %v is neither PostgreSQL nor SQLite", dialect))
	}
	t, err := parseTable(o.Table)
	if err != nil {
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return &Store{db: db, dialect: dialect, table: t, sql: newStatements(dialect, t), turn: newTurn(dialect)}, nil
}

// Read returns the document of key and its version. See filememory.Backend.
func (s *Store) Read(ctx context.Context, key string) ([]byte, string, error) {
	if err := admit(ctx, key); err != nil {
		return nil, "", err
	}
	var content []byte
	var version string
	err := s.query(ctx, func() error {
		return s.db.QueryRowContext(ctx, s.sql.read, key).Scan(&content, &version)
	})
	if err != nil {
		return nil, "", readError(ctx, err)
	}
	return content, version, nil
}

// Write replaces the document of key if its version is expected, in one statement. See filememory.Backend.
func (s *Store) Write(ctx context.Context, key string, content []byte, expected string) (string, error) {
	if err := admit(ctx, key); err != nil {
		return "", err
	}
	version := newVersion()
	statement, args := s.sql.write(key, content, expected, version)
	// A create must not be repeated: when the first was carried out and somebody deleted the document since, the second would
	// bring it back. A repeated update finds another version then.
	result, err := s.change(ctx, statement, args, expected == "")
	switch {
	case err != nil:
		return "", fmt.Errorf("sqlstore: write: %w", err)
	case result.applied:
		return version, nil
	case !result.resent:
		return "", conflict(key, expected)
	}
	// The statement went out twice and the second found another version: perhaps that of the first.
	stored, err := s.versionOf(ctx, key)
	if err == nil && stored == version {
		return version, nil
	}
	return "", fmt.Errorf("sqlstore: write: %w", unknownOutcome(ctx, errors.Join(errResent, err)))
}

// Delete removes the document of key if its version is expected, in one statement; a second one looks why nothing was removed.
// See filememory.Backend.
func (s *Store) Delete(ctx context.Context, key, expected string) error {
	if err := admit(ctx, key); err != nil {
		return err
	}
	result, err := s.change(ctx, s.sql.remove, []any{key, expected}, false)
	if err != nil {
		return fmt.Errorf("sqlstore: delete: %w", err)
	}
	if result.applied {
		return nil
	}
	_, err = s.versionOf(ctx, key)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case result.resent:
		return fmt.Errorf("sqlstore: delete: %w", unknownOutcome(ctx, errors.Join(errResent, err)))
	case err != nil:
		return err
	default:
		return conflict(key, expected)
	}
}

// List returns the keys of a page of at most limit rows in the order of their bytes, without bodies. Rows of the
// application whose key is outside the grammar are left out, so a page may be short. The cursor is the last row's key of
// the page before. See filememory.Lister.
func (s *Store) List(ctx context.Context, cursor string, limit int) (keys []string, next string, err error) {
	if limit < 1 {
		return nil, "", fmt.Errorf("sqlstore: list: limit is %d, not positive", limit)
	}
	err = s.query(ctx, func() error {
		keys, err = s.page(ctx, cursor, limit)
		return err
	})
	if err != nil {
		return nil, "", fmt.Errorf("sqlstore: list: %w", withContext(ctx, err))
	}
	if len(keys) == limit {
		next = keys[limit-1]
	}
	if next != "" && next <= cursor {
		return nil, "", fmt.Errorf("sqlstore: list: table %s does not order keys by their bytes, and the listing would not end", s.table)
	}
	return slices.DeleteFunc(keys, isForeign), next, nil
}

func isForeign(key string) bool { return docstore.CheckKey(key) != nil }

// page returns the keys of at most limit rows, whoever's they are.
func (s *Store) page(ctx context.Context, after string, limit int) ([]string, error) {
	rows, err := s.db.QueryContext(ctx, s.sql.list, after, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var keys []string
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, rows.Err()
}

// versionOf returns the version of key's document, or an error matching fs.ErrNotExist.
func (s *Store) versionOf(ctx context.Context, key string) (version string, err error) {
	err = s.query(ctx, func() error {
		return s.db.QueryRowContext(ctx, s.sql.version, key).Scan(&version)
	})
	if err != nil {
		return "", readError(ctx, err)
	}
	return version, nil
}

// admit refuses what must not reach the database: a key outside the grammar, and any call whose context has ended.
func admit(ctx context.Context, key string) error {
	if err := docstore.CheckKey(key); err != nil {
		return fmt.Errorf("sqlstore: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("sqlstore: not sent: %w", err)
	}
	return nil
}

// newVersion returns a random version: no other write of any process has it, so a version also tells who wrote.
func newVersion() string { return rand.Text() }

// write returns the one statement that writes the document, and its arguments.
func (s *statements) write(key string, content []byte, expected, version string) (string, []any) {
	if content == nil {
		content = []byte{} // an empty document; drivers send nil as NULL
	}
	if expected == "" {
		return s.create, []any{key, version, content}
	}
	return s.replace, []any{key, expected, version, content}
}

func conflict(key, expected string) error {
	return fmt.Errorf("sqlstore: %w", &docstore.ConflictError{Key: key, Expected: expected})
}
