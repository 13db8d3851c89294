package memory_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
)

func TestObserverIsToldAroundEveryCall(t *testing.T) {
	t.Parallel()
	type key struct{}
	var calls []memory.Call
	var events []memory.EventKind
	boom := errors.New("boom")
	observer := &memory.Observer{
		CallStarted: func(ctx context.Context, c *memory.Call) context.Context {
			calls = append(calls, *c)
			return context.WithValue(ctx, key{}, "span")
		},
		CallEnded: func(ctx context.Context, c *memory.Call) {
			if ctx.Value(key{}) == "span" {
				calls = append(calls, *c)
			}
		},
		Happened: func(_ context.Context, e *memory.Event) { events = append(events, e.Kind) },
	}
	h := memory.Handlers{
		Recall: func(ctx context.Context, _ *memory.TurnStarted) ([]memory.Item, error) {
			if ctx.Value(key{}) != "span" {
				return nil, errors.New("the provider's context has no span")
			}
			return []memory.Item{{Content: "secret memory"}, {Content: "b"}}, nil
		},
		CaptureTurn: func(context.Context, *memory.TurnCompleted) error { return boom },
	}
	b := newBundle(t, &memory.Options{Observer: observer}, memory.Slot{Name: "p", Provider: h})
	b.start("q")
	require.ErrorIs(t, b.complete(), boom)
	require.Len(t, calls, 4)
	for i := range calls {
		calls[i].Duration = 0
		require.NotEmpty(t, calls[i].Key)
		calls[i].Key = ""
	}
	recall := memory.Call{
		Name: memory.CallSearch, Phase: memory.PhaseTurnStarted, OperationID: "eve-memory-operation-v1:session_1:1:turn_1:turn.started:p",
		Slot: "p", SessionID: "session_1", TurnID: "turn_1",
	}
	capture := recall
	capture.Name, capture.Phase = memory.CallUpsert, memory.PhaseTurnCompleted
	capture.OperationID = "eve-memory-operation-v1:session_1:1:turn_1:turn.completed:p"
	require.Equal(t, recall, calls[0])
	recall.Records = 2
	require.Equal(t, recall, calls[1])
	require.Equal(t, capture, calls[2])
	require.ErrorIs(t, calls[3].Err, boom)
	require.Equal(t, []memory.EventKind{memory.EventTurnStarted, memory.EventTurnCompleted}, events)
}

func TestObserverSeesAnInvalidAnswerAsAnError(t *testing.T) {
	t.Parallel()
	var ended memory.Call
	b := newBundle(t, &memory.Options{Observer: &memory.Observer{CallEnded: func(_ context.Context, c *memory.Call) { ended = *c }}},
		memory.Slot{Name: "p", Provider: recalls(memory.Item{Content: " "})})
	_, err := b.m.StartTurn(t.Context(), b.request("q"))
	require.ErrorIs(t, err, memory.ErrBlankContent)
	require.ErrorIs(t, ended.Err, memory.ErrBlankContent)
	require.Equal(t, 1, ended.Records)
}

func TestPanicOfAnObserverIsAnErrorOfTheSlot(t *testing.T) {
	t.Parallel()
	for name, observer := range map[string]*memory.Observer{
		"before": {CallStarted: func(context.Context, *memory.Call) context.Context { panic("secret") }},
		"after":  {CallEnded: func(context.Context, *memory.Call) { panic("secret") }},
	} {
		b := newBundle(t, &memory.Options{Observer: observer}, memory.Slot{Name: "p", Provider: recalls()})
		_, err := b.m.StartTurn(t.Context(), b.request("q"))
		var slot *memory.SlotError
		require.ErrorAs(t, err, &slot, name)
		var panicked *memory.PanicError
		require.ErrorAs(t, err, &panicked, name)
		require.NotContains(t, err.Error(), "secret")
		require.NotEmpty(t, panicked.Stack)
	}
}

func TestPanicOfAnObserverOfEventsIsLogged(t *testing.T) {
	t.Parallel()
	var j journal
	observer := &memory.Observer{Happened: func(context.Context, *memory.Event) { panic("secret") }}
	b := newBundle(t, &memory.Options{Observer: observer, Logger: j.logger()}, memory.Slot{Name: "p", Provider: recalls()})
	b.start("q")
	require.Contains(t, strings.Join(j.all(), "\n"), "observer failed")
	require.NotContains(t, strings.Join(j.all(), "\n"), "secret")
}

func TestObserverThatReturnsNoContextKeepsTheCallers(t *testing.T) {
	t.Parallel()
	observer := &memory.Observer{CallStarted: func(context.Context, *memory.Call) context.Context { return nil }}
	b := newBundle(t, &memory.Options{Observer: observer}, memory.Slot{Name: "p", Provider: recalls(memory.Item{Content: "x"})})
	require.Equal(t, []string{"x", "q"}, texts(b.start("q").Messages))
}

func TestErrorsAndLogsHoldNoScopeAndNoMemory(t *testing.T) {
	t.Parallel()
	var j journal
	h := recalls(memory.Item{ID: "secret id", Content: "secret content"}, memory.Item{ID: "secret id", Content: "secret content"})
	b := newBundle(t, &memory.Options{Logger: j.logger(), Development: true},
		memory.Slot{Name: "p", Provider: h, Scope: byCurrent, Namespace: nil, BestEffort: true},
		memory.Slot{Name: "q", Provider: h, Scope: byCurrent},
	)
	b.session.Current = user("secret user")
	_, err := b.m.StartTurn(t.Context(), b.request("secret question"))
	require.ErrorIs(t, err, memory.ErrDuplicateItem)
	require.NotContains(t, err.Error(), "secret")
	require.NotContains(t, strings.Join(j.all(), "\n"), "secret")
	require.NotEmpty(t, j.all())
}
