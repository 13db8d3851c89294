package state

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
)

// Child returns the session of a sub-agent: a session of its own, which shares no value, step or lock with s, in the same
// store and with the same options. node names the sub-agent; a copy of the root has the node RootNode and is a child too.
//
// The child's id belongs to the turn, the step and its occurrence in which Child is called, and the count of calls for
// that node in it: when the step runs again after a crash, the same call finds the same child, with what it had stored;
// other steps, turns and sessions never do, not even a later session of the same id. So call Child for one node in a fixed
// order; a call that failed does not count. Outside a step the count begins with the turn. Inside one, ctx is the step's.
//
// A child is entered in the checkpoint of s, in a write of its own, before it is returned for the first time: so Reset
// finds it. Errors match ErrNoTurn, ErrStale, or are those of a commit and of Open.
func (s *Session) Child(ctx context.Context, node string) (*Session, error) {
	if err := checkText("node", node); err != nil {
		return nil, err
	}
	h, r := newHolder(), s.runIn(ctx)
	if r == nil {
		if err := s.enter(ctx, h); err != nil {
			return nil, err
		}
		defer s.release(&s.gate)
	}
	call, err := s.nextCall(r, node)
	if err != nil {
		return nil, err
	}
	child, err := s.openChild(ctx, h, r, call)
	if err != nil {
		s.takeBack(r, call)
		return nil, err
	}
	return child, nil
}

// nextCall counts and returns the next call of Child for a node in a run, or outside the turn's steps for a nil run.
func (s *Session) nextCall(r *run, node string) (childCall, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(r); err != nil {
		return childCall{}, err
	}
	if r == nil && !s.began {
		return childCall{}, fmt.Errorf("%w: child %q", ErrNoTurn, node)
	}
	called := s.calls(r)
	call := childCall{node: node, index: called[node]}
	if r != nil {
		call.step, call.occurrence = r.step, r.occurrence
	}
	called[node]++
	return call, nil
}

// takeBack makes a call that failed the next one again, so that calling again finds what a replay finds. It does not
// where another call for the node has come after it.
func (s *Session) takeBack(r *run, call childCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if called := s.calls(r); called[call.node] == call.index+1 {
		called[call.node]--
	}
}

// calls returns how often Child was called in a run, or outside the turn's steps for a nil run, by node. The caller holds
// the mutex.
func (s *Session) calls(r *run) map[string]int {
	called := &s.called
	if r != nil {
		called = &r.called
	}
	if *called == nil {
		*called = map[string]int{}
	}
	return *called
}

func (s *Session) openChild(ctx context.Context, h holder, r *run, call childCall) (*Session, error) {
	id, err := s.register(ctx, h, r, call)
	if err != nil {
		return nil, err
	}
	child, err := Open(ctx, s.store, id, &s.options)
	if err != nil {
		return nil, err
	}
	child.parent = s
	return child, nil
}

// register returns the id of a call's child, which it commits when the call is new.
func (s *Session) register(ctx context.Context, h holder, r *run, call childCall) (ID, error) {
	if id, ok := s.registered(call); ok {
		return id, nil
	}
	err := s.commit(ctx, h, func(d *document) error {
		if err := s.usable(r); err != nil {
			return err
		}
		d.addChild(call)
		return nil
	})
	if err != nil {
		return ID{}, err
	}
	id, _ := s.registered(call)
	return id, nil
}

func (s *Session) registered(call childCall) (ID, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	number, ok := s.doc.turn.childOf(call)
	return childID(s.id, s.doc.seed, call.node, number), ok
}

func (t *turn) childOf(call childCall) (uint64, bool) {
	for _, c := range t.children {
		if c.call == call {
			return c.number, true
		}
	}
	return 0, false
}

// addChild enters a new child for a call.
func (d *document) addChild(call childCall) {
	if d.seed == "" && len(d.children) == 0 {
		d.seed = rand.Text()
	}
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
}
