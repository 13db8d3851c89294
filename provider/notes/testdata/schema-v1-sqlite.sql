CREATE TABLE IF NOT EXISTS recollect_notes_schema (
	version INTEGER NOT NULL PRIMARY KEY
) STRICT;

CREATE TABLE IF NOT EXISTS recollect_notes_scopes (
	number          INTEGER PRIMARY KEY AUTOINCREMENT,
	key             TEXT COLLATE BINARY NOT NULL UNIQUE,
	last_note       INTEGER NOT NULL DEFAULT 0,
	facts           INTEGER NOT NULL DEFAULT 0,
	fact_words      INTEGER NOT NULL DEFAULT 0,
	utterances      INTEGER NOT NULL DEFAULT 0,
	utterance_words INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE IF NOT EXISTS recollect_notes_notes (
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

CREATE UNIQUE INDEX IF NOT EXISTS recollect_notes_origin ON recollect_notes_notes (scope, origin);

CREATE INDEX IF NOT EXISTS recollect_notes_expires ON recollect_notes_notes (scope, expires) WHERE expires > 0;

CREATE VIRTUAL TABLE IF NOT EXISTS recollect_notes_index USING fts5(terms, content='', detail='none', columnsize=0, tokenize='ascii');

INSERT INTO recollect_notes_index (recollect_notes_index, rank) VALUES ('secure-delete', 1);

CREATE TABLE IF NOT EXISTS recollect_notes_operations (
	scope     INTEGER NOT NULL,
	operation TEXT COLLATE BINARY NOT NULL,
	done      INTEGER NOT NULL,
	PRIMARY KEY (scope, operation)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS recollect_notes_recalls (
	scope     INTEGER NOT NULL,
	operation TEXT COLLATE BINARY NOT NULL,
	serial    INTEGER NOT NULL,
	notes     TEXT NOT NULL,
	items     TEXT NOT NULL,
	PRIMARY KEY (scope, operation)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS recollect_notes_vectors (
	scope  INTEGER NOT NULL,
	model  TEXT COLLATE BINARY NOT NULL,
	kind   INTEGER NOT NULL,
	seq    INTEGER NOT NULL,
	vector BLOB NOT NULL,
	PRIMARY KEY (scope, kind, seq, model)
) STRICT, WITHOUT ROWID;

INSERT INTO recollect_notes_schema (version) VALUES (1) ON CONFLICT DO NOTHING;
