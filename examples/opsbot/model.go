package main

import (
	"context"

	"github.com/recollect-go/recollect/memory"
)

// Model answers one request: with text, or with tool calls whose results it wants to see first.
type Model interface {
	Reply(ctx context.Context, r *Prompt) (*Reply, error)
}

// Prompt is exactly what a model sees.
type Prompt struct {
	System   string
	Messages []memory.Message
	Tools    []memory.Tool
}

// Reply is JSON, so that a step can record it.
type Reply struct {
	Text  string                `json:"text,omitempty"`
	Calls []memory.ToolCallPart `json:"calls,omitempty"`
}
