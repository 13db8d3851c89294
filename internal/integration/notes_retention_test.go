package integration_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/notes"
	"github.com/stretchr/testify/require"
)

// clock is a clock that tests set.
type clock struct{ passed atomic.Int64 }

func (c *clock) now() time.Time {
	return time.Date(2026, time.May, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(c.passed.Load()))
}

func (c *clock) pass(d time.Duration) { c.passed.Add(int64(d)) }

func testNotesRetention(t *testing.T, d database) {
	t.Run("what has expired is not found, and then deleted from every table", func(t *testing.T) {
		var c clock
		db, tables := d.open(t), newNoteTables()
		store := d.notesIn(t, db, tables, &notes.Options{UtteranceLife: time.Hour, Now: c.now, Embedder: letters(nil)})
		key := keyOf("expiry")
		a := attach(t, store, key, nil)
		require.NoError(t, a.CaptureTurn(t.Context(), a.turn("t", memory.UserMessage("The zebra crossing is closed."))))
		addFacts(t, store, key, "Facts stay.")
		_, err := store.Add(t.Context(), key, notes.Draft{Text: "The zebra sleeps.", Expires: c.now().Add(time.Minute)})
		require.NoError(t, err)
		require.Len(t, a.recall(t, "op", "zebra"), 3, "with vectors, everything is near")
		c.pass(2 * time.Hour)

		require.Equal(t, []string{"Facts stay."}, allNotes(t, store, key))
		require.Equal(t, []string{"Facts stay."}, searchFacts(t, store, key, "zebra"))
		require.NoError(t, store.Expire(t.Context(), key))
		require.Equal(t, map[string]int{"notes": 1, "vectors": 1, "recalls": 0, "operations": 1, "scopes": 1}, rowsOf(t, db, tables))
		requireNotIndexed(t, store, key, "zebra")
	})

	t.Run("a change deletes what has expired in its scope", func(t *testing.T) {
		var c clock
		db, tables := d.open(t), newNoteTables()
		store := d.notesIn(t, db, tables, &notes.Options{FactLife: time.Hour, Now: c.now})
		id := addFacts(t, store, keyOf("scope"), "Old.", "Kept by a replacement.")[1]
		c.pass(50 * time.Minute)
		_, err := store.Replace(t.Context(), keyOf("scope"), id, "Replaced.", "")
		require.NoError(t, err)
		c.pass(20 * time.Minute)
		addFacts(t, store, keyOf("scope"), "New.")
		require.Equal(t, 2, rowsOf(t, db, tables)["notes"])
		require.Equal(t, []string{"Replaced.", "New."}, allNotes(t, store, keyOf("scope")))
	})

	t.Run("a note that has expired and is not deleted yet stands in for no new one", func(t *testing.T) {
		var c clock
		store, _ := d.notes(t, &notes.Options{Now: c.now})
		key := keyOf("backlog")
		drafts := make([]notes.Draft, 203)
		for i := range drafts {
			// More than one change deletes; the last ones expire last and are there the longest.
			drafts[i] = notes.Draft{Text: fmt.Sprint("Fact ", i), Expires: c.now().Add(time.Minute + time.Duration(i)*time.Millisecond)}
		}
		added, err := store.Add(t.Context(), key, drafts...)
		require.NoError(t, err)
		c.pass(time.Hour)
		again, err := store.Add(t.Context(), key, notes.Draft{Text: "Fact 202"})
		require.NoError(t, err)
		require.True(t, again[0].Added)
		require.Equal(t, []string{"Fact 202"}, allNotes(t, store, key))
		_, err = store.Replace(t.Context(), key, added[201].ID, "Changed.", "")
		require.ErrorIs(t, err, notes.ErrNoNote, "what has expired is not found")
		require.Equal(t, []string{"Fact 202"}, allNotes(t, store, key))
	})

	t.Run("a fact is not given up for one that has expired", func(t *testing.T) {
		var c clock
		store, _ := d.notes(t, &notes.Options{Now: c.now})
		key := keyOf("backlog of replacements")
		kept := addFacts(t, store, key, "Kept.")[0]
		drafts := make([]notes.Draft, 102)
		for i := range drafts {
			drafts[i] = notes.Draft{Text: fmt.Sprint("Fact ", i), Expires: c.now().Add(time.Minute + time.Duration(i)*time.Millisecond)}
		}
		_, err := store.Add(t.Context(), key, drafts...)
		require.NoError(t, err)
		c.pass(time.Hour)
		id, err := store.Replace(t.Context(), key, kept, "Fact 101", "")
		require.NoError(t, err)
		require.Equal(t, kept, id)
		require.Equal(t, []string{"Fact 101"}, allNotes(t, store, key))
	})

	t.Run("what has expired makes room before anything else has to", func(t *testing.T) {
		var c clock
		db, tables := d.open(t), newNoteTables()
		store := d.notesIn(t, db, tables, &notes.Options{MaxNotes: 300, WhenFull: notes.DropUtterances, Now: c.now})
		key := keyOf("expired room")
		addNotes(t, store, key, notes.Utterance, "Live.")
		drafts := make([]notes.Draft, 299)
		for i := range drafts {
			drafts[i] = notes.Draft{Text: fmt.Sprint("Short-lived ", i), Expires: c.now().Add(time.Minute)}
		}
		_, err := store.Add(t.Context(), key, drafts...)
		require.NoError(t, err)
		c.pass(time.Hour)
		for i := range drafts {
			drafts[i] = notes.Draft{Text: fmt.Sprint("Lasting ", i)}
		}
		_, err = store.Add(t.Context(), key, drafts...)
		require.NoError(t, err)
		require.Equal(t, 300, rowsOf(t, db, tables)["notes"])
		require.Equal(t, "Live.", allNotes(t, store, key)[0])
	})

	t.Run("over the cap, a note is refused", func(t *testing.T) {
		store, _ := d.notes(t, &notes.Options{MaxNotes: 2})
		key := keyOf("refuse")
		addFacts(t, store, key, "One.", "Two.")
		_, err := store.Add(t.Context(), key, notes.Draft{Text: "Three."})
		require.ErrorIs(t, err, notes.ErrFull)
		addFacts(t, store, key, "Two.")
		require.Equal(t, []string{"One.", "Two."}, allNotes(t, store, key))
		a := attach(t, store, key, nil)
		turn := a.turn("t", memory.UserMessage("hello"))
		require.ErrorIs(t, a.CaptureTurn(t.Context(), turn), notes.ErrFull)
		_, err = store.Select(t.Context(), key, "one")
		require.NoError(t, err)
		list, err := store.List(t.Context(), key, "", 1)
		require.NoError(t, err)
		_, err = store.Forget(t.Context(), key, list[0].ID)
		require.NoError(t, err)
		require.NoError(t, a.CaptureTurn(t.Context(), turn), "a capture that was refused can be repeated")
		require.Equal(t, []string{"Two.", "hello"}, allNotes(t, store, key))
	})

	t.Run("over the cap, the oldest utterances go and facts never", func(t *testing.T) {
		store, _ := d.notes(t, &notes.Options{MaxNotes: 3, WhenFull: notes.DropUtterances})
		key := keyOf("drop")
		addFacts(t, store, key, "Fact.")
		for i := range 4 {
			addNotes(t, store, key, notes.Utterance, fmt.Sprint("said ", i))
		}
		require.Equal(t, []string{"Fact.", "said 2", "said 3"}, allNotes(t, store, key))
		addFacts(t, store, key, "Second.", "Third.")
		require.Equal(t, []string{"Fact.", "Second.", "Third."}, allNotes(t, store, key))
		_, err := store.Add(t.Context(), key, notes.Draft{Text: "Fourth."})
		require.ErrorIs(t, err, notes.ErrFull)
		_, err = store.Add(t.Context(), key, notes.Draft{Kind: notes.Utterance, Text: "said 5"})
		require.ErrorIs(t, err, notes.ErrFull, "a note does not go for itself")
	})

	t.Run("captures are remembered for their life, and the record is then deleted", func(t *testing.T) {
		var c clock
		db, tables := d.open(t), newNoteTables()
		store := d.notesIn(t, db, tables, &notes.Options{OperationLife: time.Hour, Now: c.now})
		key := keyOf("operations")
		a := attach(t, store, key, nil)
		capture := func(turn, said string) {
			t.Helper()
			require.NoError(t, a.CaptureTurn(t.Context(), a.turn(turn, memory.UserMessage(said))))
		}
		capture("first", "One.")
		c.pass(40 * time.Minute)
		capture("second", "Two.")
		require.NoError(t, store.Expire(t.Context(), key))
		require.Equal(t, 2, rowsOf(t, db, tables)["operations"])
		list, err := store.List(t.Context(), key, "", 1)
		require.NoError(t, err)
		_, err = store.Forget(t.Context(), key, list[0].ID)
		require.NoError(t, err)
		capture("first", "One.")
		require.Equal(t, []string{"Two."}, allNotes(t, store, key), "what was forgotten does not come back by a repetition")
		c.pass(40 * time.Minute)
		require.NoError(t, store.Expire(t.Context(), key))
		require.Equal(t, 1, rowsOf(t, db, tables)["operations"])
		capture("second", "Two.")
		require.Equal(t, []string{"Two."}, allNotes(t, store, key))
	})

	t.Run("many records of captures are deleted", func(t *testing.T) {
		var c clock
		db, tables := d.open(t), newNoteTables()
		store := d.notesIn(t, db, tables, &notes.Options{OperationLife: time.Hour, Now: c.now})
		key := keyOf("many operations")
		addFacts(t, store, key, "A fact.")
		for _, row := range []string{"a", "b", "c"} {
			values := make([]string, 700)
			for i := range values {
				values[i] = fmt.Sprintf(`((SELECT number FROM %s_scopes), '%s%d', 1)`, tables, row, i)
			}
			run(t, db, `INSERT INTO `+tables+`_operations (scope, operation, done) VALUES `+strings.Join(values, ","))
		}
		require.NoError(t, store.Expire(t.Context(), key))
		require.Zero(t, rowsOf(t, db, tables)["operations"])
	})

	t.Run("what only takes away makes no scope", func(t *testing.T) {
		db, tables := d.open(t), newNoteTables()
		store := d.notesIn(t, db, tables, nil)
		key := keyOf("nobody")
		n, err := store.Forget(t.Context(), key, "n1-aaaaa")
		require.NoError(t, err)
		require.Zero(t, n)
		selection, err := store.Select(t.Context(), key, "zebra")
		require.NoError(t, err)
		n, err = store.ForgetSelection(t.Context(), key, selection)
		require.NoError(t, err)
		require.Zero(t, n)
		require.NoError(t, store.Expire(t.Context(), key))
		require.NoError(t, store.Erase(t.Context(), key))
		a := attach(t, store, key, nil)
		out, err := call[forgotten](t, a, "forget", `{"query":"zebra"}`)
		require.NoError(t, err)
		require.Empty(t, out.Matches)
		require.Zero(t, rowsOf(t, db, tables)["scopes"])

		require.Empty(t, a.recall(t, "op", "zebra"))
		require.NoError(t, store.Erase(t.Context(), key))
		require.Equal(t, map[string]int{"notes": 0, "vectors": 0, "recalls": 0, "operations": 0, "scopes": 0}, rowsOf(t, db, tables))
	})

	t.Run("an erased scope leaves nothing in any table", func(t *testing.T) {
		db, tables := d.open(t), newNoteTables()
		store := d.notesIn(t, db, tables, &notes.Options{Embedder: letters(nil)})
		a := attach(t, store, keyOf("erased"), nil)
		drafts := make([]notes.Draft, 1100)
		for i := range drafts {
			drafts[i] = notes.Draft{Kind: notes.Utterance, Text: fmt.Sprint("zebra ", i)}
		}
		_, err := store.Add(t.Context(), a.key, drafts...)
		require.NoError(t, err)
		require.NoError(t, a.CaptureTurn(t.Context(), a.turn("t", memory.UserMessage("hello"))))
		a.recall(t, "op", "zebra")
		var lines int
		require.NoError(t, store.Export(t.Context(), a.key, func(line json.RawMessage) error {
			lines++
			return json.Unmarshal(line, &struct{ Format string }{})
		}))
		require.Equal(t, 1101, lines)
		require.NoError(t, a.Erase(t.Context(), &memory.EraseRequest{Operation: a.under("")}))
		require.Equal(t, map[string]int{"notes": 0, "vectors": 0, "recalls": 0, "operations": 0, "scopes": 0}, rowsOf(t, db, tables))
		require.Zero(t, indexRows(t, d, db, tables))
	})
}

// rowsOf counts the rows of each table.
func rowsOf(t *testing.T, db querier, tables string) map[string]int {
	t.Helper()
	counts := make(map[string]int)
	for _, table := range []string{"scopes", "notes", "operations", "recalls", "vectors"} {
		var n int
		require.NoError(t, db.QueryRowContext(t.Context(), `SELECT count(*) FROM `+tables+`_`+table).Scan(&n))
		counts[table] = n
	}
	return counts
}

// indexRows counts what is in the full-text index: in SQLite its terms.
func indexRows(t *testing.T, d database, db querier, tables string) (n int) {
	t.Helper()
	query := `SELECT count(*) FROM ` + tables + `_index`
	if d.notesDialect() == notes.SQLite {
		vocabulary := `CREATE VIRTUAL TABLE IF NOT EXISTS ` + tables + `_vocabulary USING fts5vocab('` + tables + `_index', 'row')`
		_, err := db.ExecContext(t.Context(), vocabulary)
		require.NoError(t, err)
		query = `SELECT count(*) FROM ` + tables + `_vocabulary`
	}
	require.NoError(t, db.QueryRowContext(t.Context(), query).Scan(&n))
	return n
}

func requireNotIndexed(t *testing.T, store *notes.Store, key, word string) {
	t.Helper()
	selection, err := store.Select(t.Context(), key, word)
	require.NoError(t, err)
	require.Empty(t, selection.Notes)
}
