package state

import (
	"context"
	"fmt"
	"slices"
)

// Child returns the session of a sub-agent: a session of its own, which shares no value, step or lock with s, in the same
// store and with the same options. node names the sub-agent; a copy of the root has the node RootNode and is a child too.
//
// The child's id belongs to the turn, the step and its occurrence in which Child is called, and the count of calls for
// that node in it: when the step runs again after a crash, the same call finds the same child, with what it had stored;
// other steps, turns and sessions never do. So call Child for one node in a fixed order. Outside a step the count begins
// with the turn. Inside one, ctx is the step's.
//
// A child is entered in the checkpoint of s, in a write of its own, before it is returned for the first time: so Reset
// finds it. Errors match ErrNoTurn, ErrStale, or are those of a commit and of Open.
func (s *Session) Child(ctx context.Context, node string) (*Session, error) {
	if err := checkText("node", node); err != nil {
		return nil, err
	}
	number, err := s.childNumber(ctx, node)
	if err != nil {
		return nil, err
	}
	child, err := Open(ctx, s.store, childID(s.id, node, number), &s.options)
	if err != nil {
		return nil, err
	}
	child.parent = s
	return child, nil
}

// childNumber returns the number of the child that this call of Child stands for.
func (s *Session) childNumber(ctx context.Context, node string) (uint64, error) {
	h := newHolder()
	if r := s.runIn(ctx); r != nil {
		call, err := s.callIn(r, node)
		if err != nil {
			return 0, err
		}
		return s.register(ctx, h, r, call)
	}
	if err := s.enter(ctx, h); err != nil {
		return 0, err
	}
	defer s.release(&s.gate)
	call, err := s.callOutside(node)
	if err != nil {
		return 0, err
	}
	number, err := s.register(ctx, h, nil, call)
	if err == nil {
		s.countCall(node)
	}
	return number, err
}

// callIn returns the next call for a node in a run.
func (s *Session) callIn(r *run, node string) (childCall, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(r); err != nil {
		return childCall{}, err
	}
	if r.called == nil {
		r.called = map[string]int{}
	}
	call := childCall{step: r.step, occurrence: r.occurrence, node: node, index: r.called[node]}
	r.called[node]++
	return call, nil
}

// callOutside returns the next call for a node outside a step. countCall makes it the one before the next.
func (s *Session) callOutside(node string) (childCall, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.began {
		return childCall{}, fmt.Errorf("%w: child %q", ErrNoTurn, node)
	}
	return childCall{node: node, index: s.called[node]}, nil
}

func (s *Session) countCall(node string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.called == nil {
		s.called = map[string]int{}
	}
	s.called[node]++
}

// register returns the number of a call, which it commits when the call is new.
func (s *Session) register(ctx context.Context, h holder, r *run, call childCall) (uint64, error) {
	if number, ok := s.registered(call); ok {
		return number, nil
	}
	var number uint64
	err := s.commit(ctx, h, func(d *document) error {
		if err := s.usable(r); err != nil {
			return err
		}
		number = d.addChild(call)
		return nil
	})
	return number, err
}

func (s *Session) registered(call childCall) (uint64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.doc.turn.childOf(call)
}

func (t *turn) childOf(call childCall) (uint64, bool) {
	for _, c := range t.children {
		if c.call == call {
			return c.number, true
		}
	}
	return 0, false
}

// addChild enters a new child for a call and returns its number.
func (d *document) addChild(call childCall) uint64 {
	var number uint64
	d.children = slices.Clone(d.children)
	i := slices.IndexFunc(d.children, func(c childCount) bool { return c.node == call.node })
	if i < 0 {
		d.children = append(d.children, childCount{node: call.node, count: 1})
	} else {
		number = d.children[i].count
		d.children[i].count++
	}
	d.turn.children = append(slices.Clone(d.turn.children), childRecord{call: call, number: number})
	return number
}
