package memory_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

// document is a provider like file memory: one keyed item with ten entries.
func document(entries int) memory.Provider {
	var text strings.Builder
	text.WriteString("# Persistent memories for profile\n\n")
	for i := range entries {
		fmt.Fprintf(&text, "%d: The user prefers answer number %d, short and with an example.\n", i, i)
	}
	content := text.String()
	return memory.Handlers{Recall: func(context.Context, *memory.TurnStarted) ([]memory.Item, error) {
		return []memory.Item{{ID: "document", Content: content}}, nil
	}}
}

func conversation(messages int) []memory.Message {
	history := make([]memory.Message, 0, messages)
	for i := range messages / 2 {
		history = append(history, memory.UserMessage(fmt.Sprintf("question %d", i)), memory.AssistantMessage(fmt.Sprintf("answer %d", i)))
	}
	return history
}

func turnStart(b testing.TB, messages int) (*memory.Memory, *memory.TurnStart) {
	m, err := memory.New([]memory.Slot{{
		Name:      "profile",
		Provider:  document(10),
		Scope:     scope.Tuple("acme", "u_42"),
		Namespace: scope.Namespace("acme-support-v1"),
	}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	return m, &memory.TurnStart{
		Session: memory.SessionInfo{ID: "session_1"},
		Turn:    memory.Turn{ID: "turn_7", Sequence: 7, Input: []memory.Message{memory.UserMessage("question")}},
		History: conversation(messages),
	}
}

func BenchmarkStartTurn(b *testing.B) {
	for _, messages := range []int{20, 100_000} {
		b.Run(fmt.Sprintf("%d messages", messages), func(b *testing.B) {
			m, r := turnStart(b, messages)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.StartTurn(b.Context(), r); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(messages), "ns/message")
		})
	}
}
