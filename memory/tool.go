package memory

import (
	"context"
	"encoding/json"
)

// Tool is something the model may call, independent of any framework.
type Tool struct {
	// Name matches ^[A-Za-z][A-Za-z0-9_-]{0,63}$; so does the qualified name <slot>__<name> that the model sees.
	Name        string
	Description string
	// InputSchema is a JSON Schema of type object.
	InputSchema json.RawMessage
	// Approval decides whether a person must agree before Call. nil: never.
	Approval func(ctx context.Context, call *ToolCall) (bool, error)
	// Render turns an output into the text that the model sees. nil: the JSON itself.
	Render func(ctx context.Context, result *ToolResult) (string, error)
	// Call runs the tool. Its input is one JSON object. An error is something the model may read and act on.
	Call func(ctx context.Context, call *ToolCall) (json.RawMessage, error)

	bound *binding // set in a TurnView
}

// ToolCall is one call by the model.
type ToolCall struct {
	ID    string // the model's id of the call; "" when unknown
	Input json.RawMessage
}

// ToolResult is a call with its output.
type ToolResult struct {
	Call   ToolCall
	Output json.RawMessage
}
