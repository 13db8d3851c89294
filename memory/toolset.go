package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/internal/rawjson"
)

// toolset is what one slot offers for a turn.
type toolset struct {
	tools []Tool
	err   error
}

// tools asks every locked slot for its tools, all at once, and returns them under their qualified names: in slot order, then
// in the provider's order. A set that fails or is invalid is reported and left out; so is a qualified name that two slots
// yield. The only error is the end of ctx.
func (r *round) tools(ctx context.Context, locks []lock, messages []Message, start int) ([]Tool, error) {
	participants := r.participants(locks, func(h *Handlers) bool { return h.Tools != nil })
	if len(participants) == 0 {
		return nil, cancelled(ctx)
	}
	sets := make([]toolset, len(participants))
	err := gather(ctx, len(participants), func(i int) {
		p := &participants[i]
		sets[i].err = errGone
		sets[i].tools, sets[i].err = p.slot.offer(ctx, &ToolsRequest{
			Operation: r.operation(p.lock, ""),
			Messages:  slices.Clone(messages),
			Turn:      r.turn.startingAt(start),
		})
	})
	if err != nil {
		return nil, err
	}
	for i := range participants {
		if sets[i].err != nil {
			sets[i].tools = nil
			r.leftOut(ctx, participants[i].slot, sets[i].err)
		}
	}
	return r.qualified(ctx, participants, sets), nil
}

// qualified returns the tools of all sets, bound to their locks.
func (r *round) qualified(ctx context.Context, participants []participant, sets []toolset) []Tool {
	count := make(map[string]int)
	for i, p := range participants {
		for _, tool := range sets[i].tools {
			count[p.slot.toolName(tool.Name)]++
		}
	}
	var tools []Tool
	for i, p := range participants {
		for _, tool := range sets[i].tools {
			name := p.slot.toolName(tool.Name)
			if count[name] > 1 {
				r.leftOut(ctx, p.slot, fmt.Errorf("%q: another slot has a tool of this name", name))
				continue
			}
			tools = append(tools, r.m.bind(p.slot, tool, newBinding(p.lock, tool.Name, &r.session, &r.turn)))
		}
	}
	return tools
}

func (s *slot) toolName(tool string) string { return SlotInfo{Name: s.Name}.ToolName(tool) }

// offer asks the provider for its tools, lets the slot's own function decide about each, and checks the set.
func (s *slot) offer(ctx context.Context, r *ToolsRequest) ([]Tool, error) {
	tools, err := within(ctx, s.log, s.Timeout, func(ctx context.Context) ([]Tool, error) {
		offered, err := s.handlers.Tools(ctx, r)
		if err != nil {
			return nil, err
		}
		return s.decide(offered), nil
	})
	if err != nil {
		return nil, failed(err)
	}
	for i, tool := range tools {
		if err := s.check(tool); err != nil {
			return nil, fmt.Errorf("tool %.80q: %w", tool.Name, err)
		}
		if slices.ContainsFunc(tools[:i], func(earlier Tool) bool { return earlier.Name == tool.Name }) {
			return nil, fmt.Errorf("tool %q: the name occurs twice", tool.Name)
		}
	}
	return tools, nil
}

// decide lets the slot disable, wrap or replace its tools.
func (s *slot) decide(offered []Tool) []Tool {
	if s.Tools == nil {
		return offered
	}
	var kept []Tool
	for _, tool := range offered {
		if tool, ok := s.Tools(tool); ok {
			kept = append(kept, tool)
		}
	}
	return kept
}

func (s *slot) check(t Tool) error {
	switch name := s.toolName(t.Name); {
	case !validName(t.Name):
		return errors.New("the name must be a letter and at most 63 letters, digits, underscores and hyphens")
	case !validName(name):
		return fmt.Errorf("%q has more than %d characters", name, maxName)
	case t.Call == nil:
		return errors.New("no Call")
	}
	if err := ecma.Valid(t.Description); err != nil {
		return fmt.Errorf("description: %w", err)
	}
	return checkSchema(t.InputSchema)
}

// checkSchema checks that a schema is one of objects, the only ones that models give as input. What else is in it is not
// examined.
func checkSchema(schema []byte) error {
	raw, err := rawjson.Compact(schema)
	if err != nil {
		return fmt.Errorf("input schema: %w", err)
	}
	members, err := rawjson.Members(raw)
	if err != nil {
		return fmt.Errorf("input schema: %w", err)
	}
	if stringMember(members, "type") != "object" {
		return errors.New(`input schema: the type is not "object"`)
	}
	return nil
}
