package integration_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/notes"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testNotesConcurrent guards that captures, recalls, forgetting and erasures of one scope at once, from several pools as from
// several processes, leave what is counted, what is indexed and what is there the same, and another tenant's notes alone.
func testNotesConcurrent(t *testing.T, d database) {
	tables := newNoteTables()
	db := d.open(t)
	store := d.notesIn(t, db, tables, &notes.Options{Embedder: letters(nil)})
	mine, theirs := keyOf("busy"), keyOf("quiet")
	addFacts(t, store, theirs, "The zebra of the others sleeps.")
	quiet := indexRows(t, d, db, tables)

	var workers sync.WaitGroup
	for worker := range 4 {
		store := d.notesIn(t, d.open(t), tables, &notes.Options{Embedder: letters(nil)})
		a := attach(t, store, mine, &notes.ProviderOptions{Replays: 3})
		workers.Go(func() {
			for round := range 12 {
				id := fmt.Sprint("turn ", worker, " ", round)
				turn := a.turn(id, memory.UserMessage("zebra "+id), memory.UserMessage("lion"))
				assert.NoError(t, a.CaptureTurn(t.Context(), turn))
				_, err := a.Recall(t.Context(), &memory.TurnStarted{Operation: a.under(id), Turn: turn.Turn})
				assert.NoError(t, err)
				added, err := store.Add(t.Context(), mine, notes.Draft{Text: fmt.Sprint("A fact of round ", round)})
				assert.NoError(t, err)
				if worker%2 == 0 {
					_, err = store.Forget(t.Context(), mine, added[0].ID)
					assert.NoError(t, err)
				}
				if worker == 3 && round%5 == 4 {
					assert.NoError(t, store.Erase(t.Context(), mine))
				}
			}
		})
	}
	workers.Wait()

	var facts, utterances, scopes int
	row := db.QueryRowContext(t.Context(), `SELECT sum(facts), sum(utterances), count(*) FROM `+tables+`_scopes`)
	require.NoError(t, row.Scan(&facts, &utterances, &scopes))
	require.Equal(t, 2, scopes)
	require.Equal(t, rowsOf(t, db, tables)["notes"], facts+utterances)
	require.Equal(t, rowsOf(t, db, tables)["vectors"], facts+utterances)
	ids := idsOf(t, store, mine)
	require.Len(t, ids, facts+utterances-1)
	n, err := store.Forget(t.Context(), mine, ids...)
	require.NoError(t, err)
	require.Len(t, ids, n)
	require.Equal(t, quiet, indexRows(t, d, db, tables))
	var words int
	require.NoError(t, db.QueryRowContext(t.Context(), `SELECT facts + fact_words + utterances + utterance_words FROM `+tables+
		`_scopes WHERE key = `+parameter(d), mine).Scan(&words))
	require.Zero(t, words)
	require.Equal(t, []string{"The zebra of the others sleeps."}, searchFacts(t, store, theirs, "zebra"))
}

func idsOf(t *testing.T, store *notes.Store, key string) (ids []string) {
	t.Helper()
	list, err := store.List(t.Context(), key, "", 1000)
	require.NoError(t, err)
	for _, n := range list {
		ids = append(ids, n.ID)
	}
	return ids
}
