package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

// rudely panics with something that nobody may see.
func rudely() { panic("secret") }

func TestAPanicIsAnErrorOfItsSlotAndIsLoggedWithItsStack(t *testing.T) {
	t.Parallel()
	start := func(b *bundle) error {
		_, err := b.m.StartTurn(b.t.Context(), b.request("q"))
		return err
	}
	for name, c := range map[string]struct {
		slot func(*memory.Slot, *memory.Handlers)
		call func(*bundle) error
	}{
		"scope": {func(s *memory.Slot, _ *memory.Handlers) {
			s.Scope = scope.ResolverFunc(func(context.Context, *scope.Request) (scope.Scope, error) { rudely(); return scope.Scope{}, nil })
		}, start},
		"namespace": {func(s *memory.Slot, _ *memory.Handlers) {
			s.Namespace = scope.NamespaceFunc(func(context.Context, *scope.Request) (scope.Namespace, error) { rudely(); return "", nil })
		}, start},
		"turn.started": {func(_ *memory.Slot, h *memory.Handlers) {
			h.Recall = func(context.Context, *memory.TurnStarted) ([]memory.Item, error) { rudely(); return nil, nil }
		}, start},
		"turn.completed": {func(_ *memory.Slot, h *memory.Handlers) {
			h.CaptureTurn = func(context.Context, *memory.TurnCompleted) error { rudely(); return nil }
		}, func(b *bundle) error {
			b.start("q")
			return b.complete()
		}},
		"compaction.requested": {func(_ *memory.Slot, h *memory.Handlers) {
			h.CaptureCompaction = func(context.Context, *memory.CompactionRequested) error { rudely(); return nil }
		}, func(b *bundle) error {
			_, err := b.m.RequestCompaction(b.t.Context(), b.compaction("summary"))
			return err
		}},
		"compaction.completed": {func(_ *memory.Slot, h *memory.Handlers) {
			h.RecallCompacted = func(context.Context, *memory.CompactionCompleted) ([]memory.Item, error) { rudely(); return nil, nil }
		}, func(b *bundle) error {
			r := b.compaction("summary")
			var err error
			r.Bookkeeping, err = b.m.RequestCompaction(b.t.Context(), r)
			require.NoError(b.t, err)
			_, err = b.m.CompleteCompaction(b.t.Context(), r)
			return err
		}},
		"tools": {func(_ *memory.Slot, h *memory.Handlers) {
			tool := named("tool")
			tool.Call = func(context.Context, *memory.ToolCall) (json.RawMessage, error) { rudely(); return nil, nil }
			h.Tools = func(context.Context, *memory.ToolsRequest) ([]memory.Tool, error) { return []memory.Tool{tool}, nil }
		}, func(b *bundle) error {
			_, err := b.start("q").Tools[0].Call(b.t.Context(), &memory.ToolCall{Input: json.RawMessage(`{}`)})
			return err
		}},
		"erase": {func(_ *memory.Slot, h *memory.Handlers) {
			h.Erase = func(context.Context, *memory.EraseRequest) error { rudely(); return nil }
		}, func(b *bundle) error {
			_, err := b.m.Erase(b.t.Context(), &memory.EraseCall{})
			return err
		}},
		"export": {func(_ *memory.Slot, h *memory.Handlers) {
			h.Export = func(context.Context, *memory.ExportRequest) error { rudely(); return nil }
		}, func(b *bundle) error {
			_, err := b.m.Export(b.t.Context(), &memory.ExportCall{}, io.Discard)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log journal
			handlers := recalls()
			slot := memory.Slot{Name: "rude"}
			c.slot(&slot, &handlers)
			slot.Provider = handlers
			err := c.call(newBundle(t, &memory.Options{Logger: log.logger()}, slot))
			var of *memory.SlotError
			require.ErrorAs(t, err, &of)
			assert.Equal(t, "rude", of.Slot)
			assert.EqualValues(t, name, of.Phase)
			assert.Equal(t, !slices.Contains([]string{"scope", "namespace", "tools"}, name), errors.Is(err, memory.ErrProvider))
			var panicked *memory.PanicError
			require.ErrorAs(t, err, &panicked)
			assert.Equal(t, "secret", panicked.Value)
			assert.Contains(t, string(panicked.Stack), "memory_test.rudely")
			lines := strings.Join(log.all(), "\n")
			assert.Contains(t, lines, "slot=rude")
			assert.Contains(t, lines, "memory_test.rudely")
			for _, text := range []string{err.Error(), string(panicked.Stack), lines} {
				assert.NotContains(t, text, "secret")
			}
		})
	}
}

func TestAProviderThatCannotTellItsToolsIsAFailureOfTheProvider(t *testing.T) {
	t.Parallel()
	for name, tools := range map[string]func(context.Context, *memory.ToolsRequest) ([]memory.Tool, error){
		"panic": func(context.Context, *memory.ToolsRequest) ([]memory.Tool, error) { rudely(); return nil, nil },
		"error": func(context.Context, *memory.ToolsRequest) ([]memory.Tool, error) { return nil, io.ErrUnexpectedEOF },
		"time": func(ctx context.Context, _ *memory.ToolsRequest) ([]memory.Tool, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, nil, memory.Slot{Name: "p", Provider: offers(named("tool"))})
			binding, err := b.m.BindTool(b.start("q").Tools[0])
			require.NoError(t, err)
			broken := recalls()
			broken.Tools = tools
			b.replace(nil, memory.Slot{Name: "p", Provider: broken, Timeout: 10 * time.Millisecond})
			_, err = b.m.ResumeTool(t.Context(), binding)
			var of *memory.SlotError
			require.ErrorAs(t, err, &of)
			require.Equal(t, memory.PhaseTools, of.Phase)
			require.ErrorIs(t, err, memory.ErrProvider)
		})
	}
}

func TestAPanicThatComesTooLateIsLogged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log journal
		slot := memory.Slot{Name: "rude", Timeout: time.Second, Provider: memory.Handlers{
			Recall: func(context.Context, *memory.TurnStarted) ([]memory.Item, error) {
				time.Sleep(time.Minute)
				rudely()
				return nil, nil
			},
		}}
		b := newBundle(t, &memory.Options{Logger: log.logger()}, slot)
		_, err := b.m.StartTurn(t.Context(), b.request("q"))
		require.ErrorIs(t, err, memory.ErrTimeout)
		require.Empty(t, log.all())
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Contains(t, strings.Join(log.all(), "\n"), "memory_test.rudely")
	})
}
