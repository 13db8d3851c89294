package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"strings"
)

// A NULL schema means every attached database, searched in SQLite's order.
const (
	sqliteRelation = `SELECT type FROM pragma_table_list WHERE lower(name) = lower(?1) AND (?2 IS NULL OR lower(schema) = lower(?2))`

	sqliteColumns = `SELECT name, type, '', "notnull", dflt_value IS NOT NULL OR hidden <> 0 FROM pragma_table_xinfo(?1, ?2)`

	sqliteUniqueKey = `SELECT EXISTS (SELECT 1 FROM pragma_index_list(?1, ?2) AS i
		WHERE i."unique" AND NOT i.partial
			AND (SELECT count(*) FROM pragma_index_xinfo(i.name, ?2) WHERE "key") = 1
			AND (SELECT count(*) FROM pragma_index_xinfo(i.name, ?2) WHERE "key" AND name = 'key' AND coll = 'BINARY') = 1)`

	// No pragma tells the collation of a column, and an index may have another one. A column of a materialized query has
	// that of its first part, here of no row, so how it compares shows it. The name of the query is that of no table.
	sqliteFolded = `WITH "the columns" (key, version) AS MATERIALIZED (SELECT key, version FROM TABLE WHERE false UNION ALL SELECT 'a', 'a')
		SELECT key IN ('A', 'a ') OR version IN ('A', 'a ') FROM "the columns"`
)

// inspectSQLite describes the table that t names in the attached databases.
func inspectSQLite(ctx context.Context, db *sql.DB, t table) (shape, error) {
	schema := sql.NullString{String: t.schema, Valid: t.schema != ""}
	var s shape
	err := db.QueryRowContext(ctx, sqliteRelation, t.name, schema).Scan(&s.relation)
	if errors.Is(err, sql.ErrNoRows) {
		return shape{}, nil
	}
	if err != nil {
		return shape{}, err
	}
	rows, err := db.QueryContext(ctx, sqliteColumns, t.name, schema)
	if err != nil {
		return shape{}, err
	}
	if s.columns, err = scanColumns(rows); err != nil {
		return shape{}, err
	}
	if err := db.QueryRowContext(ctx, sqliteUniqueKey, t.name, schema).Scan(&s.uniqueKey); err != nil {
		return shape{}, err
	}
	if s.relation != "table" || !s.has("key") || !s.has("version") {
		return s, nil
	}
	return s, db.QueryRowContext(ctx, strings.Replace(sqliteFolded, "TABLE", t.String(), 1)).Scan(&s.folded)
}
