package supermemory_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/supermemory"
)

func TestADocumentOfAnotherKeyIsNotFound(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t))
	require.NoError(t, h.CaptureTurn(t.Context(), completed("monday", "op:1", "my secret")))
	mustCall(t, h, "extract", `{"kind":"text","value":"my secret source"}`)
	custom := *s.documents[0].CustomID
	_, absent := call(t, h, otherKey, "read_document", `{"id":"nothing"}`)
	require.ErrorIs(t, absent, supermemory.ErrNotFound)
	for _, id := range []string{"doc1", "doc3", custom} {
		output, err := call(t, h, otherKey, "read_document", fmt.Sprintf(`{"id":%q}`, id))
		require.ErrorIs(t, err, supermemory.ErrNotFound, id)
		assert.Equal(t, absent.Error(), err.Error(), "nobody learns that it is there")
		assert.NotContains(t, output+err.Error(), "secret")
		mustCall(t, h, "read_document", fmt.Sprintf(`{"id":%q}`, id))
	}
	output, err := call(t, h, otherKey, "read_session", `{"conversation":"monday"}`)
	require.NoError(t, err)
	assert.JSONEq(t, `{"turns":[]}`, output)
	output, err = call(t, h, otherKey, "forget", `{"id":"mem2"}`)
	require.NoError(t, err)
	assert.JSONEq(t, `{"id":"mem2","forgotten":false}`, output)
	output, err = call(t, h, otherKey, "forget_matching", `{"ids":["mem2"]}`)
	require.NoError(t, err)
	assert.JSONEq(t, `{"forgotten":true,"count":0,"memories":[]}`, output)
	assert.False(t, s.memories[0].IsForgotten)
	for _, id := range []string{"../../v4/profile", "a/b", "..", ".", "a?b", "a#b", "a%2Fb", "", strings.Repeat("a", 101)} {
		for _, tool := range []string{"read_document", "forget"} {
			_, err := call(t, h, key, tool, fmt.Sprintf(`{"id":%q}`, id))
			require.ErrorIs(t, err, memory.ErrToolInput, "%q", id)
		}
	}
}

func TestADocumentThatWasNotAskedForIsRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t))
	for _, body := range []string{`{"id":"other","containerTags":["` + contextTag(key) + `"],"status":"done","content":"secret"}`, `{"id":"doc1","status":"done","content":"secret"}`} {
		s.fail("GET /v3/documents/{id}", says(200, body))
		_, err := call(t, h, key, "read_document", `{"id":"doc1"}`)
		require.ErrorIs(t, err, supermemory.ErrNotFound, body)
	}
}

func TestAListOfDocumentsThatWereNotAskedForIsRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t))
	_, err := call(t, h, otherKey, "remember", `{"memory":"theirs"}`)
	require.NoError(t, err)
	const endpoint = "POST /v3/documents/list"
	foreign := says(200, `{"memories":[{"id":"doc1","containerTags":["`+contextTag(otherKey)+`"],"summary":"secret","content":"secret"}],"pagination":{"totalPages":1}}`)
	s.fail(endpoint, foreign, foreign, foreign)
	_, err = call(t, h, key, "read_session", `{"conversation":"x"}`)
	require.ErrorIs(t, err, supermemory.ErrBadReply)
	_, err = h.Recall(t.Context(), &memory.TurnStarted{Operation: operation(key, "op")})
	require.ErrorIs(t, err, supermemory.ErrBadReply)
	require.ErrorIs(t, h.Erase(t.Context(), &memory.EraseRequest{Operation: operation(key, "")}), supermemory.ErrBadReply)
	assert.Len(t, s.documents, 1, "nothing of another key is deleted")
}

func TestKeysArePartOfEveryTag(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, func(o *supermemory.Options) { o.ContainerTagPrefix = strings.Repeat("p", 35) }))
	mustCall(t, h, "extract", `{"kind":"text","value":"source"}`)
	assert.Len(t, s.documents[0].tag, 100)
	for _, bad := range []string{"", "x", key + "x", "memscope1_" + strings.Repeat("!", 43)} {
		_, err := h.Recall(t.Context(), &memory.TurnStarted{Operation: operation(bad, "op")})
		require.ErrorIs(t, err, filememory.ErrInvalidKey, "%q", bad)
		request := completed("monday", "op", "said")
		request.Operation.Key = bad
		require.ErrorIs(t, h.CaptureTurn(t.Context(), request), filememory.ErrInvalidKey, "%q", bad)
		_, err = h.Tools(t.Context(), &memory.ToolsRequest{Operation: operation(bad, "")})
		require.ErrorIs(t, err, filememory.ErrInvalidKey, "%q", bad)
		require.ErrorIs(t, h.Erase(t.Context(), &memory.EraseRequest{Operation: operation(bad, "")}), filememory.ErrInvalidKey, "%q", bad)
		require.ErrorIs(t, h.Export(t.Context(), &memory.ExportRequest{Operation: operation(bad, "")}), filememory.ErrInvalidKey, "%q", bad)
	}
}
