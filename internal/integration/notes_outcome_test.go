package integration_test

import (
	"bytes"
	"testing"

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
