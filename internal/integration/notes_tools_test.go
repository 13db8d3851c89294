package integration_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/notes"
	"github.com/stretchr/testify/require"
)

type saved struct {
	ID    string
	Saved bool
}

type forgotten struct {
	Forgotten int
	Matches   []struct{ ID, Text string }
	Confirm   string
}

func testNotesTools(t *testing.T, d database) {
	store, _ := d.notes(t, nil)

	t.Run("save, correct, read, search", func(t *testing.T) {
		a := attach(t, store, keyOf("tools"), nil)
		first, err := call[saved](t, a, "save", `{"text":"Ada lives in Berlin."}`)
		require.NoError(t, err)
		require.True(t, first.Saved)
		again, err := call[saved](t, a, "save", `{"text":"Ada lives in Berlin."}`)
		require.NoError(t, err)
		require.Equal(t, saved{first.ID, false}, again)
		corrected, err := call[saved](t, a, "save", fmt.Sprintf(`{"text":"Ada lives in Hamburg.","replaces":%q}`, first.ID))
		require.NoError(t, err)
		require.Equal(t, first.ID, corrected.ID)
		note, err := call[map[string]any](t, a, "read", fmt.Sprintf(`{"id":%q}`, first.ID))
		require.NoError(t, err)
		require.Equal(t, "Ada lives in Hamburg.", note["text"])
		require.Equal(t, "monday", note["session"])
		require.Equal(t, "saved", note["source"])
		require.NotContains(t, note, "expires")
	})

	t.Run("a search shows the beginning of a long note and how long it is, and reading all of it", func(t *testing.T) {
		a := attach(t, store, keyOf("long"), nil)
		text := "x" + strings.Repeat("дом ", 1000)
		id := addFacts(t, store, a.key, text)[0]
		found, err := call[struct {
			Facts []struct {
				Text             string
				BeginningOfBytes int
			}
		}](t, a, "search", `{"query":"дом"}`)
		require.NoError(t, err)
		require.Equal(t, len(text), found.Facts[0].BeginningOfBytes)
		require.Equal(t, text[:1000], found.Facts[0].Text+text[len(found.Facts[0].Text):1000])
		require.InDelta(t, 1000, len(found.Facts[0].Text), 1, "whole characters")
		note, err := call[map[string]any](t, a, "read", fmt.Sprintf(`{"id":%q}`, id))
		require.NoError(t, err)
		require.Equal(t, text, note["text"])
	})

	t.Run("a fact is stored once, by whichever way it comes and in whichever session", func(t *testing.T) {
		a := attach(t, store, keyOf("one fact"), nil)
		id := addFacts(t, store, a.key, "Ada lives in Berlin.")[0]
		again, err := store.Add(t.Context(), a.key, notes.Draft{Text: "Ada lives in Berlin."},
			notes.Draft{Text: "Ada lives in Berlin.", Provenance: notes.Provenance{Session: "tuesday"}})
		require.NoError(t, err)
		require.Equal(t, []notes.Added{{ID: id}, {ID: id}}, again)
		out, err := call[saved](t, a, "save", `{"text":"Ada lives in Berlin."}`)
		require.NoError(t, err)
		require.Equal(t, saved{id, false}, out)
		_, err = store.Replace(t.Context(), a.key, id, "Ada lives in Hamburg.", "")
		require.NoError(t, err)
		out, err = call[saved](t, a, "save", `{"text":"Ada lives in Hamburg."}`)
		require.NoError(t, err)
		require.Equal(t, saved{id, false}, out)
	})

	t.Run("a replacement leaves one note with its text, and what was said as it was", func(t *testing.T) {
		key := keyOf("replacement")
		ids := addFacts(t, store, key, "Ada lives in Berlin.", "Ada lives in Hamburg.")
		same, err := store.Replace(t.Context(), key, ids[0], "Ada lives in Berlin.", "")
		require.NoError(t, err)
		require.Equal(t, ids[0], same)
		other, err := store.Replace(t.Context(), key, ids[0], "Ada lives in Hamburg.", "")
		require.NoError(t, err)
		require.Equal(t, ids[1], other)
		require.Equal(t, []string{"Ada lives in Hamburg."}, allNotes(t, store, key))
		said := addNotes(t, store, key, notes.Utterance, "I moved.")[0]
		_, err = store.Replace(t.Context(), key, said, "I stayed.", "")
		require.ErrorIs(t, err, errors.ErrUnsupported)
		require.Equal(t, []string{"Ada lives in Hamburg.", "I moved."}, allNotes(t, store, key))
	})

	t.Run("a selection of which a note has changed or gone is not forgotten", func(t *testing.T) {
		key := keyOf("selection")
		ids := addFacts(t, store, key, "The Berlin office.", "The Berlin zoo.")
		selection, err := store.Select(t.Context(), key, "Berlin")
		require.NoError(t, err)
		require.Len(t, selection.Notes, 2)
		_, err = store.Replace(t.Context(), key, ids[0], "The Berlin house.", "")
		require.NoError(t, err)
		_, err = store.ForgetSelection(t.Context(), key, selection)
		require.ErrorIs(t, err, notes.ErrSelection)
		_, err = store.Forget(t.Context(), key, ids[0])
		require.NoError(t, err)
		_, err = store.ForgetSelection(t.Context(), key, selection)
		require.ErrorIs(t, err, notes.ErrSelection)
		require.Equal(t, []string{"The Berlin zoo."}, allNotes(t, store, key))
	})

	t.Run("an id reaches no other scope, and none after an erasure", func(t *testing.T) {
		mine, theirs := attach(t, store, keyOf("mine"), nil), attach(t, store, keyOf("theirs"), nil)
		id := addFacts(t, store, mine.key, "Mine.")[0]
		addFacts(t, store, theirs.key, "Theirs.")
		input := fmt.Sprintf(`{"id":%q}`, id)
		_, err := call[any](t, theirs, "read", input)
		require.ErrorIs(t, err, notes.ErrNoNote)
		out, err := call[forgotten](t, theirs, "forget", input)
		require.NoError(t, err)
		require.Zero(t, out.Forgotten)
		_, err = call[any](t, theirs, "save", fmt.Sprintf(`{"text":"x","replaces":%q}`, id))
		require.ErrorIs(t, err, notes.ErrNoNote)
		require.Equal(t, []string{"Theirs."}, allNotes(t, store, theirs.key))

		require.NoError(t, store.Erase(t.Context(), mine.key))
		addFacts(t, store, mine.key, "Mine again.")
		_, err = store.Get(t.Context(), mine.key, id)
		require.ErrorIs(t, err, notes.ErrNoNote)
	})

	t.Run("a broad forget shows, then removes exactly what it showed", func(t *testing.T) {
		a := attach(t, store, keyOf("broad"), nil)
		addFacts(t, store, a.key, "The Berlin office closes at six.", "Ada likes the office in Berlin.", "The Berlin zoo has pandas.")
		addNotes(t, store, a.key, notes.Utterance, "Is the berlin office open?")
		shown, err := call[forgotten](t, a, "forget", `{"query":"the Berlin office"}`)
		require.NoError(t, err)
		require.Len(t, shown.Matches, 3)
		require.Zero(t, shown.Forgotten)
		require.Len(t, allNotes(t, store, a.key), 4, "nothing was removed yet")

		addFacts(t, store, a.key, "The Berlin office has a new lift.")
		confirm := fmt.Sprintf(`{"query":"the Berlin office","confirm":%q}`, shown.Confirm)
		_, err = call[forgotten](t, a, "forget", confirm)
		require.ErrorIs(t, err, notes.ErrSelection, "the set has changed")

		shown, err = call[forgotten](t, a, "forget", `{"query":"the Berlin office"}`)
		require.NoError(t, err)
		out, err := call[forgotten](t, a, "forget", fmt.Sprintf(`{"query":"the Berlin office","confirm":%q}`, shown.Confirm))
		require.NoError(t, err)
		require.Equal(t, 4, out.Forgotten)
		require.Equal(t, []string{"The Berlin zoo has pandas."}, allNotes(t, store, a.key))
	})

	t.Run("a forget that is too broad is refused", func(t *testing.T) {
		a := attach(t, store, keyOf("too broad"), nil)
		for i := range notes.MaxSelected + 1 {
			addFacts(t, store, a.key, fmt.Sprintf("Berlin %d", i))
		}
		_, err := call[forgotten](t, a, "forget", `{"query":"Berlin"}`)
		require.ErrorIs(t, err, notes.ErrTooMany)
	})

	t.Run("bad input is refused and changes nothing", func(t *testing.T) {
		a := attach(t, store, keyOf("bad input"), nil)
		for tool, inputs := range map[string][]string{
			"forget": {`{}`, `{"id":"a","query":"b"}`, `{"id":"a","confirm":"b"}`, `{"confirm":"b"}`, `{"query":" "}`},
			"search": {`{"query":" "}`, `{"query":"a","limit":0}`, `{"query":"a","limit":26}`, `{"query":"a","limit":1.5}`},
			"save":   {`{"text":" "}`, `{"text":""}`, `{"text":"a","replaces":"n1-aaaaa"}`},
			"read":   {`{"id":"n1-aaaaa"}`, `{"id":"n01-aaaaa"}`, `{"id":""}`, `{"id":"' OR 1=1"}`},
		} {
			for _, input := range inputs {
				_, err := call[any](t, a, tool, input)
				require.Error(t, err, "%s %s", tool, input)
			}
		}
		require.Empty(t, allNotes(t, store, a.key))
	})

	t.Run("forgetting needs a person's approval, looking does not", func(t *testing.T) {
		asks := func(opts *notes.ProviderOptions, input string) bool {
			tool := attach(t, store, keyOf("approval"), opts).tool(t, "forget")
			needed, err := tool.Approval(t.Context(), &memory.ToolCall{Input: json.RawMessage(input)})
			require.NoError(t, err)
			return needed
		}
		require.True(t, asks(nil, `{"id":"n1-aaaaa"}`))
		require.True(t, asks(nil, `{"query":"x","confirm":"y"}`))
		require.True(t, asks(nil, `nonsense`))
		require.False(t, asks(nil, `{"query":"x"}`))
		require.False(t, asks(&notes.ProviderOptions{ApproveForget: notes.NeverAsk}, `{"id":"n1-aaaaa"}`))
	})

	t.Run("a read-only memory offers no tool that changes anything", func(t *testing.T) {
		a := attach(t, store, keyOf("read-only tools"), &notes.ProviderOptions{ReadOnly: true})
		tools, err := a.Tools(t.Context(), &memory.ToolsRequest{Operation: a.under("")})
		require.NoError(t, err)
		require.Len(t, tools, 2)
	})
}
