package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/internal/rawjson"
	"github.com/recollect-go/recollect/scope"
)

// binding is what a tool of a turn needs to be called in another process: small, and without history, input or attachments.
type binding struct {
	slot      string
	tool      string // unqualified
	namespace scope.Namespace
	scope     scope.Scope
	turn      turnMark
	session   SessionInfo // without the channel's attributes
}

// The stored form of a binding:
//
//	{"format":"recollect-tool","version":1,"slot":…,"tool":…,"namespace":…,"scope":…,
//	 "turn":{"id":…,"sequence":…},"session":{"id":…,"node":…,"current":…,"initiator":…}}
//
// A signed one is wrapped as signature.go says.
const (
	bindingFormat  = "recollect-tool"
	bindingVersion = 1
)

func newBinding(l *lock, tool string, session *SessionInfo, turn *Turn) *binding {
	b := &binding{slot: l.slot, tool: tool, namespace: l.namespace, scope: l.scope, session: *session}
	b.turn = turnMark{id: turn.ID, sequence: turn.Sequence}
	b.session.Channel = nil
	return b
}

// BindTool returns the binding of a tool of a TurnView, with which ResumeTool finds the tool again in another process, for
// example when a person has agreed to the call hours later. It is signed if the options have a BindingKey. A binding selects
// a partition and names callers: one that is not signed belongs into server-side storage. An error matches ErrBinding when
// the tool is of no TurnView.
func (m *Memory) BindTool(t Tool) (json.RawMessage, error) {
	if t.bound == nil {
		return nil, fmt.Errorf("%w: tool %q is not from a turn's view", ErrBinding, t.Name)
	}
	text, err := t.bound.append(nil)
	if err != nil {
		return nil, fmt.Errorf("memory: binding of tool %q: %w", t.Name, err)
	}
	if m.bindingKey == nil {
		return text, nil
	}
	return sign(m.bindingKey, text), nil
}

func (b *binding) append(dst []byte) ([]byte, error) {
	owner, err := b.scope.MarshalJSON()
	if err != nil {
		return nil, err
	}
	dst = appendFormat(dst, bindingFormat, bindingVersion)
	dst = append(dst, `,"slot":`...)
	dst = ecma.AppendQuote(dst, b.slot)
	dst = append(dst, `,"tool":`...)
	dst = ecma.AppendQuote(dst, b.tool)
	dst = append(dst, `,"namespace":`...)
	dst = ecma.AppendQuote(dst, string(b.namespace))
	dst = append(dst, `,"scope":`...)
	dst = append(dst, owner...)
	dst = append(dst, `,"turn":`...)
	dst = b.turn.append(dst)
	dst = append(dst, `,"session":`...)
	if dst, err = appendSession(dst, &b.session); err != nil {
		return nil, err
	}
	return append(dst, '}'), nil
}

// appendSession writes a session's identity, without the channel's attributes.
func appendSession(dst []byte, s *SessionInfo) ([]byte, error) {
	dst = append(dst, `{"id":`...)
	dst = ecma.AppendQuote(dst, s.ID)
	dst = append(dst, `,"node":`...)
	dst = ecma.AppendQuote(dst, s.Node)
	dst, err := appendPrincipal(dst, "current", s.Current)
	if err != nil {
		return nil, err
	}
	if dst, err = appendPrincipal(dst, "initiator", s.Initiator); err != nil {
		return nil, err
	}
	return append(dst, '}'), nil
}

func appendPrincipal(dst []byte, name string, p *scope.Principal) ([]byte, error) {
	if p == nil {
		return dst, nil
	}
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	dst = append(dst, `,"`...)
	dst = append(dst, name...)
	dst = append(dst, `":`...)
	return append(dst, text...), nil
}

// ResumeTool returns the tool of a binding, under its qualified name, to be called in this process: the key is derived again
// from namespace and scope, the provider is asked for its tools again, without messages, and the name is looked up. An error
// matches ErrBinding for a binding that is not signed although there is a key, has another signature or comes from another
// node; ErrVersion for one of a newer version; ErrMalformed; ErrNoTool when slot or tool are gone; ErrCancelled when ctx
// ends.
func (m *Memory) ResumeTool(ctx context.Context, binding json.RawMessage) (Tool, error) {
	b, err := m.decodeBinding(binding)
	if err != nil {
		return Tool{}, fmt.Errorf("memory: resuming a tool: %w", err)
	}
	s := m.slot(b.slot)
	if s == nil || s.handlers.Tools == nil {
		return Tool{}, fmt.Errorf("%w: slot %q", ErrNoTool, b.slot)
	}
	keys, err := scope.Derive(b.namespace, b.scope)
	if err != nil {
		return Tool{}, &SlotError{b.slot, PhaseTools, err}
	}
	l := lock{slot: b.slot, namespace: b.namespace, scope: b.scope, keys: keys}
	turn := Turn{ID: b.turn.id, Sequence: b.turn.sequence}
	round := m.turnRound(PhaseTools, b.session, &turn)
	set := toolset{err: errGone}
	err = gather(ctx, 1, func(int) {
		set.tools, set.err = s.offer(ctx, &ToolsRequest{Operation: round.operation(&l, ""), Turn: turn})
	})
	if err != nil {
		return Tool{}, err
	}
	if set.err != nil {
		return Tool{}, &SlotError{b.slot, PhaseTools, set.err}
	}
	for _, tool := range set.tools {
		if tool.Name == b.tool {
			return m.bind(s, tool, b), nil
		}
	}
	return Tool{}, fmt.Errorf("%w: %q", ErrNoTool, s.toolName(b.tool))
}

func (m *Memory) slot(name string) *slot {
	for _, s := range m.slots {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// decodeBinding reads a binding after its signature, or that there must be none, was checked.
func (m *Memory) decodeBinding(data []byte) (*binding, error) {
	raw, err := rawjson.Compact(data)
	if err != nil {
		return nil, malformed(err)
	}
	if m.bindingKey != nil {
		if raw, err = verify(m.bindingKey, raw); err != nil {
			return nil, err
		}
	} else if isSigned(raw) {
		return nil, fmt.Errorf("%w: it is signed, and there is no key to check that with", ErrBinding)
	}
	b, err := decodeBinding(raw)
	if err != nil {
		return nil, err
	}
	if b.session.Node != m.node {
		return nil, fmt.Errorf("%w: it is of node %q", ErrBinding, b.session.Node)
	}
	return b, nil
}

func decodeBinding(raw []byte) (*binding, error) {
	members, err := versioned(raw, bindingFormat, bindingVersion)
	if err != nil {
		return nil, err
	}
	b := new(binding)
	for _, member := range members {
		if err := b.read(member); err != nil {
			return nil, malformed(fmt.Errorf("%.40q: %w", member.Name, err))
		}
	}
	if !validSlotName(b.slot) || !validName(b.tool) || b.turn.id == "" || b.session.ID == "" {
		return nil, malformed(errors.New("no valid slot, tool, turn or session"))
	}
	return b, nil
}

func (b *binding) read(member rawjson.Member) (err error) {
	switch member.Name {
	case "slot":
		b.slot, err = rawjson.String(member.Value)
	case "tool":
		b.tool, err = rawjson.String(member.Value)
	case "namespace":
		var namespace string
		namespace, err = rawjson.String(member.Value)
		b.namespace = scope.Namespace(namespace)
	case "scope":
		err = b.scope.UnmarshalJSON(member.Value)
	case "turn":
		b.turn, err = decodeTurnMark(member.Value)
	case "session":
		b.session, err = decodeSession(member.Value)
	}
	return err
}

func decodeSession(value json.RawMessage) (s SessionInfo, err error) {
	members, err := rawjson.Members(value)
	if err != nil {
		return s, err
	}
	if s.ID, err = required(members, "id"); err != nil {
		return s, err
	}
	if s.Node, err = required(members, "node"); err != nil {
		return s, err
	}
	if s.Current, err = decodePrincipal(rawjson.Find(members, "current")); err != nil {
		return s, err
	}
	s.Initiator, err = decodePrincipal(rawjson.Find(members, "initiator"))
	return s, err
}

func decodePrincipal(value json.RawMessage) (*scope.Principal, error) {
	if value == nil {
		return nil, nil
	}
	p := new(scope.Principal)
	return p, p.UnmarshalJSON(value)
}
