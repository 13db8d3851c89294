package upstash_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/upstash"
)

func TestAFactThatIsTooLongIsRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, nil))
	_, err := call(t, h, "save_memory", fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", 2049)))
	require.ErrorIs(t, err, memory.ErrToolInput)
	require.ErrorContains(t, err, "2049")
	_, err = call(t, h, "save_memory", `{"text":"  "}`)
	require.ErrorIs(t, err, memory.ErrToolInput)
	assert.Empty(t, s.keys())
}

func TestAFactCanBeSavedAgainAfterItWasForgotten(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, nil))
	mustCall(t, h, "save_memory", `{"text":"User likes cucumber."}`)
	mustCall(t, h, "forget_memory", `{"id":"c1c17b9fc4e1"}`)
	assert.NotContains(t, recall(t, h, "op1", memory.UserMessage("cucumber")), "User likes")
	mustCall(t, h, "save_memory", `{"text":"User likes cucumber."}`)
	assert.Contains(t, recall(t, h, "op2", memory.UserMessage("cucumber")), "User likes")
	assert.JSONEq(t, `{"id":"nothing","forgotten":false}`, mustCall(t, h, "forget_memory", `{"id":"nothing"}`))
}

func TestWhatIsSavedCanBeFoundAtOnceAlthoughTheIndexLags(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.lag = true
	h := handlers(t, s.provider(t, nil))
	recall(t, h, "op0", memory.UserMessage("x")) // creates the index
	mustCall(t, h, "save_memory", `{"text":"User likes cucumber."}`)
	assert.Contains(t, recall(t, h, "op1", memory.UserMessage("cucumber")), "User likes")

	hasty := handlers(t, s.provider(t, &upstash.ProviderOptions{NoIndexWait: true}))
	mustCall(t, hasty, "save_memory", `{"text":"User likes trains."}`)
	assert.NotContains(t, recall(t, hasty, "op2", memory.UserMessage("trains")), "User likes trains")

	s.next("SEARCH.WAITINDEXING", answers(400, "ERR busy with something"))
	assert.JSONEq(t, `{"id":"c1c17b9fc4e1","saved":true,"searchable":false}`, mustCall(t, h, "save_memory", `{"text":"User likes cucumber."}`))
	s.next("SEARCH.WAITINDEXING", answers(400, "ERR busy with something"))
	require.ErrorIs(t, h.CaptureTurn(t.Context(), completed(1, "x")), upstash.ErrRefused)
}

func TestWhatWasErasedWhileItWasForgottenStaysAway(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, nil))
	mustCall(t, h, "save_memory", `{"text":"User likes cucumber."}`)
	s.next("JSON.GET", func(w http.ResponseWriter, serve func() []byte) {
		answer := serve()
		s.del([]string{s.keys()[0]})
		w.Write(answer)
	})
	assert.JSONEq(t, `{"id":"c1c17b9fc4e1","forgotten":false}`, mustCall(t, h, "forget_memory", `{"id":"c1c17b9fc4e1"}`))
	assert.Empty(t, s.keys())
}

func TestApprovalIsTheHosts(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	yes := func(context.Context, *memory.ToolCall) (bool, error) { return true, nil }
	h := handlers(t, s.provider(t, &upstash.ProviderOptions{ApproveForget: yes}))
	tools, err := h.Tools(t.Context(), &memory.ToolsRequest{Operation: operation("")})
	require.NoError(t, err)
	for _, tool := range tools {
		assert.Equal(t, tool.Name == "forget_memory", tool.Approval != nil, tool.Name)
	}
}
