package integration_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/recollect-go/recollect/internal/integration/proxy"
	"github.com/recollect-go/recollect/internal/integration/server"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/notes"
	"github.com/stretchr/testify/require"
)

// testNotesOutcome guards that a commit whose reply is lost has an unknown outcome, and that repeating the change adds
// nothing.
func testNotesOutcome(t *testing.T, pg *server.Postgres) {
	p := proxy.Start(t, pg.Address)
	d := postgresDatabase(t, pg, p.Address())
	store, _ := d.notes(t, nil)
	a := attach(t, store, keyOf("lost reply"), nil)
	turn := a.turn("t", memory.UserMessage("hello"))

	p.CutOn(proxy.Reply, func(data []byte) bool { return bytes.Contains(data, []byte("COMMIT\x00")) })
	require.ErrorIs(t, a.CaptureTurn(t.Context(), turn), notes.ErrUnknownOutcome)
	require.Equal(t, []string{"hello"}, allNotes(t, store, a.key), "it was stored")
	require.NoError(t, a.CaptureTurn(t.Context(), turn))
	require.Equal(t, []string{"hello"}, allNotes(t, store, a.key))

	p.CutOn(proxy.Request, func(data []byte) bool { return bytes.Contains(data, []byte("memscope1_")) })
	_, err := store.Add(t.Context(), a.key, notes.Draft{Text: "A fact."})
	require.Error(t, err)
	require.NotErrorIs(t, err, notes.ErrUnknownOutcome, "nothing was committed")
	addFacts(t, store, a.key, "A fact.")
	require.Equal(t, []string{"hello", "A fact."}, allNotes(t, store, a.key))
}

// testNotesWaiting guards that a change waits while another one holds its scope, until it is its turn or its context ends,
// and that reading goes on meanwhile.
func testNotesWaiting(t *testing.T, d database) {
	db, tables := d.open(t), newNoteTables()
	store := d.notesIn(t, db, tables, nil)
	key := keyOf("waiting")
	addFacts(t, store, key, "The zebra sleeps.")
	other, err := d.open(t).BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer other.Rollback() //nolint:errcheck // of no interest when it was rolled back
	_, err = other.ExecContext(t.Context(), `UPDATE `+tables+`_scopes SET last_note = last_note`)
	require.NoError(t, err)

	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = store.Add(ctx, key, notes.Draft{Text: "Too late."})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotErrorIs(t, err, notes.ErrUnknownOutcome)
	require.Equal(t, []string{"The zebra sleeps."}, searchFacts(t, store, key, "zebra"))

	added := make(chan error, 1)
	go func() {
		_, err := store.Add(t.Context(), key, notes.Draft{Text: "In time."})
		added <- err
	}()
	select {
	case err := <-added:
		require.Fail(t, "it did not wait", "%v", err)
	case <-time.After(50 * time.Millisecond):
	}
	require.NoError(t, other.Rollback())
	require.NoError(t, <-added)
	require.Equal(t, []string{"The zebra sleeps.", "In time."}, allNotes(t, store, key))
}
