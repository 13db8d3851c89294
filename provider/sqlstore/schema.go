package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Schema returns the statement that creates the table if it does not exist, for those who run their own migrations.
// EnsureSchema runs the same.
//
// The key column compares bytes, whatever the collation of the database, so that keys that differ only in case stay apart.
// More columns may be added, as long as rows can be inserted without them.
func (s *Store) Schema() string {
	if s.dialect == SQLite {
		return fmt.Sprintf(`CREATE TABLE IF NOT EXISTS %s (
	key     TEXT COLLATE BINARY NOT NULL PRIMARY KEY,
	version TEXT COLLATE BINARY NOT NULL,
	content BLOB NOT NULL
) STRICT;
`, s.table)
	}
	return fmt.Sprintf(`CREATE TABLE IF NOT EXISTS %s (
	key     text COLLATE "C" NOT NULL PRIMARY KEY,
	version text COLLATE "C" NOT NULL,
	content bytea NOT NULL
);
`, s.table)
}

// EnsureSchema creates the table if it does not exist, and otherwise checks it as CheckSchema does: an existing table is
// never changed. Any number of processes may do so at once. Where the table exists, no right to create one is needed.
func (s *Store) EnsureSchema(ctx context.Context) error {
	err := s.CheckSchema(ctx)
	if !missing(err) {
		return err
	}
	createErr := s.query(ctx, func() error {
		_, err := s.db.ExecContext(ctx, s.Schema())
		return err
	})
	// IF NOT EXISTS does not keep two processes from creating one table at once, and PostgreSQL fails one of them: what
	// counts is whether the table is there now.
	err = s.CheckSchema(ctx)
	if missing(err) && createErr != nil {
		return fmt.Errorf("sqlstore: create table %s: %w", s.table, withContext(ctx, createErr))
	}
	return err
}

// missing reports whether err says that there is no such table.
func missing(err error) bool {
	var wrong *SchemaError
	return errors.As(err, &wrong) && wrong.missing
}

// CheckSchema returns a *SchemaError, which matches ErrSchema and names what was found, unless the table has the columns
// and the unique key that the store relies on. It changes nothing.
func (s *Store) CheckSchema(ctx context.Context) error {
	found := new(shape)
	err := s.query(ctx, func() (err error) {
		if s.dialect == SQLite {
			*found, err = inspectSQLite(ctx, s.db, s.table)
		} else {
			*found, err = inspectPostgreSQL(ctx, s.db, s.table)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("sqlstore: inspect table %s: %w", s.table, withContext(ctx, err))
	}
	if found.relation == "" {
		return &SchemaError{Table: s.table.String(), Found: []string{"it does not exist"}, missing: true}
	}
	if problems := found.problems(s.dialect); len(problems) > 0 {
		return &SchemaError{Table: s.table.String(), Found: problems}
	}
	return nil
}

// shape is what the database says about a table. The zero shape is that of a table that does not exist.
type shape struct {
	relation  string // "table", or what else has the name
	columns   []column
	uniqueKey bool // key, compared by its bytes, is unique
	folded    bool // key or version is not compared by its bytes, though its kind does not say so
}

type column struct {
	name    string
	kind    string // type and collation, as the database spells them
	notNull bool
	filled  bool // an insert may leave it out
}

// wanted returns the columns that the store uses.
func wanted(d Dialect) []column {
	if d == SQLite {
		return []column{
			{name: "key", kind: "TEXT", notNull: true},
			{name: "version", kind: "TEXT", notNull: true},
			{name: "content", kind: "BLOB", notNull: true},
		}
	}
	return []column{
		{name: "key", kind: `text COLLATE "C"`, notNull: true},
		{name: "version", kind: `text COLLATE "C"`, notNull: true},
		{name: "content", kind: "bytea", notNull: true},
	}
}

// problems lists how the table differs from what the store needs.
func (s shape) problems(d Dialect) []string {
	if s.relation != "table" {
		return []string{"it is a " + s.relation}
	}
	var problems []string
	ours := map[string]bool{}
	for _, want := range wanted(d) {
		ours[want.name] = true
		if problem := s.problem(want); problem != "" {
			problems = append(problems, problem)
		}
	}
	for _, c := range s.columns {
		if !ours[c.name] && c.notNull && !c.filled {
			problems = append(problems, fmt.Sprintf("column %s is NOT NULL without a default, so no document could be inserted", c.name))
		}
	}
	if s.folded {
		problems = append(problems, "column key or version has another collation than BINARY")
	}
	if !s.uniqueKey {
		problems = append(problems, "no unique index on key alone that compares bytes")
	}
	return problems
}

func (s shape) has(name string) bool {
	return slices.ContainsFunc(s.columns, func(c column) bool { return c.name == name })
}

func (s shape) problem(want column) string {
	for _, c := range s.columns {
		if c.name != want.name {
			continue
		}
		if c.kind != want.kind {
			return fmt.Sprintf("column %s is %s, not %s", c.name, c.kind, want.kind)
		}
		if !c.notNull {
			return fmt.Sprintf("column %s may be NULL", c.name)
		}
		return ""
	}
	return fmt.Sprintf("column %s is missing", want.name)
}

// scanColumns reads rows of name, kind, collation, not null, filled.
func scanColumns(rows *sql.Rows) ([]column, error) {
	defer rows.Close()
	var columns []column
	for rows.Next() {
		var c column
		var collation string
		if err := rows.Scan(&c.name, &c.kind, &collation, &c.notNull, &c.filled); err != nil {
			return nil, err
		}
		if collation != "" {
			c.kind = strings.TrimSpace(c.kind) + ` COLLATE "` + collation + `"`
		}
		columns = append(columns, c)
	}
	return columns, rows.Err()
}
