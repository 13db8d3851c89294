package integration_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/notes"
	"github.com/stretchr/testify/require"
)

type ctx = context.Context

func testNotesExtraction(t *testing.T, d database) {
	store, _ := d.notes(t, nil)

	t.Run("it sees the turn without records, and the facts that fit", func(t *testing.T) {
		var seen *notes.ExtractRequest
		a := attach(t, store, keyOf("extractor sees"), &notes.ProviderOptions{Extractor: func(_ ctx, r *notes.ExtractRequest) ([]notes.FactChange, error) {
			seen = r
			return nil, nil
		}})
		addFacts(t, store, a.key, "Ada lives in Berlin.", "Lunch is at noon.")
		record := memory.NewMessage(memory.RoleUser, memory.KindRecord, "a record")
		require.NoError(t, a.CaptureTurn(t.Context(), a.turn("t", memory.UserMessage("Ada moved to Hamburg"), record, memory.AssistantMessage("noted"))))
		require.Len(t, seen.Messages, 2)
		require.Equal(t, "Ada lives in Berlin.", seen.Known[0].Text)
		require.Len(t, seen.Known, 1)
	})

	t.Run("facts are added, replaced and dropped, once for each operation", func(t *testing.T) {
		key := keyOf("extractor changes")
		ids := addFacts(t, store, key, "Ada lives in Berlin.", "Ada has a cat.")
		calls := 0
		a := attach(t, store, key, &notes.ProviderOptions{Extractor: func(ctx, *notes.ExtractRequest) ([]notes.FactChange, error) {
			calls++
			return []notes.FactChange{
				{Text: "Ada works at the harbour."}, {ID: ids[0], Text: "Ada lives in Hamburg."}, {ID: ids[1]}, {ID: "n99-gone0"},
				{ID: "n99-gone0", Text: "Ada sails."},
			}, nil
		}})
		turn := a.turn("t", memory.UserMessage("I moved"))
		for range 3 {
			require.NoError(t, a.CaptureTurn(t.Context(), turn))
		}
		require.Equal(t, 1, calls)
		require.Equal(t, []string{"Ada lives in Hamburg.", "Ada works at the harbour.", "Ada sails."}, allNotes(t, store, key))
		n, err := store.Get(t.Context(), key, ids[0])
		require.NoError(t, err)
		require.Equal(t, notes.SourceExtracted, n.Source)
	})

	t.Run("what was said is not dropped as a fact, nor replaced", func(t *testing.T) {
		key := keyOf("extractor drops")
		id := addNotes(t, store, key, notes.Utterance, "I have a cat.")[0]
		a := attach(t, store, key, &notes.ProviderOptions{Extractor: func(ctx, *notes.ExtractRequest) ([]notes.FactChange, error) {
			return []notes.FactChange{{ID: id}, {ID: id, Text: "Ada has a cat."}}, nil
		}})
		require.NoError(t, a.CaptureTurn(t.Context(), a.turn("t", memory.UserMessage("hello"))))
		require.Equal(t, []string{"I have a cat.", "Ada has a cat."}, allNotes(t, store, key))
	})

	t.Run("facts that the host refuses are left out, those that cannot be stored fail the capture", func(t *testing.T) {
		var changes []notes.FactChange
		a := attach(t, store, keyOf("extractor writes"), &notes.ProviderOptions{
			Extractor: func(ctx, *notes.ExtractRequest) ([]notes.FactChange, error) { return changes, nil },
			Validate: func(_ ctx, r *notes.ValidateRequest) error {
				if strings.Contains(r.Text, "password") {
					return errors.New("no passwords")
				}
				return nil
			},
		})
		turn := a.turn("t", memory.UserMessage("hello"))
		for _, bad := range []notes.FactChange{{}, {Text: " "}, {Text: "\xff"}, {Text: strings.Repeat("x", notes.DefaultMaxNoteBytes+1)}} {
			changes = []notes.FactChange{{Text: "Ada sails."}, bad}
			require.ErrorIs(t, a.CaptureTurn(t.Context(), turn), notes.ErrExtraction, "%.20q", bad.Text)
			require.Empty(t, allNotes(t, store, a.key), "not a part of it either")
		}
		changes = []notes.FactChange{{Text: "Ada's password is x."}, {Text: "Ada sails."}}
		require.NoError(t, a.CaptureTurn(t.Context(), turn))
		require.Equal(t, []string{"Ada sails."}, allNotes(t, store, a.key))
	})

	t.Run("its failure loses nothing", func(t *testing.T) {
		boom := errors.New("boom")
		fail := true
		a := attach(t, store, keyOf("extractor fails"), &notes.ProviderOptions{
			Capture: notes.CaptureUser,
			Extractor: func(ctx, *notes.ExtractRequest) ([]notes.FactChange, error) {
				if fail {
					return nil, boom
				}
				return []notes.FactChange{{Text: "Ada sails."}}, nil
			},
		})
		turn := a.turn("t", memory.UserMessage("I sail"))
		err := a.CaptureTurn(t.Context(), turn)
		require.ErrorIs(t, err, boom)
		require.ErrorIs(t, err, notes.ErrExtraction)
		require.Empty(t, allNotes(t, store, a.key), "not a part of it either")
		fail = false
		require.NoError(t, a.CaptureTurn(t.Context(), turn))
		require.Equal(t, []string{"I sail", "Ada sails."}, allNotes(t, store, a.key))
	})
}
