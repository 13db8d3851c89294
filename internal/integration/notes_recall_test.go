package integration_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/notes"
	"github.com/stretchr/testify/require"
)

func testNotesRecall(t *testing.T, d database) {
	db := d.open(t)
	tables := newNoteTables()
	store := d.notesIn(t, db, tables, nil)

	t.Run("a repeated operation gets the same answer although notes were added", func(t *testing.T) {
		key := keyOf("repeated")
		a := attach(t, store, key, nil)
		require.Empty(t, a.recall(t, "empty", "Where is the key?"))
		addFacts(t, store, key, "The key is under the stone.")
		require.Empty(t, a.recall(t, "empty", "Where is the key?"), "an empty answer is one, too")
		first := a.recall(t, "op", "Where is the key?")
		require.Len(t, first, 1)
		addFacts(t, store, key, "The key of the car is on the table.")
		require.Equal(t, first, a.recall(t, "op", "Where is the key?"))
		require.Len(t, a.recall(t, "op 2", "Where is the key?"), 2)
	})

	t.Run("the newest recalls are kept, and no more", func(t *testing.T) {
		key := keyOf("bounded")
		a := attach(t, store, key, &notes.ProviderOptions{Replays: 3})
		addFacts(t, store, key, "The key is under the stone.")
		for i := range 10 {
			a.recall(t, fmt.Sprint("op ", i), "key?")
		}
		kept := one[int](t, db, `SELECT count(*) FROM `+tables+`_recalls WHERE scope = (SELECT number FROM `+tables+`_scopes WHERE key = `+parameter(d)+`)`, key)
		require.Equal(t, 3, kept)
	})

	t.Run("no recall is kept when none is wanted", func(t *testing.T) {
		db, tables := d.open(t), newNoteTables()
		store := d.notesIn(t, db, tables, nil)
		a := attach(t, store, keyOf("unrecorded"), &notes.ProviderOptions{Replays: -1})
		addFacts(t, store, a.key, "The key is under the stone.")
		require.Len(t, a.recall(t, "op", "Where is the key?"), 1)
		addFacts(t, store, a.key, "The key of the car is on the table.")
		require.Len(t, a.recall(t, "op", "Where is the key?"), 2)
		require.Zero(t, rowsOf(t, db, tables)["recalls"])
	})

	t.Run("a word that very many notes have finds the newest, and ranks what the other words find", func(t *testing.T) {
		key := keyOf("frequent")
		texts := make([]string, 4100)
		for i := range texts {
			texts[i] = fmt.Sprint("Zebra ", i)
		}
		texts[1], texts[2] = "Zebra lagoon", "Old lagoon"
		addFacts(t, store, key, texts...)
		require.Equal(t, "Zebra 4099", searchFacts(t, store, key, "zebra")[0])
		require.Equal(t, []string{"Zebra lagoon", "Old lagoon"}, searchFacts(t, store, key, "zebra lagoon")[:2])
		_, err := store.Select(t.Context(), key, "zebra")
		require.ErrorIs(t, err, notes.ErrTooMany)
	})

	t.Run("a changed note supersedes its earlier version", func(t *testing.T) {
		key := keyOf("superseded")
		a := attach(t, store, key, nil)
		id := addFacts(t, store, key, "The key is under the stone.")[0]
		before := a.recall(t, "op 1", "Where is the key?")
		same, err := store.Replace(t.Context(), key, id, "The key is behind the door.", "")
		require.NoError(t, err)
		require.Equal(t, id, same)
		after := a.recall(t, "op 2", "Where is the key?")
		require.Equal(t, before[0].ID, after[0].ID)
		require.Contains(t, after[0].Content, "behind the door")
		n, err := store.Get(t.Context(), key, id)
		require.NoError(t, err)
		require.Equal(t, 2, n.Version)
		require.Empty(t, searchFacts(t, store, key, "stone"), "the earlier text is not in the index any more")
	})

	t.Run("facts are never crowded out by utterances", func(t *testing.T) {
		key := keyOf("crowded")
		a := attach(t, store, key, nil)
		addFacts(t, store, key, "The deploy window of the shop is on Tuesday.")
		for i := range 200 {
			addNotes(t, store, key, notes.Utterance, fmt.Sprintf("When is the deploy window of the shop? Asking for the %dth time.", i))
		}
		items := a.recall(t, "op", "When is the deploy window of the shop?")
		require.Contains(t, items[0].Content, "on Tuesday")
		require.Len(t, items, 1+notes.DefaultUtterances)
	})

	t.Run("notes are shown whole, or not at all and named", func(t *testing.T) {
		key := keyOf("budget")
		a := attach(t, store, key, &notes.ProviderOptions{MaxBytes: 900})
		long := addFacts(t, store, key, "The recipe of the house: "+strings.Repeat("flour and water, ", 100))[0]
		short := addFacts(t, store, key, "The recipe of the soup of the house has leeks.")[0]
		items := a.recall(t, "op", "What is the recipe of the house?")
		require.Len(t, items, 2)
		require.Equal(t, short, items[0].ID)
		require.Contains(t, items[1].Content, long)
		require.Contains(t, items[1].Content, "facts__read")
		require.LessOrEqual(t, bytesOf(items), 900)
	})

	t.Run("automatic recall can be turned off", func(t *testing.T) {
		key := keyOf("off")
		a := attach(t, store, key, &notes.ProviderOptions{NoRecall: true})
		addFacts(t, store, key, "The key is under the stone.")
		require.Empty(t, a.recall(t, "op", "Where is the key?"))
		found, err := call[struct{ Facts []struct{ Text string } }](t, a, "search", `{"query":"key"}`)
		require.NoError(t, err)
		require.Equal(t, "The key is under the stone.", found.Facts[0].Text)
	})

	t.Run("what was forgotten is not recalled, nor in a recorded recall", func(t *testing.T) {
		key := keyOf("forgotten")
		a := attach(t, store, key, nil)
		id := addFacts(t, store, key, "The key is under the stone.")[0]
		require.Len(t, a.recall(t, "op", "Where is the key?"), 1)
		n, err := store.Forget(t.Context(), key, id, id, "n1-aaaaa", "nonsense")
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Empty(t, a.recall(t, "op", "Where is the key?"))
	})

	t.Run("what has expired is not recalled, nor in a recorded recall, however much awaits deletion", func(t *testing.T) {
		var c clock
		db, tables := d.open(t), newNoteTables()
		store := d.notesIn(t, db, tables, &notes.Options{Now: c.now})
		a := attach(t, store, keyOf("expired"), nil)
		drafts := make([]notes.Draft, 150)
		for i := range drafts {
			drafts[i] = notes.Draft{Text: fmt.Sprint("Short-lived ", i), Expires: c.now().Add(time.Minute)}
		}
		_, err := store.Add(t.Context(), a.key, append(drafts, notes.Draft{Text: "The key is under the stone.", Expires: c.now().Add(2 * time.Minute)})...)
		require.NoError(t, err)
		addFacts(t, store, a.key, "The key of the car is on the table.")
		require.Len(t, a.recall(t, "op", "Where is the key?"), 2)
		lasting := a.recall(t, "lasting", "What is on the table?")
		c.pass(time.Hour)
		addFacts(t, store, a.key, "The table is new.") // which deletes some of what has expired
		again := a.recall(t, "op", "Where is the key?")
		require.Len(t, again, 1)
		require.Contains(t, again[0].Content, "on the table")
		addFacts(t, store, a.key, "The key of the shed is lost.")
		require.Equal(t, again, a.recall(t, "op", "Where is the key?"), "it is recorded anew")
		require.Equal(t, lasting, a.recall(t, "lasting", "What is on the table?"), "what shows nothing expired is repeated")
		require.Equal(t, 2, rowsOf(t, db, tables)["recalls"])
	})

	t.Run("what was erased is not recalled, nor in a recorded recall", func(t *testing.T) {
		a := attach(t, store, keyOf("erased recall"), nil)
		addFacts(t, store, a.key, "The key is under the stone.")
		require.Len(t, a.recall(t, "op", "Where is the key?"), 1)
		require.NoError(t, store.Erase(t.Context(), a.key))
		require.Empty(t, a.recall(t, "op", "Where is the key?"))
		addFacts(t, store, a.key, "The key is in the drawer.")
		require.Empty(t, a.recall(t, "op", "Where is the key?"), "the empty answer was recorded")
	})

	t.Run("an answer is found beside its question, and by who said it and when", func(t *testing.T) {
		key := keyOf("beside")
		say := func(author, text string, day int) notes.Draft {
			return notes.Draft{Kind: notes.Utterance, Text: text, Provenance: notes.Provenance{
				Author: author, Session: "s", Said: time.Date(2024, time.May, day, 12, 0, 0, 0, time.UTC)}}
		}
		_, err := store.Add(t.Context(), key,
			say("Ada", "Which instrument does your sister play?", 2), say("Ben", "The oboe, since she was nine.", 2),
			say("Ada", "Ben, do you cook?", 3), say("Ben", "On Sundays.", 3), say("Ada", "Me neither.", 4))
		require.NoError(t, err)
		best := func(query string) string {
			found, err := store.Search(t.Context(), key, &notes.SearchRequest{Query: query, Utterances: 2})
			require.NoError(t, err)
			require.NotEmpty(t, found.Utterances, query)
			return found.Utterances[0].Text + found.Utterances[len(found.Utterances)-1].Text
		}
		require.Contains(t, best("instrument of the sister"), "oboe")
		require.Contains(t, best("Ada on 4 May 2024"), "Me neither")
	})
}

func parameter(d database) string {
	if d.notesDialect() == notes.PostgreSQL {
		return "$1"
	}
	return "?1"
}

func bytesOf(items []memory.Item) (n int) {
	for _, item := range items {
		n += len(item.Content)
	}
	return n
}
