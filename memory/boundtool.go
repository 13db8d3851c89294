package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/recollect-go/recollect/internal/rawjson"
)

// boundTool is a provider's tool inside the one that the model sees.
type boundTool struct {
	m    *Memory
	slot *slot
	tool Tool
}

// bind returns the tool that the model sees. The provider made its tool for the key of the lock, and nothing that comes with
// a call can change that.
func (m *Memory) bind(s *slot, tool Tool, b *binding) Tool {
	t := &boundTool{m, s, tool}
	seen := Tool{
		Name:        s.toolName(tool.Name),
		Description: describe(s.Description, tool.Description),
		InputSchema: slices.Clone(tool.InputSchema),
		Call:        t.call,
		bound:       b,
	}
	if tool.Approval != nil {
		seen.Approval = t.approval
	}
	if tool.Render != nil {
		seen.Render = t.render
	}
	return seen
}

// describe puts a slot's description before that of a tool.
func describe(slot, tool string) string {
	if slot == "" {
		return tool
	}
	if tool == "" {
		return slot
	}
	return slot + "\n\n" + tool
}

func (t *boundTool) call(ctx context.Context, call *ToolCall) (json.RawMessage, error) {
	checked, err := t.checked(call)
	if err != nil {
		return nil, err
	}
	output, err := protect(t, ctx, func(ctx context.Context) (json.RawMessage, error) { return t.tool.Call(ctx, checked) })
	if err != nil {
		return nil, err
	}
	if len(output) == 0 {
		return json.RawMessage("null"), nil
	}
	compact, err := rawjson.Compact(output)
	if err != nil {
		return nil, &SlotError{t.slot.Name, PhaseTools, fmt.Errorf("output of %q: %w", t.tool.Name, err)}
	}
	return compact, nil
}

func (t *boundTool) approval(ctx context.Context, call *ToolCall) (bool, error) {
	checked, err := t.checked(call)
	if err != nil {
		return false, err
	}
	return protect(t, ctx, func(ctx context.Context) (bool, error) { return t.tool.Approval(ctx, checked) })
}

func (t *boundTool) render(ctx context.Context, result *ToolResult) (string, error) {
	return protect(t, ctx, func(ctx context.Context) (string, error) { return t.tool.Render(ctx, result) })
}

// protect calls a function of the tool. Its error is for the model and returned as it is; a panic is an error of the slot.
func protect[T any](t *boundTool, ctx context.Context, f func(context.Context) (T, error)) (value T, err error) {
	var panicked error
	defer func() {
		if panicked != nil {
			err = &SlotError{t.slot.Name, PhaseTools, panicked}
		}
	}()
	defer recoverInto(ctx, t.slot.log, &panicked)
	return f(ctx)
}

// checked returns the call with its input compact, if that is one JSON object and the host's validator has nothing against
// it.
func (t *boundTool) checked(call *ToolCall) (*ToolCall, error) {
	input, err := rawjson.Compact(call.Input)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrToolInput, err)
	}
	if _, err := rawjson.Members(input); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrToolInput, err)
	}
	if t.m.validator != nil {
		_, err := protect(t, context.Background(), func(context.Context) (struct{}, error) {
			return struct{}{}, t.m.validator(t.tool.InputSchema, input)
		})
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrToolInput, err)
		}
	}
	return &ToolCall{ID: call.ID, Input: input}, nil
}
