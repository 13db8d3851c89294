CREATE TABLE IF NOT EXISTS recollect_notes_schema (
	version bigint NOT NULL PRIMARY KEY
);

CREATE TABLE IF NOT EXISTS recollect_notes_scopes (
	number          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	key             text COLLATE "C" NOT NULL UNIQUE,
	last_note       bigint NOT NULL DEFAULT 0,
	facts           bigint NOT NULL DEFAULT 0,
	fact_words      bigint NOT NULL DEFAULT 0,
	utterances      bigint NOT NULL DEFAULT 0,
	utterance_words bigint NOT NULL DEFAULT 0
);

CREATE TABLE IF NOT EXISTS recollect_notes_notes (
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

CREATE UNIQUE INDEX IF NOT EXISTS recollect_notes_origin ON recollect_notes_notes (scope, origin);

CREATE INDEX IF NOT EXISTS recollect_notes_expires ON recollect_notes_notes (scope, expires) WHERE expires > 0;

CREATE TABLE IF NOT EXISTS recollect_notes_index (
	scope bigint NOT NULL,
	kind  bigint NOT NULL,
	term  bigint NOT NULL,
	seq   bigint NOT NULL,
	PRIMARY KEY (scope, kind, term, seq)
);

CREATE TABLE IF NOT EXISTS recollect_notes_operations (
	scope     bigint NOT NULL,
	operation text COLLATE "C" NOT NULL,
	done      bigint NOT NULL,
	PRIMARY KEY (scope, operation)
);

CREATE TABLE IF NOT EXISTS recollect_notes_recalls (
	scope     bigint NOT NULL,
	operation text COLLATE "C" NOT NULL,
	serial    bigint NOT NULL,
	notes     text NOT NULL,
	items     text NOT NULL,
	PRIMARY KEY (scope, operation)
);

CREATE TABLE IF NOT EXISTS recollect_notes_vectors (
	scope  bigint NOT NULL,
	model  text COLLATE "C" NOT NULL,
	kind   bigint NOT NULL,
	seq    bigint NOT NULL,
	vector bytea NOT NULL,
	PRIMARY KEY (scope, kind, seq, model)
);

INSERT INTO recollect_notes_schema (version) VALUES (1) ON CONFLICT DO NOTHING;
