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

// tools asks every locked slot for its tools, all at once, and returns them under their qualified names: in slot order, then in the
// provider's order. A set that fails or is invalid is reported and left out; so is a qualified name that two slots yield. The only error
// is the end of ctx.
func (m *Memory) tools(ctx context.Context, session *SessionInfo, turn *Turn, locks []lock, messages []Message, start int) ([]Tool, error) {
	round := m.turnRound(PhaseTools, session, turn)
	targets := round.targets(locks, func(h *Handlers) bool { return h.Tools != nil })
	if len(targets) == 0 {
		return nil, cancelled(ctx)
	}
	sets := make([]toolset, len(targets))
	err := gather(ctx, len(targets), func(i int) {
		t := targets[i]
		sets[i].err = errGone
		sets[i].tools, sets[i].err = t.slot.offer(ctx, &ToolsRequest{
			Operation: round.operation(t.lock, ""),
			Messages:  slices.Clone(messages),
			Turn:      turn.startingAt(start),
		})
	})
	if err != nil {
		return nil, err
	}
	for i, t := range targets {
		if sets[i].err != nil {
			sets[i].tools = nil
			m.leftOut(ctx, t.slot, sets[i].err, session, turn)
		}
	}
	return m.qualified(ctx, targets, sets, session, turn), nil
}

// qualified returns the tools of all sets, bound to their locks.
func (m *Memory) qualified(ctx context.Context, targets []target, sets []toolset, session *SessionInfo, turn *Turn) []Tool {
	count := make(map[string]int)
	for i, t := range targets {
		for _, tool := range sets[i].tools {
			count[t.slot.toolName(tool.Name)]++
		}
	}
	var tools []Tool
	for i, t := range targets {
		for _, tool := range sets[i].tools {
			name := t.slot.toolName(tool.Name)
			if count[name] > 1 {
				m.leftOut(ctx, t.slot, fmt.Errorf("%q: another slot has a tool of this name", name), session, turn)
				continue
			}
			tools = append(tools, m.bind(t.slot, tool, newBinding(t.lock, tool.Name, session, turn)))
		}
	}
	return tools
}

func (m *Memory) leftOut(ctx context.Context, s *slot, err error, session *SessionInfo, turn *Turn) {
	err = &SlotError{s.Name, PhaseTools, err}
	m.log.ErrorContext(ctx, "memory: tools are left out", "slot", s.Name, "error", err)
	m.happened(ctx, &Event{Kind: EventToolsLeftOut, SessionID: session.ID, TurnID: turn.id(), Slot: s.Name, Phase: PhaseTools, Err: err})
}

func (s *slot) toolName(tool string) string { return SlotInfo{Name: s.Name}.ToolName(tool) }

// offer asks the provider for its tools, lets the slot's own function decide about each, and checks the set.
func (s *slot) offer(ctx context.Context, r *ToolsRequest) ([]Tool, error) {
	tools, err := within(ctx, s.Timeout, func(ctx context.Context) ([]Tool, error) {
		offered, err := s.handlers.Tools(ctx, r)
		if err != nil {
			return nil, providerError{err}
		}
		return s.decide(offered), nil
	})
	if err != nil {
		return nil, err
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

// checkSchema checks that a schema is one of objects, the only ones that models give as input. What else is in it is not examined.
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
