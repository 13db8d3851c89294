package memory_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

// benchSession returns a memory with one slot of ten entries, and the snapshot of a session with so many messages.
func benchSession(b *testing.B, messages int) (*memory.Memory, []byte) {
	m, err := memory.New([]memory.Slot{{
		Name: "profile", Provider: document(10), Scope: scope.Tuple("acme", "u_42"), Namespace: scope.Namespace("acme-support-v1"),
	}}, nil)
	require.NoError(b, err)
	s, err := m.NewSession(nil)
	require.NoError(b, err)
	turn, err := s.Begin(context.Background(), said("", nil, "hello"))
	require.NoError(b, err)
	require.NoError(b, turn.Append(conversation(messages)...))
	require.NoError(b, turn.Complete(context.Background()))
	snapshot, err := s.Snapshot()
	require.NoError(b, err)
	return m, snapshot
}

// BenchmarkSessionTurn is a whole turn of a session. Its floor is the same turn on the stateless form, without what a
// session does for its host: keeping history and bookkeeping.
func BenchmarkSessionTurn(b *testing.B) {
	ctx := context.Background()
	for _, messages := range []int{20, 100_000} {
		m, snapshot := benchSession(b, messages)
		s, err := m.RestoreSession(snapshot, nil)
		require.NoError(b, err)
		b.Run(fmt.Sprintf("floor/%d messages", messages), func(b *testing.B) {
			history := s.History()
			b.ReportAllocs()
			for b.Loop() {
				r := &memory.TurnStart{
					Session: memory.SessionInfo{ID: "session"}, History: history,
					Turn: memory.Turn{ID: "turn", Sequence: 1, Input: []memory.Message{memory.UserMessage("question")}},
				}
				view, err := m.StartTurn(ctx, r)
				if err != nil {
					b.Fatal(err)
				}
				r.History = append(append(r.History, view.Records...), r.Turn.Input...)
				r.History = append(r.History, memory.AssistantMessage("answer"))
				r.Bookkeeping = view.Bookkeeping
				if _, err := m.CompleteTurn(ctx, r); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("session/%d messages", messages), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if i%64 == 0 { // before the history has grown much
					b.StopTimer()
					if s, err = m.RestoreSession(snapshot, nil); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
				}
				turn, err := s.Begin(ctx, said("", nil, "question"))
				if err != nil {
					b.Fatal(err)
				}
				if err := turn.Append(memory.AssistantMessage("answer")); err != nil {
					b.Fatal(err)
				}
				if err := turn.Complete(ctx); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSessionCompactNotDue is what a host pays before every model call. Its floor is a first measure of the whole view.
func BenchmarkSessionCompactNotDue(b *testing.B) {
	ctx := context.Background()
	m, snapshot := benchSession(b, 10_000)
	s, err := m.RestoreSession(snapshot, &memory.SessionOptions{Policy: &memory.Policy{ContextWindow: 1e9}})
	require.NoError(b, err)
	turn, err := s.Begin(ctx, said("", nil, "question"))
	require.NoError(b, err)
	defer turn.Fail()
	view := turn.View()
	b.Run("floor", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			(&memory.Policy{ContextWindow: 1e9}).Due(&memory.Load{Messages: view})
		}
	})
	b.Run("compact", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := turn.Compact(ctx, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkSnapshot has as its floor the encoding of each message alone.
func BenchmarkSnapshot(b *testing.B) {
	m, snapshot := benchSession(b, 10_000)
	s, err := m.RestoreSession(snapshot, nil)
	require.NoError(b, err)
	b.Run("floor", func(b *testing.B) {
		history := s.History()
		b.SetBytes(int64(len(snapshot)))
		b.ReportAllocs()
		for b.Loop() {
			for _, message := range history {
				if _, err := message.MarshalJSON(); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("snapshot", func(b *testing.B) {
		b.SetBytes(int64(len(snapshot)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Snapshot(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("restore", func(b *testing.B) {
		b.SetBytes(int64(len(snapshot)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := m.RestoreSession(snapshot, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
