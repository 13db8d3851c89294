package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
)

// NewTool returns a tool whose input is decoded strictly into In, a struct, and whose output is the JSON of Out. A field of
// In is required unless it has omitempty or omitzero; so in nested structs. An input with a member that is unknown, missing,
// given twice or of another type is an error matching ErrToolInput, which says to the model what to change, and call is not
// called. Names match exactly. A pointer may be null, nothing else.
//
// The schema tells the model the same; NewTool does not compare the two. It is an error when In is no struct or has fields
// that JSON cannot fill.
func NewTool[In, Out any](name, description string, schema json.RawMessage, call func(context.Context, In) (Out, error)) (Tool, error) {
	form, err := inputForm(reflect.TypeFor[In]())
	if err != nil {
		return Tool{}, fmt.Errorf("memory: tool %q: %w", name, err)
	}
	if call == nil {
		return Tool{}, fmt.Errorf("memory: tool %q: no function", name)
	}
	return Tool{
		Name:        name,
		Description: description,
		InputSchema: schema,
		Call: func(ctx context.Context, c *ToolCall) (json.RawMessage, error) {
			var in In
			if err := form.decode(c.Input, &in); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrToolInput, err)
			}
			out, err := call(ctx, in)
			if err != nil {
				return nil, err
			}
			return encode(out)
		},
	}, nil
}
