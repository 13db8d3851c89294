package memory_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

// document is a provider like file memory: one keyed item that renders the given number of entries at each recall.
func document(entries int) memory.Provider {
	return memory.Handlers{Recall: func(context.Context, *memory.TurnStarted) ([]memory.Item, error) {
		text := make([]byte, 0, 1024)
		text = append(text, "# Persistent memories for profile\n\n"...)
		for i := range entries {
			text = fmt.Appendf(text, "%d: The user prefers answers that are short and come with an example.\n", i)
		}
		return []memory.Item{{ID: "document", Content: string(text)}}, nil
	}}
}

func conversation(messages int) []memory.Message {
	history := make([]memory.Message, 0, messages)
	for i := range messages / 2 {
		history = append(history, memory.UserMessage(fmt.Sprintf("question %d", i)), memory.AssistantMessage(fmt.Sprintf("answer %d", i)))
	}
	return history
}

func turnStart(tb testing.TB, messages int) (*memory.Memory, *memory.TurnStart) {
	m, err := memory.New([]memory.Slot{{
		Name:     "profile",
		Provider: document(10),
		Scope: scope.ResolverFunc(func(context.Context, *scope.Request) (scope.Scope, error) {
			return scope.Tuple("acme", "u_42"), nil
		}),
		Namespace: scope.Namespace("acme-support-v1"),
	}}, nil)
	require.NoError(tb, err)
	return m, &memory.TurnStart{
		Session: memory.SessionInfo{ID: "session_1"},
		Turn:    memory.Turn{ID: "turn_7", Sequence: 7, Input: []memory.Message{memory.UserMessage("question")}},
		History: conversation(messages),
	}
}

// BenchmarkStartTurn starts a turn of one slot. The floor is what cannot be left out: looking at every message once, and the
// slices that the model and the provider get.
func BenchmarkStartTurn(b *testing.B) {
	for _, messages := range []int{20, 100_000} {
		b.Run(fmt.Sprintf("messages=%d", messages), func(b *testing.B) {
			m, r := turnStart(b, messages)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.StartTurn(b.Context(), r); err != nil {
					b.Fatal(err)
				}
			}
			perMessage(b, messages)
		})
		b.Run(fmt.Sprintf("messages=%d/floor", messages), func(b *testing.B) {
			history, input := conversation(messages), []memory.Message{memory.UserMessage("question")}
			b.ReportAllocs()
			for b.Loop() {
				view := ordinary(history, len(input))
				seen = slices.Clone(view)
				seen = append(view, input...)
			}
			perMessage(b, messages)
		})
	}
}

// seen keeps the compiler from leaving the floor out.
var seen []memory.Message

func perMessage(b *testing.B, messages int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(messages), "ns/message")
}

// BenchmarkProject projects histories in which every tenth message is a record. The floor looks at every message once and
// makes a view of those that are no records.
func BenchmarkProject(b *testing.B) {
	const messages = 100_000
	history := conversation(messages)
	for i := 0; i < messages; i += 10 {
		records, _, err := memory.Bookkeeping{}.Commit(nil, []memory.Batch{{
			Slot: "profile", Namespace: "app", Scope: scope.String("u"), OperationID: fmt.Sprint(i),
			Items: []memory.Item{{ID: strings.Repeat("k", i%7+1), Content: fmt.Sprint(i)}},
		}})
		require.NoError(b, err)
		history[i] = records[0]
	}
	_, book, err := memory.Bookkeeping{}.Commit(nil, []memory.Batch{{
		Slot: "profile", Namespace: "app", Scope: scope.String("u"), OperationID: "op",
	}})
	require.NoError(b, err)
	b.Run("project", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := book.Project(history); err != nil {
				b.Fatal(err)
			}
		}
		perMessage(b, messages)
	})
	b.Run("project/floor", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			seen = ordinary(history, 0)
		}
		perMessage(b, messages)
	})
}

// ordinary returns the messages that are no records, with room for more.
func ordinary(history []memory.Message, room int) []memory.Message {
	view := make([]memory.Message, 0, len(history)+room)
	for _, message := range history {
		if !message.IsRecord() {
			view = append(view, message)
		}
	}
	return view
}

func TestStartOfATurnAllocatesLittle(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	m, r := turnStart(t, 20)
	const bar = 40
	allocations := testing.AllocsPerRun(200, func() {
		_, err := m.StartTurn(context.Background(), r)
		require.NoError(t, err)
	})
	require.LessOrEqual(t, allocations, float64(bar))
}

func TestAllocationsDoNotGrowWithTheHistory(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	count := func(messages int) float64 {
		m, r := turnStart(t, messages)
		return testing.AllocsPerRun(20, func() {
			_, err := m.StartTurn(context.Background(), r)
			require.NoError(t, err)
		})
	}
	require.InDelta(t, count(20), count(20_000), 1)
}
