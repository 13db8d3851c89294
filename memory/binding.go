package memory

import (
	"context"
	"encoding/json"
)

type binding struct{}

// BindTool returns the binding of a tool of a TurnView.
func (m *Memory) BindTool(t Tool) (json.RawMessage, error) { panic("being written") }

// ResumeTool returns the tool of a binding.
func (m *Memory) ResumeTool(ctx context.Context, binding json.RawMessage) (Tool, error) {
	panic("being written")
}
