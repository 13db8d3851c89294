package notes

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/recollect-go/recollect/memory"
)

type forgetInput struct {
	ID      string `json:"id,omitempty"`
	Query   string `json:"query,omitempty"`
	Confirm string `json:"confirm,omitempty"`
}

type forgetOutput struct {
	Forgotten int       `json:"forgotten"`
	Matches   []excerpt `json:"matches,omitempty"`
	Confirm   string    `json:"confirm,omitempty"`
}

// preview reports whether the input asks for a list only.
func (in *forgetInput) preview() bool { return in.ID == "" && in.Confirm == "" }

// approveForget asks for everything but a preview.
func (b *bound) approveForget(ctx context.Context, call *memory.ToolCall) (bool, error) {
	var in forgetInput
	if err := json.Unmarshal(call.Input, &in); err == nil && in.preview() {
		return false, nil
	}
	if b.opts.ApproveForget == nil {
		return true, nil
	}
	return b.opts.ApproveForget(ctx, call)
}

func (b *bound) forget(ctx context.Context, in forgetInput) (forgetOutput, error) {
	switch {
	case (in.ID == "") == (in.Query == ""):
		return forgetOutput{}, badInput("give either id or query")
	case in.ID != "" && in.Confirm != "":
		return forgetOutput{}, badInput("confirm belongs to a query; one id needs none")
	case in.ID != "":
		n, err := b.store.Forget(ctx, b.operation.Key, in.ID)
		return forgetOutput{Forgotten: n}, err
	}
	selection, err := b.store.Select(ctx, b.operation.Key, in.Query)
	if err != nil {
		return forgetOutput{}, err
	}
	if in.preview() {
		return previewOf(selection), nil
	}
	if selection.Code != in.Confirm {
		return forgetOutput{}, fmt.Errorf("notes: forget: %w: call again without confirm", ErrSelection)
	}
	n, err := b.store.ForgetSelection(ctx, b.operation.Key, selection)
	return forgetOutput{Forgotten: n}, err
}

func previewOf(s *Selection) forgetOutput {
	out := forgetOutput{}
	for i := range s.Notes {
		out.Matches = append(out.Matches, excerptOf(&s.Notes[i]))
	}
	if len(s.Notes) > 0 {
		out.Confirm = s.Code
	}
	return out
}
