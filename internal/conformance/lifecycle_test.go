package conformance

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

func TestLifecycle(t *testing.T) {
	bundle{file: "lifecycle.json", run: runLifecycle}.test(t)
}

// appRoot is the application root of every case.
const appRoot = "/app"

// lifecycleStep is one moment of a session, with the slots of that moment.
type lifecycleStep struct {
	Op               string           `json:"op"`
	Sequence         int64            `json:"sequence"`
	TurnID           string           `json:"turnId"` // "" between turns
	Input            []memory.Message `json:"input"`
	Messages         []memory.Message `json:"messages"`
	StepIndex        *int             `json:"stepIndex"`
	ModelID          string           `json:"modelId"`
	UsageInputTokens *int64           `json:"usageInputTokens"`
	Checkpoint       []memory.Message `json:"checkpoint"`
	Memories         []slotInput      `json:"memories"`
}

// slotInput is a slot as a case gives it. Handlers that are nil are not there.
type slotInput struct {
	Slot              string            `json:"slot"`
	Scope             scope.Scope       `json:"scope"`     // zero disables
	Namespace         json.RawMessage   `json:"namespace"` // none: the default; null disables
	Visibility        memory.Visibility `json:"visibility"`
	Recall            *handlerInput     `json:"recall"`
	RecallCompacted   *handlerInput     `json:"recallCompacted"`
	CaptureTurn       *handlerInput     `json:"captureTurn"`
	CaptureCompaction *handlerInput     `json:"captureCompaction"`
}

// handlerInput says what a handler does.
type handlerInput struct {
	Result json.RawMessage `json:"result"`
	Fail   bool            `json:"fail"`
}

func runLifecycle(t *testing.T, input json.RawMessage) (any, error) {
	in, err := decode[struct {
		SessionID string           `json:"sessionId"`
		Auth      *scope.Principal `json:"auth"`
		History   []memory.Message `json:"history"`
		Steps     []lifecycleStep  `json:"steps"`
	}](input)
	if err != nil {
		return nil, err
	}
	l := &lifecycle{
		session: memory.SessionInfo{ID: in.SessionID, Node: scope.RootNode, Current: in.Auth, Initiator: in.Auth},
		history: history{messages: in.History},
	}
	steps := make([]map[string]any, 0, len(in.Steps))
	for _, step := range in.Steps {
		got, err := l.apply(t, &step)
		if err != nil {
			return nil, err
		}
		steps = append(steps, got)
	}
	return map[string]any{"steps": steps}, nil
}

// lifecycle is a session whose host keeps the history.
type lifecycle struct {
	history
	session memory.SessionInfo
	turn    memory.Turn // the last that was started
}

// apply runs one step and returns what the vectors tell of it. Its error says why the step has no form in Go.
func (l *lifecycle) apply(t *testing.T, step *lifecycleStep) (map[string]any, error) {
	calls := &callLog{}
	slots, err := calls.slots(step.Memories)
	if err != nil {
		return nil, err
	}
	m, err := memory.New(slots, &memory.Options{Deployment: scope.Deployment{AppRoot: appRoot}, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)

	view, err := l.run(t.Context(), m, step)
	if isInexpressible(err) {
		return nil, err
	}
	got := map[string]any{"op": step.Op, "calls": calls.inOrder(slots), "history": list(l.messages)}
	if err != nil {
		got["error"] = failed(err)
	} else if view != nil {
		got["view"] = list(view)
	}
	return got, nil
}

// run runs one step and returns what the model sees after it, nil when the step does not say.
func (l *lifecycle) run(ctx context.Context, m *memory.Memory, step *lifecycleStep) (view []memory.Message, err error) {
	switch step.Op {
	case "turn.started":
		return l.startTurn(ctx, m, step)
	case "reply":
		l.messages = append(l.messages, step.Messages...)
		return nil, nil
	case "turn.completed":
		bookkeeping, err := m.CompleteTurn(ctx, l.turnStart())
		l.bookkeeping = bookkeeping
		return nil, err
	case "compaction.requested":
		if step.UsageInputTokens != nil && *step.UsageInputTokens == 0 {
			return nil, inexpressible("a token count of 0 means unknown")
		}
		bookkeeping, err := m.RequestCompaction(ctx, l.compaction(step))
		if err == nil {
			l.bookkeeping = bookkeeping
		}
		return nil, err
	case "compaction.completed":
		view, err := m.CompleteCompaction(ctx, l.compaction(step))
		if err != nil {
			return nil, err
		}
		l.messages, l.bookkeeping = view.History, view.Bookkeeping
		return view.Messages, nil
	}
	return nil, inexpressible(fmt.Sprintf("unknown step %q", step.Op))
}

func (l *lifecycle) startTurn(ctx context.Context, m *memory.Memory, step *lifecycleStep) ([]memory.Message, error) {
	l.turn = memory.Turn{ID: step.TurnID, Sequence: step.Sequence, Input: step.Input}
	view, err := m.StartTurn(ctx, l.turnStart())
	if err != nil {
		return nil, err
	}
	l.messages = slices.Concat(l.messages, view.Records, step.Input)
	l.bookkeeping = view.Bookkeeping
	return view.Messages, nil
}

func (l *lifecycle) turnStart() *memory.TurnStart {
	return &memory.TurnStart{Session: l.session, Turn: l.turn, History: l.messages, Bookkeeping: l.bookkeeping}
}

func (l *lifecycle) compaction(step *lifecycleStep) *memory.Compaction {
	c := &memory.Compaction{
		Session: l.session, Sequence: step.Sequence, StepIndex: step.StepIndex, ModelID: step.ModelID,
		History: l.messages, Bookkeeping: l.bookkeeping, Checkpoint: step.Checkpoint,
	}
	if step.TurnID != "" {
		c.Turn = &l.turn
	}
	if step.UsageInputTokens != nil {
		c.InputTokens = *step.UsageInputTokens
	}
	return c
}

// callLog collects what the handlers of one step receive.
type callLog struct {
	mu    sync.Mutex
	calls []map[string]any
}

func (c *callLog) add(phase memory.Phase, o *memory.Operation, messages []memory.Message, turn *memory.Turn, compaction map[string]any) {
	call := map[string]any{
		"slot": o.Slot, "phase": phase, "operationId": o.ID, "key": o.Key, "messages": list(messages), "turn": nil,
	}
	if turn != nil {
		call["turn"] = map[string]any{"id": turn.ID, "sequence": turn.Sequence, "input": list(turn.Input)}
	}
	if compaction != nil {
		call["compaction"] = compaction
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, call)
}

// inOrder returns the calls in the order of the slots.
func (c *callLog) inOrder(slots []memory.Slot) []map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	position := func(call map[string]any) int {
		return slices.IndexFunc(slots, func(s memory.Slot) bool { return s.Name == call["slot"] })
	}
	slices.SortStableFunc(c.calls, func(a, b map[string]any) int { return cmp.Compare(position(a), position(b)) })
	return append([]map[string]any{}, c.calls...)
}

// slots returns the slots of a step in the order of their names, as eve declares them.
func (c *callLog) slots(inputs []slotInput) ([]memory.Slot, error) {
	slots := make([]memory.Slot, len(inputs))
	for i, input := range inputs {
		handlers, err := c.handlers(&input)
		if err != nil {
			return nil, err
		}
		slots[i] = memory.Slot{Name: input.Slot, Provider: handlers, Visibility: input.Visibility}
		// Functions, since a fixed scope that always fails or disables would be refused when the memory is built.
		slots[i].Scope = scope.ResolverFunc(func(context.Context, *scope.Request) (scope.Scope, error) { return input.Scope, nil })
		if input.Namespace == nil {
			continue
		}
		namespace, err := decode[scope.Namespace](input.Namespace)
		if err != nil {
			return nil, err
		}
		slots[i].Namespace = scope.NamespaceFunc(func(context.Context, *scope.Request) (scope.Namespace, error) { return namespace, nil })
	}
	slices.SortFunc(slots, func(a, b memory.Slot) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(b.Name, a.Name))
	})
	return slots, nil
}

var errAsked = errors.New("the case asks for a failure")

// handlers returns a provider that does what the case says and logs its calls. Recall is always there.
func (c *callLog) handlers(in *slotInput) (memory.Handlers, error) {
	recall, err := in.Recall.items()
	if err != nil {
		return memory.Handlers{}, err
	}
	compacted, err := in.RecallCompacted.items()
	if err != nil {
		return memory.Handlers{}, err
	}
	h := memory.Handlers{Recall: func(_ context.Context, r *memory.TurnStarted) ([]memory.Item, error) {
		c.add(memory.PhaseTurnStarted, &r.Operation, r.Messages, &r.Turn, nil)
		return recall, in.Recall.err()
	}}
	if in.RecallCompacted != nil {
		h.RecallCompacted = func(_ context.Context, r *memory.CompactionCompleted) ([]memory.Item, error) {
			c.add(memory.PhaseCompactionCompleted, &r.Operation, r.Messages, r.Turn, map[string]any{"modelId": r.ModelID})
			return compacted, in.RecallCompacted.err()
		}
	}
	if in.CaptureTurn != nil {
		h.CaptureTurn = func(_ context.Context, r *memory.TurnCompleted) error {
			c.add(memory.PhaseTurnCompleted, &r.Operation, r.Messages, &r.Turn, nil)
			return in.CaptureTurn.err()
		}
	}
	if in.CaptureCompaction != nil {
		h.CaptureCompaction = func(_ context.Context, r *memory.CompactionRequested) error {
			c.add(memory.PhaseCompactionRequested, &r.Operation, r.Messages, r.Turn,
				map[string]any{"modelId": r.ModelID, "usageInputTokens": known(r.InputTokens)})
			return in.CaptureCompaction.err()
		}
	}
	return h, nil
}

// known returns a token count, or nil for the 0 that means unknown.
func known(tokens int64) any {
	if tokens == 0 {
		return nil
	}
	return tokens
}

func (h *handlerInput) items() ([]memory.Item, error) {
	if h == nil {
		return nil, nil
	}
	return recalled(h.Result)
}

func (h *handlerInput) err() error {
	if h == nil || !h.Fail {
		return nil
	}
	return errAsked
}
