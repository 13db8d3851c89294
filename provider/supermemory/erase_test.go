package supermemory_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/supermemory"
	"github.com/recollect-go/recollect/scope"
)

func TestEraseDeletesDocumentsAndForgetsMemories(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t))
	for i := range 120 {
		require.NoError(t, h.CaptureTurn(t.Context(), completed("monday", fmt.Sprint(i), fmt.Sprintf("message %d", i))))
	}
	mustCall(t, h, "extract", `{"kind":"text","value":"source"}`)
	_, err := call(t, h, otherKey, "remember", `{"memory":"theirs"}`)
	require.NoError(t, err)
	request := &memory.EraseRequest{Operation: operation(key, "")}
	s.fail("DELETE /v3/documents/{id}", says(500, ""), says(500, ""), says(500, ""))
	require.ErrorIs(t, h.Erase(t.Context(), request), supermemory.ErrUnavailable)
	for range 2 {
		require.NoError(t, h.Erase(t.Context(), request))
	}
	require.Len(t, s.documents, 1)
	for _, m := range s.memories {
		assert.Equal(t, m.tag != contextTag(otherKey), m.IsForgotten)
	}
	assert.Empty(t, recall(t, h, ""))
}

func TestAnErasureThatRemovesNothingIsAnError(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.keeps = true
	h := handlers(t, s.provider(t))
	mustCall(t, h, "remember", `{"memory":"Berlin is nice"}`)
	require.ErrorIs(t, h.Erase(t.Context(), &memory.EraseRequest{Operation: operation(key, "")}), supermemory.ErrNotErased)
}

func TestTheMemoryOfACallerIsErasedAndThatIsSeen(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p := s.provider(t)
	keys, err := scope.Derive(scope.Namespace("app"), scope.String("u_42"))
	require.NoError(t, err)
	memories, err := memory.New([]memory.Slot{{Name: "people", Provider: p, Scope: scope.String("u_42"), Namespace: scope.Namespace("app")}}, nil)
	require.NoError(t, err)
	_, err = call(t, handlers(t, p), keys.Key, "remember", `{"memory":"Berlin is nice"}`)
	require.NoError(t, err)
	erasure, err := memories.Erase(t.Context(), &memory.EraseCall{})
	require.NoError(t, err)
	assert.Equal(t, 2, erasure.Slots[0].Records, "a document, and the memory that was made of it")
}

func TestAnExportHasDocumentsAndMemoriesOfBothTags(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t))
	export := func() (lines []string) {
		require.NoError(t, h.Export(t.Context(), &memory.ExportRequest{Operation: operation(key, ""), Write: func(r *memory.ExportedRecord) error {
			require.True(t, json.Valid(r.Metadata))
			lines = append(lines, fmt.Sprintf("%s %s %s", r.Kind, r.ID, r.Content))
			return nil
		}}))
		return lines
	}
	assert.Empty(t, export())
	require.NoError(t, h.CaptureTurn(t.Context(), completed("monday", "op", "I moved", memory.AssistantMessage("Noted."))))
	mustCall(t, h, "remember", `{"memory":"Tea is nice"}`)
	mustCall(t, h, "remember", `{"memory":"Tea is hot"}`)
	mustCall(t, h, "forget", `{"id":"mem4"}`)
	mustCall(t, h, "extract", `{"kind":"text","value":"A report"}`)
	_, err := call(t, h, otherKey, "remember", `{"memory":"theirs"}`)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"document doc1 [user]\nI moved\n\n[assistant]\nNoted.\n", "document doc3 Tea is nice", "document doc5 Tea is hot", "document doc7 A report",
		"memory mem2 I moved", "memory mem6 Tea is hot",
	}, export())

	for i := range 60 {
		require.NoError(t, h.CaptureTurn(t.Context(), completed("tuesday", fmt.Sprint(i), fmt.Sprintf("message %d", i))))
	}
	lines := export()
	assert.Len(t, lines, 6+2*60)
	assert.Equal(t, lines, export(), "always in the same order")
}

func TestAnErasureReturnsTheErrorsOfTheServiceAndTriesTheRest(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t))
	mustCall(t, h, "remember", `{"memory":"Berlin is nice"}`)
	request := &memory.EraseRequest{Operation: operation(key, "")}
	s.fail("DELETE /v4/memories", says(403, ""))
	require.ErrorIs(t, h.Erase(t.Context(), request), supermemory.ErrUnauthorized)
	s.fail("POST /v3/documents/list", says(403, ""))
	require.ErrorIs(t, h.Erase(t.Context(), request), supermemory.ErrUnauthorized)
	assert.True(t, s.memories[0].IsForgotten, "documents cannot be listed, memories can")
	require.NoError(t, h.Erase(t.Context(), request))
}

func TestAnExportReturnsTheErrorsOfTheService(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t))
	for _, endpoint := range []string{"POST /v3/documents/list", "POST /v4/memories/list"} {
		s.fail(endpoint, says(403, ""))
		err := h.Export(t.Context(), &memory.ExportRequest{Operation: operation(key, ""), Write: func(*memory.ExportedRecord) error { return nil }})
		require.ErrorIs(t, err, supermemory.ErrUnauthorized, endpoint)
	}
}
