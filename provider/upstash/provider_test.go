package upstash_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/rest/resttest"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/memory/memorytest"
	"github.com/recollect-go/recollect/provider/upstash"
)

func TestTheProviderConforms(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]*upstash.ProviderOptions{
		"defaults": nil,
		"all":      {Capture: upstash.CaptureAll, MaxRecallCharacters: 10000, TopK: 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			memorytest.Run(t, func(t *testing.T) memory.Provider { return newServer(t).provider(t, opts) }, &memorytest.Options{
				SaveTool: "save_memory", SaveArgument: "text", StableRecall: true,
				Text: func(s string) string { return strings.Join(strings.Fields(s), " ") }, // as the service's own client stores it
				ReadTools: []memorytest.ReadTool{{Name: "search_memory", Input: func(text string) string {
					return fmt.Sprintf(`{"query":%q}`, text)
				}}},
			})
		})
	}
}

func (s *server) provider(t testing.TB, opts *upstash.ProviderOptions) *upstash.Provider {
	t.Helper()
	return s.providerVia(t, nil, opts)
}

func (s *server) providerVia(t testing.TB, transport http.RoundTripper, opts *upstash.ProviderOptions) *upstash.Provider {
	t.Helper()
	p, err := upstash.NewProvider(s.client(t, transport), opts)
	require.NoError(t, err)
	return p
}

func handlers(t testing.TB, p memory.Provider) memory.Handlers {
	t.Helper()
	h, err := p.Attach(memory.SlotInfo{Name: "recall"})
	require.NoError(t, err)
	return h
}

func operation(id string) memory.Operation {
	return memory.Operation{ID: id, Key: key, Slot: "recall", Session: memory.SessionInfo{ID: "s:1"}}
}

func recall(t testing.TB, h memory.Handlers, id string, input ...memory.Message) string {
	t.Helper()
	items, err := h.Recall(t.Context(), &memory.TurnStarted{Operation: operation(id), Turn: memory.Turn{ID: "t", Input: input}})
	require.NoError(t, err)
	require.Len(t, items, 1)
	assert.Equal(t, "agentkit-redis-memory", items[0].ID)
	return items[0].Content
}

func call(t testing.TB, h memory.Handlers, name, input string) (string, error) {
	t.Helper()
	tools, err := h.Tools(t.Context(), &memory.ToolsRequest{Operation: operation(""), Turn: memory.Turn{ID: "t", Sequence: 7}})
	require.NoError(t, err)
	for _, tool := range tools {
		if tool.Name == name {
			output, err := tool.Call(t.Context(), &memory.ToolCall{ID: "c", Input: json.RawMessage(input)})
			return string(output), err
		}
	}
	return "", fmt.Errorf("no tool %q", name)
}

func mustCall(t testing.TB, h memory.Handlers, name, input string) string {
	t.Helper()
	output, err := call(t, h, name, input)
	require.NoError(t, err)
	return output
}

func completed(sequence int64, said string, answers ...string) *memory.TurnCompleted {
	messages := []memory.Message{memory.UserMessage("an earlier turn"), memory.AssistantMessage("its answer"), memory.UserMessage(said)}
	for _, answer := range answers {
		messages = append(messages, memory.AssistantMessage(answer))
	}
	return &memory.TurnCompleted{
		Operation: operation(fmt.Sprintf("op:%d", sequence)), Messages: messages,
		Turn: memory.Turn{ID: "t", Sequence: sequence, Input: messages[2:3], Start: 2},
	}
}

// TestRecordsHaveTheLayoutOfAgentKit guards ids, keys and members. The ids were computed with AgentKit's rule: the beginning of the SHA-256 of the
// JSON text of a string.
func TestRecordsHaveTheLayoutOfAgentKit(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h := handlers(t, s.provider(t, &upstash.ProviderOptions{Capture: upstash.CaptureAll}))
	assert.JSONEq(t, `{"id":"c1c17b9fc4e1","saved":true,"searchable":true}`, mustCall(t, h, "save_memory", `{"text":" User  likes\u00a0cucumber. "}`))
	require.NoError(t, h.CaptureTurn(t.Context(), completed(3, "What do you remember?", "Cucumber.")))

	const prefix = "agentkit:memorySlot:"
	want := map[string]string{
		prefix + key + ":c1c17b9fc4e1": `{"text":"User likes cucumber.","userId":"` + key + `","sessionId":"s_1","source":"agent","deleted":false,"sequence":7,"subIndex":0}`,
		prefix + key + ":58fdd87f38fb": `{"text":"What do you remember?","userId":"` + key + `","sessionId":"s_1","source":"userMessage","deleted":false,"sequence":3,"subIndex":0}`,
		prefix + key + ":950744081e48": `{"text":"Cucumber.","userId":"` + key + `","sessionId":"s_1","source":"agentMessage","deleted":false,"sequence":3,"subIndex":0}`,
	}
	assert.Len(t, s.keys(), len(want))
	for name, document := range want {
		stored, _ := s.get(name).(json.RawMessage)
		without := regexp.MustCompile(`"createdAt":\d{13},`).ReplaceAllString(string(stored), "")
		assert.JSONEq(t, document, without, name)
	}
}

func TestRequestsOfTheProvider(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	recorder := &resttest.Recorder{Next: s.Client().Transport}
	h := handlers(t, s.providerVia(t, recorder, nil))
	recall(t, h, "session:1:turn.started", memory.UserMessage("cucumber?"))
	recall(t, h, "session:1:turn.started", memory.UserMessage("cucumber?"))
	mustCall(t, h, "save_memory", `{"text":"User likes cucumber."}`)
	require.NoError(t, h.CaptureTurn(t.Context(), completed(3, "What do you remember?")))
	mustCall(t, h, "search_memory", `{"query":"cucumber","limit":2}`)
	mustCall(t, h, "forget_memory", `{"id":"c1c17b9fc4e1"}`)
	mustCall(t, h, "read_session", `{"conversation":"s:1","from":1,"limit":10}`)
	require.NoError(t, h.Erase(t.Context(), &memory.EraseRequest{Operation: operation("")}))
	requests := recorder.Requests()
	for i := range requests {
		requests[i] = regexp.MustCompile(`createdAt\\":\d{13}`).ReplaceAllString(requests[i], `createdAt\":<time>`)
	}
	resttest.Golden(t, "provider.http", requests, token, "<token>")
}

func TestNewProviderListsEveryProblem(t *testing.T) {
	t.Parallel()
	_, err := upstash.NewProvider(nil, &upstash.ProviderOptions{Prefix: "\xff", TopK: -1, MaxMemoryCharacters: 1, ReplayTTL: time.Millisecond, Capture: "x"})
	for _, part := range []string{"client", "UTF-8", "TopK", "MaxMemoryCharacters", "ReplayTTL", "Capture"} {
		assert.ErrorContains(t, err, part)
	}
	s := newServer(t)
	_, err = s.provider(t, nil).Attach(memory.SlotInfo{Name: strings.Repeat("a", 50)})
	require.ErrorContains(t, err, "search_memory")
}
