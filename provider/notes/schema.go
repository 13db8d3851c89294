package notes

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// SchemaVersion is the version of the tables, and of everything in them, that this package reads and writes.
const SchemaVersion = 1

// Schema returns the statements that create the tables if they do not exist, for those who run their own migrations.
// EnsureSchema runs the same.
func (s *Store) Schema() string { return strings.Join(s.schema(), ";\n\n") + ";\n" }

func (s *Store) schema() []string {
	text := schemaSQLite
	if s.dialect == PostgreSQL {
		text = schemaPostgreSQL
	}
	var statements []string
	for _, statement := range strings.Split(s.expand(text), ";") {
		if statement = strings.TrimSpace(statement); statement != "" {
			statements = append(statements, statement)
		}
	}
	return statements
}

const schemaSQLite = `
CREATE TABLE IF NOT EXISTS {P}_schema (
	version INTEGER NOT NULL PRIMARY KEY
) STRICT;
CREATE TABLE IF NOT EXISTS {P}_scopes (
	number          INTEGER PRIMARY KEY AUTOINCREMENT,
	key             TEXT COLLATE BINARY NOT NULL UNIQUE,
	last_note       INTEGER NOT NULL DEFAULT 0,
	facts           INTEGER NOT NULL DEFAULT 0,
	fact_words      INTEGER NOT NULL DEFAULT 0,
	utterances      INTEGER NOT NULL DEFAULT 0,
	utterance_words INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE IF NOT EXISTS {P}_notes (
	scope   INTEGER NOT NULL,
	seq     INTEGER NOT NULL,
	kind    INTEGER NOT NULL,
	origin  TEXT COLLATE BINARY NOT NULL,
	thread  INTEGER NOT NULL,
	created INTEGER NOT NULL,
	updated INTEGER NOT NULL,
	expires INTEGER NOT NULL,
	version INTEGER NOT NULL,
	terms   BLOB NOT NULL,
	body    BLOB NOT NULL,
	details TEXT NOT NULL,
	PRIMARY KEY (scope, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS {P}_origin ON {P}_notes (scope, origin);
CREATE INDEX IF NOT EXISTS {P}_expires ON {P}_notes (scope, expires) WHERE expires > 0;
CREATE VIRTUAL TABLE IF NOT EXISTS {P}_index USING fts5(terms, content='', detail='none', columnsize=0, tokenize='ascii');
INSERT INTO {P}_index ({P}_index, rank) VALUES ('secure-delete', 1);
CREATE TABLE IF NOT EXISTS {P}_operations (
	scope     INTEGER NOT NULL,
	operation TEXT COLLATE BINARY NOT NULL,
	done      INTEGER NOT NULL,
	PRIMARY KEY (scope, operation)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS {P}_recalls (
	scope     INTEGER NOT NULL,
	operation TEXT COLLATE BINARY NOT NULL,
	serial    INTEGER NOT NULL,
	notes     TEXT NOT NULL,
	items     TEXT NOT NULL,
	PRIMARY KEY (scope, operation)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS {P}_vectors (
	scope  INTEGER NOT NULL,
	model  TEXT COLLATE BINARY NOT NULL,
	kind   INTEGER NOT NULL,
	seq    INTEGER NOT NULL,
	vector BLOB NOT NULL,
	PRIMARY KEY (scope, kind, seq, model)
) STRICT, WITHOUT ROWID;
INSERT INTO {P}_schema (version) VALUES (1) ON CONFLICT DO NOTHING`

const schemaPostgreSQL = `
CREATE TABLE IF NOT EXISTS {P}_schema (
	version bigint NOT NULL PRIMARY KEY
);
CREATE TABLE IF NOT EXISTS {P}_scopes (
	number          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	key             text COLLATE "C" NOT NULL UNIQUE,
	last_note       bigint NOT NULL DEFAULT 0,
	facts           bigint NOT NULL DEFAULT 0,
	fact_words      bigint NOT NULL DEFAULT 0,
	utterances      bigint NOT NULL DEFAULT 0,
	utterance_words bigint NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS {P}_notes (
	scope   bigint NOT NULL,
	seq     bigint NOT NULL,
	kind    bigint NOT NULL,
	origin  text COLLATE "C" NOT NULL,
	thread  bigint NOT NULL,
	created bigint NOT NULL,
	updated bigint NOT NULL,
	expires bigint NOT NULL,
	version bigint NOT NULL,
	terms   bytea NOT NULL,
	body    bytea NOT NULL,
	details text NOT NULL,
	PRIMARY KEY (scope, seq)
);
CREATE UNIQUE INDEX IF NOT EXISTS {P}_origin ON {P}_notes (scope, origin);
CREATE INDEX IF NOT EXISTS {P}_expires ON {P}_notes (scope, expires) WHERE expires > 0;
CREATE TABLE IF NOT EXISTS {P}_index (
	scope bigint NOT NULL,
	kind  bigint NOT NULL,
	term  bigint NOT NULL,
	seq   bigint NOT NULL,
	PRIMARY KEY (scope, kind, term, seq)
);
CREATE TABLE IF NOT EXISTS {P}_operations (
	scope     bigint NOT NULL,
	operation text COLLATE "C" NOT NULL,
	done      bigint NOT NULL,
	PRIMARY KEY (scope, operation)
);
CREATE TABLE IF NOT EXISTS {P}_recalls (
	scope     bigint NOT NULL,
	operation text COLLATE "C" NOT NULL,
	serial    bigint NOT NULL,
	notes     text NOT NULL,
	items     text NOT NULL,
	PRIMARY KEY (scope, operation)
);
CREATE TABLE IF NOT EXISTS {P}_vectors (
	scope  bigint NOT NULL,
	model  text COLLATE "C" NOT NULL,
	kind   bigint NOT NULL,
	seq    bigint NOT NULL,
	vector bytea NOT NULL,
	PRIMARY KEY (scope, kind, seq, model)
);
INSERT INTO {P}_schema (version) VALUES (1) ON CONFLICT DO NOTHING`

// EnsureSchema creates the tables if there is none of them, and otherwise checks them as CheckSchema does: existing tables
// are never changed. Any number of processes may do so at once. Where the tables exist, no right to create one is needed.
func (s *Store) EnsureSchema(ctx context.Context) error {
	err := s.CheckSchema(ctx)
	if errors.Is(err, ErrSchema) && !missing(err) {
		// The tables were looked at one by one, and somebody may have created them meanwhile: all at once.
		err = s.CheckSchema(ctx)
	}
	if !missing(err) {
		return err
	}
	if err := s.retry(ctx, func() error { return s.create(ctx) }); err != nil {
		return fmt.Errorf("notes: create tables: %w", withContext(ctx, err))
	}
	return s.CheckSchema(ctx)
}

// create creates all tables in one transaction. PostgreSQL lets two processes that create one table at once fail, so they
// take turns.
func (s *Store) create(ctx context.Context) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // of no interest after a commit
	if s.dialect == PostgreSQL {
		if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(hashtext($1))`, s.prefix); err != nil {
			return err
		}
	}
	for _, statement := range s.schema() {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func missing(err error) bool {
	var wrong *SchemaError
	return errors.As(err, &wrong) && wrong.missing
}

// CheckSchema returns a *SchemaError, which matches ErrSchema and names what was found, unless the tables have the version
// and the columns that the store relies on. It changes nothing.
func (s *Store) CheckSchema(ctx context.Context) error {
	var found, absent []string
	for _, table := range s.tables() {
		var problems []string
		err := s.retry(ctx, func() (err error) {
			problems, err = s.inspect(ctx, table)
			return err
		})
		switch {
		case errors.Is(err, errNoTable):
			absent = append(absent, fmt.Sprintf("table %s does not exist", table.name))
		case err != nil:
			return fmt.Errorf("notes: inspect table %s: %w", table.name, withContext(ctx, err))
		}
		found = append(found, problems...)
	}
	if len(found)+len(absent) > 0 {
		return &SchemaError{Found: append(found, absent...), missing: len(absent) == len(s.tables())}
	}
	return s.checkVersion(ctx)
}

func (s *Store) checkVersion(ctx context.Context) error {
	var version sql.NullInt64
	err := s.retry(ctx, func() error {
		return s.db.QueryRowContext(ctx, s.expand(`SELECT max(version) FROM {P}_schema`)).Scan(&version)
	})
	if err != nil {
		return fmt.Errorf("notes: read the version of the tables: %w", withContext(ctx, err))
	}
	if version.Int64 != SchemaVersion {
		return &SchemaError{Found: []string{fmt.Sprintf("the tables have version %d, not %d", version.Int64, SchemaVersion)}}
	}
	return nil
}
