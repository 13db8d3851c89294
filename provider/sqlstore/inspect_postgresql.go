package sqlstore

import (
	"context"
	"database/sql"
	"errors"
)

const (
	postgresRelation = `SELECT CASE relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'table' WHEN 'v' THEN 'view'
			WHEN 'm' THEN 'materialized view' WHEN 'f' THEN 'foreign table' ELSE 'relation of kind ' || relkind::text END
		FROM pg_catalog.pg_class WHERE oid = to_regclass($1)`

	postgresColumns = `SELECT a.attname, format_type(a.atttypid, a.atttypmod), coalesce(c.collname, ''), a.attnotnull,
			a.atthasdef OR a.attidentity <> ''
		FROM pg_catalog.pg_attribute a LEFT JOIN pg_catalog.pg_collation c ON c.oid = a.attcollation
		WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`

	// A deferrable constraint and a partial or expression index cannot arbitrate ON CONFLICT (key).
	postgresUniqueKey = `SELECT EXISTS (SELECT 1
		FROM pg_catalog.pg_index i
		JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
		JOIN pg_catalog.pg_collation c ON c.oid = i.indcollation[0]
		WHERE i.indrelid = to_regclass($1) AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indpred IS NULL
			AND i.indnkeyatts = 1 AND a.attname = 'key' AND c.collname = 'C')`
)

// inspectPostgreSQL describes the relation that t names under the connection's search path.
func inspectPostgreSQL(ctx context.Context, db *sql.DB, t table) (shape, error) {
	var s shape
	err := db.QueryRowContext(ctx, postgresRelation, t.String()).Scan(&s.relation)
	if errors.Is(err, sql.ErrNoRows) {
		return shape{}, nil
	}
	if err != nil {
		return shape{}, err
	}
	rows, err := db.QueryContext(ctx, postgresColumns, t.String())
	if err != nil {
		return shape{}, err
	}
	if s.columns, err = scanColumns(rows); err != nil {
		return shape{}, err
	}
	return s, db.QueryRowContext(ctx, postgresUniqueKey, t.String()).Scan(&s.uniqueKey)
}
