package integration_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/notes"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func testNotesCapture(t *testing.T, d database) {
	store, _ := d.notes(t, nil)
	record := memory.NewMessage(memory.RoleUser, memory.KindRecord, "Remembered: a record")

	t.Run("the turn's own words of people are kept, no records and nothing of other turns", func(t *testing.T) {
		a := attach(t, store, keyOf("own"), nil)
		require.NoError(t, a.CaptureTurn(t.Context(), a.turn("t", memory.UserMessage("first"), record,
			memory.AssistantMessage("answer"), memory.UserMessage("one more thing"))))
		require.Equal(t, []string{"first", "one more thing"}, allNotes(t, store, a.key))
		list, err := store.List(t.Context(), a.key, "", 1)
		require.NoError(t, err)
		require.Equal(t, notes.Utterance, list[0].Kind)
		require.Equal(t, notes.SourceCaptured, list[0].Source)
		require.Equal(t, []string{"user", "monday", "t"}, []string{list[0].Role, list[0].Session, list[0].Turn})
	})

	t.Run("the answer is kept when that is wanted", func(t *testing.T) {
		a := attach(t, store, keyOf("answers"), &notes.ProviderOptions{Capture: notes.CaptureConversation})
		require.NoError(t, a.CaptureTurn(t.Context(), a.turn("t", memory.UserMessage("q"), record, memory.AssistantMessage("a"))))
		require.Equal(t, []string{"q", "a"}, allNotes(t, store, a.key))
	})

	t.Run("a turn captured a hundred times at once is there once", func(t *testing.T) {
		a := attach(t, store, keyOf("hundred"), nil)
		turn := a.turn("t", memory.UserMessage("yes"), memory.UserMessage("and more"), memory.UserMessage("yes"))
		var group sync.WaitGroup
		for range 100 {
			group.Go(func() { assert.NoError(t, a.CaptureTurn(t.Context(), turn)) })
		}
		group.Wait()
		require.Equal(t, []string{"yes", "and more", "yes"}, allNotes(t, store, a.key))
	})

	t.Run("what a compaction kept is not kept again at the end of the turn", func(t *testing.T) {
		a := attach(t, store, keyOf("compacted"), nil)
		turn := a.turn("t", memory.UserMessage("before the compaction"), memory.AssistantMessage("…"))
		compaction := &memory.CompactionRequested{Operation: a.under("t:compaction.requested"), Messages: turn.Messages, Turn: &turn.Turn}
		require.NoError(t, a.CaptureCompaction(t.Context(), compaction))
		require.NoError(t, a.CaptureCompaction(t.Context(), compaction))
		turn.Messages = append(turn.Messages, memory.UserMessage("after it"))
		require.NoError(t, a.CaptureTurn(t.Context(), turn))
		require.Equal(t, []string{"before the compaction", "after it"}, allNotes(t, store, a.key))
	})

	t.Run("what a compaction kept and somebody forgot is not kept again at the end of the turn", func(t *testing.T) {
		a := attach(t, store, keyOf("compacted and forgotten"), nil)
		turn := a.turn("t", memory.UserMessage("my secret"), memory.UserMessage("hello"))
		compaction := &memory.CompactionRequested{Operation: a.under("t:compaction.requested"), Messages: turn.Messages, Turn: &turn.Turn}
		require.NoError(t, a.CaptureCompaction(t.Context(), compaction))
		list, err := store.List(t.Context(), a.key, "", 1)
		require.NoError(t, err)
		_, err = store.Forget(t.Context(), a.key, list[0].ID)
		require.NoError(t, err)
		turn.Messages = append(turn.Messages, memory.UserMessage("my secret"))
		require.NoError(t, a.CaptureTurn(t.Context(), turn))
		require.Equal(t, []string{"hello", "my secret"}, allNotes(t, store, a.key), "what was said again after it is kept")
	})

	t.Run("between turns a compaction keeps nothing: the messages may be somebody else's", func(t *testing.T) {
		a := attach(t, store, keyOf("standalone"), nil)
		require.NoError(t, a.CaptureCompaction(t.Context(), &memory.CompactionRequested{
			Operation: a.under("compaction.requested"), Messages: a.turn("t", memory.UserMessage("of whom?")).Messages,
		}))
		require.Empty(t, allNotes(t, store, a.key))
	})

	t.Run("a message that is too large is reported once, and the others are kept", func(t *testing.T) {
		a := attach(t, store, keyOf("large"), nil)
		turn := a.turn("t", memory.UserMessage("small"), memory.UserMessage(strings.Repeat("x", notes.DefaultMaxNoteBytes+1)))
		err := a.CaptureTurn(t.Context(), turn)
		var limit *notes.LimitError
		require.ErrorAs(t, err, &limit)
		require.Equal(t, notes.DefaultMaxNoteBytes+1, limit.Size)
		require.NoError(t, a.CaptureTurn(t.Context(), turn), "a repetition would not make it better")
		require.Equal(t, []string{"small"}, allNotes(t, store, a.key))
	})

	t.Run("what the host refuses is left out", func(t *testing.T) {
		refuse := func(r *notes.ValidateRequest) error {
			if strings.Contains(r.Text, "password") {
				return errors.New("no passwords")
			}
			return nil
		}
		a := attach(t, store, keyOf("refused"), &notes.ProviderOptions{Validate: func(_ ctx, r *notes.ValidateRequest) error { return refuse(r) }})
		require.NoError(t, a.CaptureTurn(t.Context(), a.turn("t", memory.UserMessage("my password is x"), memory.UserMessage("hello"))))
		require.Equal(t, []string{"hello"}, allNotes(t, store, a.key))
		_, err := call[any](t, a, "save", `{"text":"The password is x."}`)
		require.ErrorIs(t, err, notes.ErrRefused)
	})

	t.Run("a read-only memory captures nothing", func(t *testing.T) {
		a := attach(t, store, keyOf("read-only"), &notes.ProviderOptions{ReadOnly: true})
		require.Nil(t, a.CaptureTurn)
		require.Nil(t, a.CaptureCompaction)
	})
}
