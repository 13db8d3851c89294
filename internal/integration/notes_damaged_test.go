package integration_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/notes"
	"github.com/stretchr/testify/require"
)

// damage is what may have become of a note's row: a column and what it holds.
type damage struct {
	column string
	value  any
}

// told reports whether it can be told from intact terms. Otherwise entries of the index stay, which name a note that is not
// there, until the scope is erased.
func (d *damage) told() bool {
	terms, ok := d.value.([]byte)
	return !ok || d.column != "terms" || len(terms) == 0 || terms[0] == 0xff
}

var damages = map[string]damage{
	"terms that are none":            {"terms", []byte{}},
	"terms of a newer version":       {"terms", []byte{0xff, 1, 2}},
	"terms of nothing":               {"terms", []byte{1, 0, 0}},
	"terms of another note":          {"terms", []byte{1, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8}},
	"terms of a longer note":         {"terms", manyTerms()},
	"a provenance that is none":      {"details", "{"},
	"an unknown kind":                {"kind", 300},
	"an expiry before all time":      {"expires", -1},
	"a text that is no text":         {"body", []byte{0xff}},
	"a text that is no longer there": {"body", []byte{}},
}

// manyTerms is 40 words that no note has.
func manyTerms() []byte {
	terms := []byte{1, 40, 0}
	for i := range 40 {
		terms = append(terms, byte(i), 1, 2, 3, 4, 5, 6, 7)
	}
	return terms
}

// damaged writes the value over the column of the notes of the key.
func damaged(t *testing.T, d database, db querier, tables, key, column string, value any) {
	t.Helper()
	statement := `UPDATE ` + tables + `_notes SET ` + column + ` = ?2 WHERE scope = (SELECT number FROM ` + tables + `_scopes WHERE key = ?1)`
	if d.notesDialect() == notes.PostgreSQL {
		statement = strings.ReplaceAll(statement, "?", "$")
	}
	_, err := db.ExecContext(t.Context(), statement, key, value)
	require.NoError(t, err)
}

// requireIntact lets SQLite check its file, the full-text index included.
func requireIntact(t *testing.T, d database, db *sql.DB, tables string) {
	t.Helper()
	if d.notesDialect() == notes.SQLite {
		run(t, db, `INSERT INTO `+tables+`_index (`+tables+`_index) VALUES ('integrity-check')`)
		require.Equal(t, "ok", one[string](t, db, `PRAGMA integrity_check`))
	}
}

// testNotesDamaged guards that what is stored of a note stops nobody from deleting it.
func testNotesDamaged(t *testing.T, d database) {
	for name, what := range damages {
		t.Run("an erasure is not stopped by "+name, func(t *testing.T) {
			db, tables := d.open(t), newNoteTables()
			store := d.notesIn(t, db, tables, nil)
			other, key := keyOf("intact"), keyOf("damaged")
			addFacts(t, store, other, "The zebra sleeps.")
			before := indexRows(t, d, db, tables)
			for range 2 { // the second time after an erasure that met damage
				texts := make([]string, 12)
				for i := range texts {
					texts[i] = fmt.Sprint("zebra ", i)
				}
				addFacts(t, store, key, texts...)
				damaged(t, d, db, tables, key, what.column, what.value)
				require.NoError(t, store.Erase(t.Context(), key))
				require.Equal(t, map[string]int{"notes": 1, "vectors": 0, "recalls": 0, "operations": 0, "scopes": 1}, rowsOf(t, db, tables))
				require.Equal(t, before, indexRows(t, d, db, tables))
				requireIntact(t, d, db, tables)
			}
			require.Equal(t, []string{"The zebra sleeps."}, searchFacts(t, store, other, "zebra"))
			require.NoError(t, store.Erase(t.Context(), other), "the last note of all")
			require.Zero(t, indexRows(t, d, db, tables))
		})

		t.Run("a note is forgotten, and expires, in spite of "+name, func(t *testing.T) {
			var c clock
			db, tables := d.open(t), newNoteTables()
			store := d.notesIn(t, db, tables, &notes.Options{Now: c.now, Embedder: letters(nil)})
			key := keyOf("damaged")
			add := func(text string) string {
				added, err := store.Add(t.Context(), key, notes.Draft{Text: text, Expires: c.now().Add(time.Minute)})
				require.NoError(t, err)
				return added[0].ID
			}
			id := add("The zebra sleeps.")
			damaged(t, d, db, tables, key, what.column, what.value)
			n, err := store.Forget(t.Context(), key, id)
			require.NoError(t, err)
			require.Equal(t, 1, n)
			require.Equal(t, 0, rowsOf(t, db, tables)["notes"])
			require.Equal(t, 0, rowsOf(t, db, tables)["vectors"])
			if what.told() {
				require.Zero(t, indexRows(t, d, db, tables))
			}

			if what.column == "expires" {
				return
			}
			add("Another zebra sleeps.")
			damaged(t, d, db, tables, key, what.column, what.value)
			c.pass(time.Hour)
			addFacts(t, store, key, "Zebras wake.")
			require.Equal(t, []string{"Zebras wake."}, allNotes(t, store, key))
			require.Equal(t, 1, rowsOf(t, db, tables)["notes"])
			requireNotIndexed(t, store, key, "sleeps")
		})
	}

	t.Run("more damaged notes and words than one transaction deletes are erased", func(t *testing.T) {
		db, tables := d.open(t), newNoteTables()
		store := d.notesIn(t, db, tables, nil)
		key := keyOf("many damaged")
		texts := make([]string, 1005)
		for i := range texts {
			texts[i] = fmt.Sprint("z", i)
		}
		var long strings.Builder
		for i := range 10_500 {
			fmt.Fprintf(&long, "q%s ", strconv.FormatInt(int64(i), 36))
		}
		addFacts(t, store, key, append(texts, long.String())...)
		damaged(t, d, db, tables, key, "terms", []byte{1, 0, 0})
		damaged(t, d, db, tables, key, "expires", -1)
		require.NoError(t, store.Erase(t.Context(), key))
		require.Zero(t, rowsOf(t, db, tables)["scopes"])
		require.Zero(t, indexRows(t, d, db, tables))
		addFacts(t, store, key, "The zebra sleeps.")
		require.NoError(t, store.Erase(t.Context(), key))
	})

	t.Run("damaged terms do not change what is counted", func(t *testing.T) {
		db, tables := d.open(t), newNoteTables()
		store := d.notesIn(t, db, tables, nil)
		key := keyOf("counted")
		ids := addFacts(t, store, key, "The zebra of the zoo sleeps.", "The lion of the zoo does not.")
		addNotes(t, store, key, notes.Utterance, "What does the lion do?")
		damaged(t, d, db, tables, key, "terms", []byte{0xff})
		_, err := store.Forget(t.Context(), key, ids...)
		require.NoError(t, err)
		intact := keyOf("intact")
		addNotes(t, store, intact, notes.Utterance, "What does the lion do?")
		count := func(key string) [4]int {
			var c [4]int
			require.NoError(t, db.QueryRowContext(t.Context(), `SELECT facts, fact_words, utterances, utterance_words FROM `+tables+
				`_scopes WHERE key = `+parameter(d), key).Scan(&c[0], &c[1], &c[2], &c[3]))
			return c
		}
		require.Equal(t, count(intact), count(key))
	})

	t.Run("a damaged recording is an error for its operation alone, and an erasure deletes it", func(t *testing.T) {
		for _, items := range []string{"{", `{"v":2,"items":[]}`} {
			db, tables := d.open(t), newNoteTables()
			a := attach(t, d.notesIn(t, db, tables, nil), keyOf("recording"), nil)
			require.Empty(t, a.recall(t, "op", "zebra"))
			run(t, db, `UPDATE `+tables+`_recalls SET items = '`+items+`'`)
			_, err := a.Recall(t.Context(), &memory.TurnStarted{Operation: a.under("op"), Turn: memory.Turn{Input: []memory.Message{memory.UserMessage("zebra")}}})
			require.ErrorIs(t, err, notes.ErrMalformed)
			require.Empty(t, a.recall(t, "another op", "zebra"))
			require.NoError(t, a.Erase(t.Context(), &memory.EraseRequest{Operation: a.under("")}))
			require.Empty(t, a.recall(t, "op", "zebra"))
		}
	})

	t.Run("the error names the note, so that it can be forgotten, and replacing it heals it", func(t *testing.T) {
		for _, what := range []damage{{"terms", []byte{0xff}}, {"details", "{"}, {"kind", 3}, {"kind", 300}, {"kind", -1}} {
			db, tables := d.open(t), newNoteTables()
			store := d.notesIn(t, db, tables, nil)
			a := attach(t, store, keyOf("named"), nil)
			id := addFacts(t, store, a.key, "The zebra sleeps.")[0]
			damaged(t, d, db, tables, a.key, what.column, what.value)
			_, err := store.Search(t.Context(), a.key, &notes.SearchRequest{Query: "zebra", Facts: 1})
			require.ErrorIs(t, err, notes.ErrMalformed, "%v", what)
			require.ErrorContains(t, err, id)
			require.NotContains(t, err.Error(), "zebra")
			_, err = a.Recall(t.Context(), &memory.TurnStarted{Operation: a.under("op"), Turn: memory.Turn{Input: []memory.Message{memory.UserMessage("zebra")}}})
			require.ErrorIs(t, err, notes.ErrMalformed, "it is not left out silently")
			_, err = store.Get(t.Context(), a.key, id)
			require.Equal(t, what.column != "terms", errors.Is(err, notes.ErrMalformed), "%v: %v", what, err)
			if what.column == "terms" {
				_, err = store.Replace(t.Context(), a.key, id, "The zebra wakes.", "")
				require.NoError(t, err)
				require.Equal(t, []string{"The zebra wakes."}, searchFacts(t, store, a.key, "zebra"))
				require.Empty(t, searchFacts(t, store, a.key, "sleeps"))
			}
			_, err = store.Forget(t.Context(), a.key, id)
			require.NoError(t, err)
			require.Empty(t, searchFacts(t, store, a.key, "zebra"))
			require.Zero(t, indexRows(t, d, db, tables))
		}
	})
}
