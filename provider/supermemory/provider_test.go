package supermemory_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/leak"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/memory/memorytest"
)

func TestMain(m *testing.M) { leak.Main(m) }

var (
	key      = "memscope1_" + strings.Repeat("aB3_-", 8) + "xyz"
	otherKey = "memscope1_" + strings.Repeat("ab3_-", 8) + "xyz"
)

func contextTag(key string) string { return "eve_agent_" + key }

func extractionTag(key string) string { return "eve_agent_extraction_" + key }

// displayed is how a text is shown to the model: on one line, as XML.
func displayed(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(strings.Join(strings.Fields(text), " "))
}

func TestTheProviderConforms(t *testing.T) {
	t.Parallel()
	memorytest.Run(t, func(t *testing.T) memory.Provider { return newServer(t).provider(t) }, &memorytest.Options{
		SaveTool: "remember", SaveArgument: "memory", Captures: true, Text: displayed,
		ReadTools: []memorytest.ReadTool{{Name: "search", Input: func(text string) string { return fmt.Sprintf(`{"query":%q}`, text) }}},
	})
}

func handlers(t testing.TB, p memory.Provider) memory.Handlers {
	t.Helper()
	h, err := p.Attach(memory.SlotInfo{Name: "people"})
	require.NoError(t, err)
	return h
}

func operation(key, id string) memory.Operation {
	return memory.Operation{ID: id, Key: key, Slot: "people", Session: memory.SessionInfo{ID: "monday"}}
}

func recall(t testing.TB, h memory.Handlers, said string) []memory.Item {
	t.Helper()
	turn := memory.Turn{ID: "t"}
	if said != "" {
		turn.Input = []memory.Message{memory.UserMessage(said)}
	}
	items, err := h.Recall(t.Context(), &memory.TurnStarted{Operation: operation(key, "op"), Turn: turn})
	require.NoError(t, err)
	return items
}

func call(t testing.TB, h memory.Handlers, key, name, input string) (string, error) {
	t.Helper()
	tools, err := h.Tools(t.Context(), &memory.ToolsRequest{Operation: operation(key, "")})
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
	output, err := call(t, h, key, name, input)
	require.NoError(t, err)
	return output
}

func completed(session, id, said string, answers ...memory.Message) *memory.TurnCompleted {
	o := operation(key, id)
	o.Session.ID = session
	messages := []memory.Message{memory.UserMessage("an earlier turn"), memory.AssistantMessage("its answer"),
		memory.NewMessage(memory.RoleUser, memory.KindRecord, "recalled"), memory.UserMessage(said)}
	return &memory.TurnCompleted{
		Operation: o, Messages: append(messages, answers...),
		Turn: memory.Turn{ID: "t", Sequence: 1, Input: messages[3:4], Start: 3},
	}
}
