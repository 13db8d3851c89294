package integration_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/integration/worker"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/notes"
	"github.com/stretchr/testify/require"
)

const killedTables = "notes_killed"

func init() {
	open := func(driver string, dialect notes.Dialect, source func(string) string) func(string) (docstore.Store, error) {
		return func(argument string) (docstore.Store, error) {
			db, err := sql.Open(driver, source(argument))
			if err != nil {
				return nil, err
			}
			return newCapturer(db, dialect)
		}
	}
	workers["notes-sqlite"] = open("sqlite", notes.SQLite, sqliteDSN)
	workers["notes-postgres"] = open("pgx", notes.PostgreSQL, func(dsn string) string { return dsn })
}

// capturer lets a worker capture turns: what it is asked to write is what a person said, and the version is the turn.
type capturer struct {
	handlers memory.Handlers
}

func newCapturer(db *sql.DB, dialect notes.Dialect) (docstore.Store, error) {
	store, err := notes.New(db, dialect, &notes.Options{Tables: killedTables})
	if err != nil {
		return nil, err
	}
	provider, err := notes.NewProvider(store, nil)
	if err != nil {
		return nil, err
	}
	handlers, err := provider.Attach(memory.SlotInfo{Name: "facts"})
	return &capturer{handlers}, err
}

func (c *capturer) Write(ctx context.Context, key string, content []byte, turn string) (string, error) {
	var messages []memory.Message
	for line := range strings.Lines(string(content)) {
		messages = append(messages, memory.UserMessage(strings.TrimSpace(line)))
	}
	return turn, c.handlers.CaptureTurn(ctx, &memory.TurnCompleted{
		Operation: memory.Operation{ID: turn, Key: key, Slot: "facts", Session: memory.SessionInfo{ID: "s"}},
		Messages:  messages, Turn: memory.Turn{ID: turn, Input: messages},
	})
}

func (c *capturer) Read(context.Context, string) ([]byte, string, error) {
	return nil, "", errors.ErrUnsupported
}
func (c *capturer) Delete(context.Context, string, string) error { return errors.ErrUnsupported }

// testNotesKilled guards that a turn whose capture is repeated until it succeeds, as the outbox does, is there once and
// whole although the capturing process is killed all the time.
func testNotesKilled(t *testing.T, d database, description string) {
	kills := 200
	if testing.Short() {
		kills = 20
	}
	store := d.notesIn(t, d.open(t), killedTables, nil)
	mortal, stop := worker.StartMortal(t, description, 5*time.Millisecond)
	key := keyOf("killed")
	var want []string
	for turn := 0; mortal.Deaths() < kills; turn++ {
		said := []string{fmt.Sprintf("first of %d", turn), fmt.Sprintf("second of %d", turn)}
		want = append(want, said...)
		for {
			_, err := mortal.Write(t.Context(), key, []byte(strings.Join(said, "\n")), fmt.Sprint("turn ", turn))
			if err == nil {
				break
			}
			require.NoError(t, t.Context().Err())
		}
	}
	stop()
	var got []string
	after := ""
	for {
		page, err := store.List(t.Context(), key, after, 500)
		require.NoError(t, err)
		for _, n := range page {
			got = append(got, n.Text)
		}
		if len(page) < 500 {
			break
		}
		after = page[len(page)-1].ID
	}
	t.Logf("%d turns, %d kills", len(want)/2, mortal.Deaths())
	require.Equal(t, want, got)
}
