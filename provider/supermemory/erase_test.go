package supermemory_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/supermemory"
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
