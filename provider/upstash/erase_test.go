package upstash_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
)

func TestEraseRemovesRecordsAndKeptRecalls(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, nil))
	mustCall(t, h, "save_memory", `{"text":"User likes cucumber."}`)
	require.NoError(t, h.CaptureTurn(t.Context(), completed(1, "x")))
	recall(t, h, "op", memory.UserMessage("cucumber"))
	s.set("agentkit:memorySlot:"+key+"x:1", json.RawMessage(`{}`))
	s.set("unrelated", "x")
	for range 2 {
		require.NoError(t, h.Erase(t.Context(), &memory.EraseRequest{Operation: operation("")}))
		assert.Equal(t, []string{"agentkit:memorySlot:" + key + "x:1", "unrelated"}, s.keys())
	}
}
