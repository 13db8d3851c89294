package integration_test

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/recollect-go/recollect/internal/integration/spy"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/notes"
	"github.com/stretchr/testify/require"
)

var (
	// aboutOneKey is the condition that every statement about notes has: the scope's row, by an equality of its key with the
	// first parameter.
	aboutOneKey = regexp.MustCompile(`(FROM|UPDATE) \S+_scopes( AS scope)?(, unnest\([^=]*\) AS term)?( CROSS JOIN .*)?( SET .*)? WHERE (scope\.)?key = [$?]1\b`)
	newScopeRow = regexp.MustCompile(`^INSERT INTO \S+_scopes \(key\) VALUES \([$?]1\) ON CONFLICT \(key\) DO NOTHING$`)

	// looseTable finds a table of notes in a statement, to be sure that its scope is compared.
	looseScope = regexp.MustCompile(`\bscope = \(SELECT number FROM \S+_scopes WHERE key = [$?]1\)|\bi\.scope = scope\.number\b|BETWEEN scope\.number << 32 AND` +
		`|VALUES \(\(SELECT number FROM \S+_scopes WHERE key = [$?]1\), |SELECT (number|\(number << 32\)|'delete', \(number << 32\))` +
		`|MATCH printf\('t%xk\* OR t%xu\*', scope\.number, scope\.number\)`)
	// listing is a temporary table that lists the words of an index, and has none of them.
	listing = regexp.MustCompile(`^(CREATE VIRTUAL TABLE IF NOT EXISTS|DROP TABLE) temp\.\S+_vocabulary\b`)

	tableOfNotes = regexp.MustCompile(`_(notes|index|operations|recalls|vectors)\b`)
)

// testNotesTenants guards that no statement about notes can touch those of another tenant: each has the key as an equality
// condition, the full-text and the vector lookup included.
func testNotesTenants(t *testing.T, d database) {
	var recorder spy.Recorder
	db := openPool(t, recorder.Connector(d.connector))
	tables := newNoteTables()
	store := d.notesIn(t, db, tables, &notes.Options{Embedder: letters(nil), MaxNotes: 12, WhenFull: notes.DropUtterances, UtteranceLife: 1, OperationLife: 1})
	mine, theirs := keyOf("notes tenant one"), keyOf("notes tenant two")
	addFacts(t, store, theirs, "The staging database of the others is called oleander.")
	recorder.Take()

	everyNotesCall(t, store, mine)
	statements := recorder.Take()

	addFacts(t, store, mine, "Damaged.", "And forgotten.")
	damaged(t, d, db, tables, mine, "terms", []byte{})
	recorder.Take()
	list, err := store.List(t.Context(), mine, "", 1)
	require.NoError(t, err)
	_, err = store.Forget(t.Context(), mine, list[0].ID)
	require.NoError(t, err)
	require.NoError(t, store.Erase(t.Context(), mine))
	statements = append(statements, recorder.Take()...)

	require.Greater(t, len(statements), 50, "statements were not recorded")
	for _, statement := range statements {
		text := strings.Join(strings.Fields(statement.SQL), " ")
		if listing.MatchString(text) {
			continue
		}
		require.True(t, aboutOneKey.MatchString(text) || newScopeRow.MatchString(text), "no equality condition on the key: %s", text)
		if tableOfNotes.MatchString(text) {
			require.Regexp(t, looseScope, text)
		}
		if len(statement.Args) > 0 { // none when the driver prepares it first
			require.Equal(t, mine, statement.Args[0], "%s", text)
		}
	}
	require.Equal(t, []string{"The staging database of the others is called oleander."}, allNotes(t, store, theirs))

	require.Empty(t, searchFacts(t, store, mine, "oleander"))
	keys, err := store.Keys(t.Context(), "", 10)
	require.NoError(t, err)
	require.Equal(t, []string{theirs}, keys, "an erased key is none")
}

// everyNotesCall makes every call there is about a key, and erases it.
func everyNotesCall(t *testing.T, store *notes.Store, key string) {
	t.Helper()
	a := attach(t, store, key, &notes.ProviderOptions{Capture: notes.CaptureConversation, Extractor: func(_ context.Context, r *notes.ExtractRequest) ([]notes.FactChange, error) {
		return []notes.FactChange{{Text: "Reports are due on Friday."}, {ID: r.Known[0].ID, Text: "The staging database is called marigold now."}}, nil
	}})
	ids := addFacts(t, store, key, "The staging database is called marigold.", "Lunch is at noon.")
	addFacts(t, store, key, "Lunch is at noon.")
	for _, text := range []string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"} {
		addNotes(t, store, key, notes.Utterance, text)
	}
	a.recall(t, "r1", "What is the staging database called?")
	a.recall(t, "r1", "What is the staging database called?")
	require.NoError(t, a.CaptureTurn(t.Context(), a.turn("t1", memory.UserMessage("the staging database"), memory.AssistantMessage("yes"))))
	_, err := store.Replace(t.Context(), key, ids[1], "Lunch is at one.", "")
	require.NoError(t, err)
	_, err = store.Get(t.Context(), key, ids[1])
	require.NoError(t, err)
	_, err = store.Reembed(t.Context(), key)
	require.NoError(t, err)
	selection, err := store.Select(t.Context(), key, "lunch")
	require.NoError(t, err)
	_, err = store.ForgetSelection(t.Context(), key, selection)
	require.NoError(t, err)
	require.NoError(t, store.Export(t.Context(), key, func(json.RawMessage) error { return nil }))
	require.NoError(t, store.Expire(t.Context(), key))
	require.NoError(t, store.Erase(t.Context(), key))
}
