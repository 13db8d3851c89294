package notes

import (
	"strconv"
	"strings"
)

// statements are all that a Store sends about notes. Each has the key that it is about as an equality condition of its own,
// the full-text and the vector lookup included; only keys, which lists the scopes without anything in them, has none.
type statements struct {
	scope, lock, newScope, saveScope, dropScope, keys string

	byOrigin, insert, replace, read, remove, page, numbers, expired, oldest string

	addTerms, dropTerms, lookUp, forRanking string

	// of the index when the terms of a note are damaged: see leftover.go
	body, dropIndexOf, dropIndex, hasEntries, openVocabulary, entries, entriesOf, closeVocabulary string

	beginOperation, operation, pruneOperations string

	recalled, hasRecall, lastRecall, recordRecall, pruneRecalls, forgetRecalls string

	addVector, dropVectors, vectors, withoutVector string

	dropNotes, dropOperations, dropRecalls, dropAllVectors string
}

const noteColumns = `scope, seq, kind, created, updated, expires, version, body, details`

func (s *Store) prepare() {
	pick := func(sqlite, postgres string) string {
		if s.dialect == SQLite {
			return s.expand(sqlite)
		}
		return s.expand(postgres)
	}
	same := s.expand
	const scopeColumns = `number, last_note, facts, fact_words, utterances, utterance_words`
	// The words of a scope begin with its number, then k or u.
	const entries = `SELECT term, doc & 4294967295 FROM {P}_scopes AS scope CROSS JOIN temp.{P}_vocabulary
		WHERE scope.key = @1 AND term >= printf('t%xk', scope.number) AND term < printf('t%xv', scope.number)`
	// The recording of an operation, unless it shows a note that has expired and was not deleted yet.
	const unexpired = `scope = {SCOPE} AND operation = @2 AND NOT EXISTS (SELECT 1 FROM {P}_notes AS note
		WHERE note.scope = {SCOPE} AND note.expires > 0 AND note.expires <= @3 AND recall.notes LIKE '%,' || note.seq || ',%')`
	const scopeRow = `SELECT ` + scopeColumns + ` FROM {P}_scopes WHERE key = @1`

	s.sql = statements{
		scope: same(scopeRow),
		// In SQLite the first statement of a transaction has to write, so that nothing it reads afterwards can be out of
		// date.
		lock:      pick(`UPDATE {P}_scopes SET last_note = last_note WHERE key = @1 RETURNING `+scopeColumns, scopeRow+` FOR UPDATE`),
		newScope:  same(`INSERT INTO {P}_scopes (key) VALUES (@1) ON CONFLICT (key) DO NOTHING`),
		saveScope: same(`UPDATE {P}_scopes SET last_note = @2, facts = @3, fact_words = @4, utterances = @5, utterance_words = @6 WHERE key = @1`),
		dropScope: same(`DELETE FROM {P}_scopes WHERE key = @1`),
		keys:      same(`SELECT key FROM {P}_scopes WHERE key > @1 ORDER BY key LIMIT @2`),

		byOrigin: same(`SELECT seq FROM {P}_notes WHERE scope = {SCOPE} AND origin = @2`),
		insert: same(`INSERT INTO {P}_notes (scope, seq, kind, origin, thread, created, updated, expires, version, terms, body, details)
			VALUES ({SCOPE}, @2, @3, @4, @5, @6, @6, @7, 1, @8, @9, @10) ON CONFLICT (scope, origin) DO NOTHING`),
		replace: same(`UPDATE {P}_notes SET origin = @3, updated = @4, expires = @5, version = version + 1, terms = @6, body = @7, details = @8
			WHERE scope = {SCOPE} AND seq = @2`),
		read:    pick(amongSQLite(noteColumns+`, terms`), amongPostgreSQL(noteColumns+`, terms`)),
		remove:  same(`DELETE FROM {P}_notes WHERE scope = {SCOPE} AND seq = @2`),
		page:    same(`SELECT ` + noteColumns + `, terms FROM {P}_notes WHERE scope = {SCOPE} AND seq > @2 AND (expires = 0 OR expires > @3) ORDER BY seq LIMIT @4`),
		numbers: same(`SELECT seq FROM {P}_notes WHERE scope = {SCOPE} ORDER BY seq LIMIT @2`),
		expired: same(`SELECT seq FROM {P}_notes WHERE scope = {SCOPE} AND expires > 0 AND expires <= @2 ORDER BY expires LIMIT @3`),
		oldest:  same(`SELECT seq FROM {P}_notes WHERE scope = {SCOPE} AND kind = 2 ORDER BY seq LIMIT @2`),

		addTerms: pick(
			`INSERT INTO {P}_index (rowid, terms) SELECT (number << 32) | @2, @3 FROM {P}_scopes WHERE key = @1`,
			`INSERT INTO {P}_index (scope, kind, term, seq) SELECT number, @3::bigint, term, @2::bigint
				FROM {P}_scopes, unnest(string_to_array(@4, ',')::bigint[]) AS term WHERE key = @1`),
		dropTerms: pick(
			`INSERT INTO {P}_index ({P}_index, rowid, terms) SELECT 'delete', (number << 32) | @2, @3 FROM {P}_scopes WHERE key = @1`,
			`DELETE FROM {P}_index WHERE scope = {SCOPE} AND seq = @2 AND kind = @3 AND term = ANY(string_to_array(@4, ',')::bigint[])`),
		lookUp: pick(
			`SELECT (SELECT group_concat(seq) FROM (SELECT rowid & 4294967295 AS seq FROM {P}_index
				WHERE {P}_index MATCH word.value AND rowid BETWEEN scope.number << 32 AND (scope.number << 32) | 4294967295
				ORDER BY rowid DESC LIMIT @3))
			FROM {P}_scopes AS scope CROSS JOIN json_each(@2) AS word WHERE scope.key = @1 ORDER BY word.key`,
			`SELECT (SELECT string_agg(seq::text, ',') FROM (SELECT i.seq FROM {P}_index AS i
				WHERE i.scope = scope.number AND i.kind = word.kind AND i.term = word.term ORDER BY i.seq DESC LIMIT @4) AS found)
			FROM {P}_scopes AS scope CROSS JOIN unnest(string_to_array(@2, ',')::bigint[], string_to_array(@3, ',')::bigint[])
				WITH ORDINALITY AS word (kind, term, place) WHERE scope.key = @1 ORDER BY word.place`),
		forRanking: pick(amongSQLite(`seq, kind, thread, terms`), amongPostgreSQL(`seq, kind, thread, terms`)),

		body:        same(`SELECT body FROM {P}_notes WHERE scope = {SCOPE} AND seq = @2`),
		dropIndexOf: pick(``, `DELETE FROM {P}_index WHERE scope = {SCOPE} AND seq = ANY(string_to_array(@2, ',')::bigint[])`),
		dropIndex:   pick(``, `DELETE FROM {P}_index WHERE ctid = ANY(ARRAY(SELECT ctid FROM {P}_index WHERE scope = {SCOPE} LIMIT @2))`),
		hasEntries: pick(`SELECT 1 FROM {P}_scopes AS scope CROSS JOIN {P}_index WHERE scope.key = @1
			AND {P}_index MATCH printf('t%xk* OR t%xu*', scope.number, scope.number) LIMIT 1`, ``),
		openVocabulary:  pick(`CREATE VIRTUAL TABLE IF NOT EXISTS temp.{P}_vocabulary USING fts5vocab('main', '{P}_index', 'instance')`, ``),
		closeVocabulary: pick(`DROP TABLE temp.{P}_vocabulary`, ``),
		entries:         pick(entries+` LIMIT @2`, ``),
		entriesOf:       pick(entries+` AND doc & 4294967295 IN (SELECT value FROM json_each(@2))`, ``),

		beginOperation: same(`INSERT INTO {P}_operations (scope, operation, done) VALUES ({SCOPE}, @2, @3) ON CONFLICT (scope, operation) DO NOTHING`),
		pruneOperations: same(`DELETE FROM {P}_operations WHERE scope = {SCOPE} AND operation IN
			(SELECT operation FROM {P}_operations WHERE scope = {SCOPE} AND done <= @2 LIMIT @3)`),
		operation: same(`SELECT 1 FROM {P}_operations WHERE scope = {SCOPE} AND operation = @2`),

		recalled:   same(`SELECT items FROM {P}_recalls AS recall WHERE ` + unexpired),
		hasRecall:  same(`SELECT 1 FROM {P}_recalls AS recall WHERE ` + unexpired),
		lastRecall: same(`SELECT coalesce(max(serial), 0) FROM {P}_recalls WHERE scope = {SCOPE}`),
		recordRecall: same(`INSERT INTO {P}_recalls (scope, operation, serial, notes, items) VALUES ({SCOPE}, @2, @3, @4, @5)
			ON CONFLICT (scope, operation) DO UPDATE SET serial = excluded.serial, notes = excluded.notes, items = excluded.items`),
		pruneRecalls:  same(`DELETE FROM {P}_recalls WHERE scope = {SCOPE} AND serial <= @2`),
		forgetRecalls: same(`DELETE FROM {P}_recalls WHERE scope = {SCOPE} AND notes LIKE @2`),

		addVector: same(`INSERT INTO {P}_vectors (scope, model, kind, seq, vector) VALUES ({SCOPE}, @2, @3, @4, @5)
			ON CONFLICT (scope, kind, seq, model) DO UPDATE SET vector = excluded.vector`),
		dropVectors: same(`DELETE FROM {P}_vectors WHERE scope = {SCOPE} AND kind IN (1, 2) AND seq = @2`),
		vectors:     same(`SELECT seq, vector FROM {P}_vectors WHERE scope = {SCOPE} AND model = @2 AND kind = @3`),
		withoutVector: same(`SELECT ` + noteColumns + `, terms FROM {P}_notes AS n WHERE n.scope = {SCOPE} AND n.seq > @3 AND NOT EXISTS
			(SELECT 1 FROM {P}_vectors AS v WHERE v.scope = n.scope AND v.model = @2 AND v.kind = n.kind AND v.seq = n.seq) ORDER BY n.seq LIMIT @4`),

		dropNotes:      same(`DELETE FROM {P}_notes WHERE scope = {SCOPE}`),
		dropOperations: same(`DELETE FROM {P}_operations WHERE scope = {SCOPE}`),
		dropRecalls:    same(`DELETE FROM {P}_recalls WHERE scope = {SCOPE}`),
		dropAllVectors: same(`DELETE FROM {P}_vectors WHERE scope = {SCOPE}`),
	}
}

// amongSQLite reads columns of the notes whose numbers are in a list, in their order.
func amongSQLite(columns string) string {
	return `SELECT ` + columns + ` FROM {P}_notes WHERE scope = {SCOPE} AND seq IN (SELECT value FROM json_each(@2))
		AND (expires = 0 OR expires > @3) ORDER BY seq`
}

// amongPostgreSQL does the same. It looks up each number by itself, and leaves the planner no other way: as long as it knows
// nothing of a new table, it takes scopes for small and compares every number with every note.
func amongPostgreSQL(columns string) string {
	return `SELECT note.* FROM unnest(string_to_array(@2, ',')::bigint[]) AS wanted (number) CROSS JOIN LATERAL (SELECT ` + columns + `
		FROM {P}_notes WHERE scope = {SCOPE} AND seq = wanted.number AND (expires = 0 OR expires > @3) LIMIT 1) AS note ORDER BY note.seq`
}

// expand fills in the names of the tables, the scope of the key, which is the first parameter everywhere, and the spelling
// of the dialect.
func (s *Store) expand(statement string) string {
	statement = strings.ReplaceAll(statement, "{SCOPE}", "(SELECT number FROM {P}_scopes WHERE key = @1)")
	statement = strings.ReplaceAll(statement, "{P}", s.prefix)
	if s.dialect == SQLite {
		return strings.ReplaceAll(statement, "@", "?")
	}
	return strings.ReplaceAll(statement, "@", "$")
}

// among is the list of numbers in the statements of amongSQLite and amongPostgreSQL.
func (s *Store) among(numbers []int64) string {
	out := make([]byte, 0, 8*len(numbers)+2)
	if s.dialect == SQLite {
		out = append(out, '[')
	}
	for i, n := range numbers {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(out, n, 10)
	}
	if s.dialect == SQLite {
		out = append(out, ']')
	}
	return string(out)
}
