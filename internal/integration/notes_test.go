package integration_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/recollect-go/recollect/internal/integration/server"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/memory/memorytest"
	"github.com/recollect-go/recollect/provider/notes"
	"github.com/recollect-go/recollect/provider/sqlstore"
	"github.com/stretchr/testify/require"
)

func TestNotesInSQLite(t *testing.T) {
	t.Parallel()
	path := sqliteFile(t)
	exerciseNotes(t, database{dialect: sqlstore.SQLite, connector: sqliteConnector(t, path)}, "notes-sqlite "+path)
}

func TestNotesInPostgreSQL(t *testing.T) {
	t.Parallel()
	pg := server.StartPostgres(t)
	exerciseNotes(t, postgresDatabase(t, pg, pg.Address), "notes-postgres "+pg.DSN(pg.Address))
	t.Run("lost replies", func(t *testing.T) { testNotesOutcome(t, pg) })
}

// exerciseNotes runs everything that notes have to stand in every database. mortal describes a worker that captures into the
// tables notes_killed.
func exerciseNotes(t *testing.T, d database, mortal string) {
	t.Run("provider", func(t *testing.T) { testNotesProvider(t, d) })
	t.Run("schema", func(t *testing.T) { testNotesSchema(t, d) })
	t.Run("tenants", func(t *testing.T) { testNotesTenants(t, d) })
	t.Run("scripts", func(t *testing.T) { testNotesScripts(t, d) })
	t.Run("recall", func(t *testing.T) { testNotesRecall(t, d) })
	t.Run("capture", func(t *testing.T) { testNotesCapture(t, d) })
	t.Run("extraction", func(t *testing.T) { testNotesExtraction(t, d) })
	t.Run("tools", func(t *testing.T) { testNotesTools(t, d) })
	t.Run("retention", func(t *testing.T) { testNotesRetention(t, d) })
	t.Run("damaged", func(t *testing.T) { testNotesDamaged(t, d) })
	t.Run("waiting", func(t *testing.T) { testNotesWaiting(t, d) })
	t.Run("concurrent", func(t *testing.T) { testNotesConcurrent(t, d) })
	t.Run("vectors", func(t *testing.T) { testNotesVectors(t, d) })
	t.Run("hostile", func(t *testing.T) { testNotesHostile(t, d) })
	t.Run("killed", func(t *testing.T) { testNotesKilled(t, d, mortal) })
}

// testNotesProvider runs the conformance kit of providers.
func testNotesProvider(t *testing.T, d database) {
	opts := &memorytest.Options{
		SaveTool: "save", SaveArgument: "text", Captures: true, CapturesCompaction: true, StableRecall: true,
		ReadTools: []memorytest.ReadTool{
			{Name: "search", Input: func(text string) string { return fmt.Sprintf(`{"query":%s}`, quoted(text)) }},
			{Name: "forget", Input: func(text string) string { return fmt.Sprintf(`{"query":%s}`, quoted(text)) }},
		},
	}
	memorytest.Run(t, func(t *testing.T) memory.Provider {
		store, _ := d.notes(t, nil)
		provider, err := notes.NewProvider(store, nil)
		require.NoError(t, err)
		return provider
	}, opts)
}

func quoted(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(out)
}

// noteTables numbers the sets of tables of all databases.
var noteTables atomic.Int64

func newNoteTables() string { return fmt.Sprintf("notes_%d", noteTables.Add(1)) }

// notes returns a store in new tables, and its pool.
func (d database) notes(t testing.TB, opts *notes.Options) (*notes.Store, *sql.DB) {
	t.Helper()
	db := d.open(t)
	return d.notesIn(t, db, newNoteTables(), opts), db
}

// notesIn returns a store in the tables of the given name, which it creates if need be.
func (d database) notesIn(t testing.TB, db *sql.DB, tables string, opts *notes.Options) *notes.Store {
	t.Helper()
	store, err := notes.New(db, d.notesDialect(), inTables(tables, opts))
	require.NoError(t, err)
	require.NoError(t, store.EnsureSchema(t.Context()))
	return store
}

func inTables(tables string, opts *notes.Options) *notes.Options {
	var o notes.Options
	if opts != nil {
		o = *opts
	}
	o.Tables = tables
	return &o
}

func (d database) notesDialect() notes.Dialect {
	if d.dialect == sqlstore.SQLite {
		return notes.SQLite
	}
	return notes.PostgreSQL
}

// agent is a provider attached to a slot, asked for one key in one session.
type agent struct {
	memory.Handlers
	key     string
	session string
}

func attach(t testing.TB, store *notes.Store, key string, opts *notes.ProviderOptions) *agent {
	t.Helper()
	provider, err := notes.NewProvider(store, opts)
	require.NoError(t, err)
	handlers, err := provider.Attach(memory.SlotInfo{Name: "facts"})
	require.NoError(t, err)
	return &agent{handlers, key, "monday"}
}

func (a *agent) under(id string) memory.Operation {
	return memory.Operation{ID: id, Key: a.key, Slot: "facts", Session: memory.SessionInfo{ID: a.session}}
}

// recall asks for a turn in which a person says the text. The turn's id is the operation's.
func (a *agent) recall(t testing.TB, id, text string) []memory.Item {
	t.Helper()
	items, err := a.Recall(t.Context(), &memory.TurnStarted{
		Operation: a.under(id), Turn: memory.Turn{ID: id, Input: []memory.Message{memory.UserMessage(text)}},
	})
	require.NoError(t, err)
	return items
}

// turn is a completed turn with the given messages, behind an earlier one.
func (a *agent) turn(id string, messages ...memory.Message) *memory.TurnCompleted {
	before := []memory.Message{memory.UserMessage("words of an earlier turn"), memory.AssistantMessage("answer of an earlier turn")}
	return &memory.TurnCompleted{
		Operation: a.under(id + ":turn.completed"),
		Messages:  append(before, messages...),
		Turn:      memory.Turn{ID: id, Input: messages[:1], Start: len(before)},
	}
}

func (a *agent) tool(t testing.TB, name string) memory.Tool {
	t.Helper()
	tools, err := a.Tools(t.Context(), &memory.ToolsRequest{Operation: a.under(""), Turn: memory.Turn{ID: "turn"}})
	require.NoError(t, err)
	for _, tool := range tools {
		if tool.Name == name {
			return tool
		}
	}
	require.FailNow(t, "no such tool", "%s", name)
	return memory.Tool{}
}

// call calls a tool and decodes its output.
func call[T any](t testing.TB, a *agent, name, input string) (out T, err error) {
	t.Helper()
	output, err := a.tool(t, name).Call(context.Background(), &memory.ToolCall{ID: "call", Input: json.RawMessage(input)})
	if err == nil {
		require.NoError(t, json.Unmarshal(output, &out))
	}
	return out, err
}

func addFacts(t testing.TB, store *notes.Store, key string, texts ...string) (ids []string) {
	t.Helper()
	return addNotes(t, store, key, notes.Fact, texts...)
}

func addNotes(t testing.TB, store *notes.Store, key string, kind notes.Kind, texts ...string) (ids []string) {
	t.Helper()
	drafts := make([]notes.Draft, len(texts))
	for i, text := range texts {
		drafts[i] = notes.Draft{Kind: kind, Text: text, Provenance: notes.Provenance{Session: "monday"}}
	}
	added, err := store.Add(t.Context(), key, drafts...)
	require.NoError(t, err)
	for _, a := range added {
		ids = append(ids, a.ID)
	}
	return ids
}

// allNotes returns the texts of all notes of a key, in their order.
func allNotes(t testing.TB, store *notes.Store, key string) (texts []string) {
	t.Helper()
	list, err := store.List(t.Context(), key, "", 1000)
	require.NoError(t, err)
	for _, n := range list {
		texts = append(texts, n.Text)
	}
	return texts
}

func searchFacts(t testing.TB, store *notes.Store, key, query string) (texts []string) {
	t.Helper()
	found, err := store.Search(t.Context(), key, &notes.SearchRequest{Query: query, Facts: 10})
	require.NoError(t, err)
	for _, hit := range found.Facts {
		texts = append(texts, hit.Text)
	}
	return texts
}
