package notes

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

var errNoTable = errors.New("no such table")

// table is a table that the schema creates, with its columns and their types in their order.
type table struct {
	name    string
	columns []string // "<name> <type>"
}

var (
	createdTable  = regexp.MustCompile(`(?s)^CREATE TABLE IF NOT EXISTS "?([a-z0-9_]+)"? \((.*)\)`)
	createdColumn = regexp.MustCompile(`(?m)^\t([a-z_]+) +(INTEGER|TEXT|BLOB|bigint|bytea|text)`)
	createdIndex  = regexp.MustCompile(`^CREATE VIRTUAL TABLE IF NOT EXISTS "?([a-z0-9_]+)"?`)
)

// tables reads the tables out of the schema, so that they are described once.
func (s *Store) tables() (tables []table) {
	for _, statement := range s.schema() {
		if m := createdIndex.FindStringSubmatch(statement); m != nil {
			tables = append(tables, table{m[1], []string{"terms "}})
		}
		m := createdTable.FindStringSubmatch(statement)
		if m == nil {
			continue
		}
		t := table{name: m[1]}
		for _, column := range createdColumn.FindAllStringSubmatch(m[2], -1) {
			t.columns = append(t.columns, column[1]+" "+column[2])
		}
		tables = append(tables, t)
	}
	return tables
}

const (
	columnsSQLite     = `SELECT name || ' ' || type FROM pragma_table_info(?1) ORDER BY cid`
	columnsPostgreSQL = `SELECT attname || ' ' || format_type(atttypid, atttypmod) FROM pg_catalog.pg_attribute
		WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`
)

// inspect returns how a table differs from what the store needs. More columns at the end are none of its business.
func (s *Store) inspect(ctx context.Context, t table) ([]string, error) {
	query := columnsSQLite
	if s.dialect == PostgreSQL {
		query = columnsPostgreSQL
	}
	columns, err := collect(ctx, s.db, query, []any{t.name}, func(scan scanner) (column string, err error) { return column, scan(&column) })
	if err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		return nil, errNoTable
	}
	var problems []string
	for i, want := range t.columns {
		if i >= len(columns) || columns[i] != want {
			has := "nothing"
			if i < len(columns) {
				has = strings.TrimSpace(columns[i])
			}
			problems = append(problems, fmt.Sprintf("column %d of %s is %s, not %s", i+1, t.name, has, strings.TrimSpace(want)))
		}
	}
	return problems, nil
}
