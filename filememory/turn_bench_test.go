package filememory_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

// turnStart returns memories of one slot with 10 entries, and a turn after 20 messages.
func turnStart(tb testing.TB, backend filememory.Backend, opts *filememory.Options) (*memory.Memory, *memory.TurnStart, string) {
	tb.Helper()
	const namespace = scope.Namespace("bench-v1")
	owner := scope.Tuple("acme", "u_42")
	keys, err := scope.Derive(namespace, owner)
	require.NoError(tb, err)
	provider := newProvider(tb, backend, opts)
	for i := range 10 {
		_, err := provider.Slot("profile").Save(tb.Context(), keys.Key, fmt.Sprintf("memory number %d", i))
		require.NoError(tb, err)
	}
	memories, err := memory.New([]memory.Slot{{Name: "profile", Provider: provider, Scope: owner, Namespace: namespace}}, nil)
	require.NoError(tb, err)
	start := &memory.TurnStart{
		Session: memory.SessionInfo{ID: "session_1"},
		Turn:    memory.Turn{ID: "turn_10", Sequence: 10, Input: []memory.Message{memory.UserMessage("hello")}},
	}
	for i := range 10 {
		start.History = append(start.History, memory.UserMessage(fmt.Sprint("question ", i)), memory.AssistantMessage(fmt.Sprint("answer ", i)))
	}
	return memories, start, keys.Key
}

func BenchmarkTurnStart(b *testing.B) {
	for _, subject := range []struct {
		name string
		opts *filememory.Options
	}{{"subject", &filememory.Options{ReadOnly: true}}, {"subject with tools", nil}} {
		memories, start, _ := turnStart(b, filememory.InMemory(), subject.opts)
		b.Run(subject.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := memories.StartTurn(b.Context(), start); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	backend := filememory.InMemory()
	_, _, key := turnStart(b, backend, nil)
	b.Run("floor: one read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := backend.Read(b.Context(), key); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func TestATurnStartOfFileMemoryAllocatesAtMost40Times(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	memories, start, _ := turnStart(t, filememory.InMemory(), &filememory.Options{ReadOnly: true})
	require.LessOrEqual(t, testing.AllocsPerRun(200, func() {
		if _, err := memories.StartTurn(t.Context(), start); err != nil {
			t.Fatal(err)
		}
	}), 40.0)
}
