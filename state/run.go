package state

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// run is one attempt at a step, or one change outside a step: what it did so far, which nobody else sees before its
// commit. The session's mutex guards it.
type run struct {
	binding            // what the step's context carries
	step        string // "" outside a step
	occurrence  int
	holder      holder // of the gate, for a step
	outer       *run   // the change outside a step in whose function this one was made
	ended       bool
	slots       []*slot
	attachments []member       // a nil raw removes
	called      map[string]int // calls of Child so far, by node
}

// slot is a handle that a run has touched.
type slot struct {
	id   slotID
	run  *run
	lock lock  // held during an Update, and while the initial value is computed
	cell *cell // what the run made of the value; nil while it is the committed one
}

// find returns the run's slot of a handle, or nil.
func (r *run) find(id slotID) *slot {
	for _, sl := range r.slots {
		if sl.id == id {
			return sl
		}
	}
	return nil
}

// change calls fn with the slot of a handle while nobody else changes it. Outside a step, what fn staged is committed
// before change returns.
func (b *binding) change(ctx context.Context, id slotID, fn func(*slot) error) error {
	h := newHolder()
	if b.run != nil {
		return b.run.hold(ctx, h, id, fn)
	}
	return b.session.outside(ctx, h, func(r *run) error {
		if r.outer.holds(id) {
			return nestedUse(id.name)
		}
		return r.hold(ctx, h, id, fn)
	})
}

// hold calls fn with the run's slot of a handle, locked.
func (r *run) hold(ctx context.Context, h holder, id slotID, fn func(*slot) error) error {
	s := r.session
	sl, err := s.slot(r, id)
	if err != nil {
		return err
	}
	if err := s.acquire(ctx, &sl.lock, h); err != nil {
		if errors.Is(err, ErrNested) {
			return nestedUse(id.name)
		}
		return err
	}
	defer s.release(&sl.lock)
	h.run(func() { err = fn(sl) })
	return err
}

// holds reports whether an Update of the handle is under way in r or around it. r may be nil.
func (r *run) holds(id slotID) bool {
	for ; r != nil; r = r.outer {
		r.session.mu.Lock()
		sl := r.find(id)
		held := sl != nil && sl.lock.held != 0
		r.session.mu.Unlock()
		if held {
			return true
		}
	}
	return false
}

// slot returns the run's slot of a handle, which it makes at the first use.
func (s *Session) slot(r *run, id slotID) (*slot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(r); err != nil {
		return nil, err
	}
	sl := r.find(id)
	if sl == nil {
		sl = &slot{id: id, run: r}
		r.slots = append(r.slots, sl)
	}
	return sl, nil
}

// current returns the value of a slot as its run sees it, or nil when there is none yet.
func (s *Session) current(sl *slot) (*cell, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(sl.run); err != nil {
		return nil, err
	}
	if sl.cell != nil {
		return sl.cell, nil
	}
	return s.committed(sl.id)
}

// stage makes c the value of a slot in its run, unless the run has ended meanwhile.
func (s *Session) stage(sl *slot, c *cell) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(sl.run); err != nil {
		return err
	}
	sl.cell = c
	return nil
}

// committed returns the committed value of a handle, or nil when there is none. The caller holds the mutex.
func (s *Session) committed(id slotID) (*cell, error) {
	if !id.perTurn {
		return lookUp(s.doc.values, id.name), nil
	}
	if !s.began {
		return nil, fmt.Errorf("%w: handle %q belongs to a turn", ErrNoTurn, id.name)
	}
	return lookUp(s.doc.turn.values, id.name), nil
}

// outside runs a change outside any step while no step runs, and commits what it staged. Within the function of another
// such change, on its goroutine, it is a commit of its own.
func (s *Session) outside(ctx context.Context, h holder, fn func(*run) error) error {
	if !s.withinChange() {
		if err := s.enter(ctx, h); err != nil {
			return err
		}
		defer s.release(&s.gate)
	}
	r := s.beginChange()
	defer s.endChange(r)
	if err := fn(r); err != nil {
		return err
	}
	return s.commit(ctx, h, func(d *document) error {
		r.apply(d)
		return nil
	})
}

// enter takes the gate, and brings the session's knowledge of its checkpoint up to date. The caller releases the gate
// when the error is nil.
func (s *Session) enter(ctx context.Context, h holder) error {
	if err := s.acquire(ctx, &s.gate, h); err != nil {
		if errors.Is(err, ErrNested) {
			return fmt.Errorf("%w: a step uses the context that its function receives, and an Update begins neither step nor turn", ErrNested)
		}
		return err
	}
	ready := false
	defer func() {
		if !ready { // or the store panicked
			s.release(&s.gate)
		}
	}()
	if err := s.ready(ctx, h); err != nil {
		return err
	}
	ready = true
	return nil
}

// withinChange reports whether the caller runs inside the function of a change outside a step, which holds the gate.
func (s *Session) withinChange() bool {
	s.mu.Lock()
	holding := s.gate.held
	changing := s.change != nil
	s.mu.Unlock()
	return changing && slices.Contains(holdersOnStack(), holding)
}

func (s *Session) beginChange() *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &run{binding: binding{session: s}, outer: s.change}
	s.change = r
	return r
}

func (s *Session) endChange(r *run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.ended = true
	s.change = r.outer
}

// apply adds what the run staged to a document.
func (r *run) apply(d *document) {
	for _, sl := range r.slots {
		switch {
		case sl.cell == nil:
		case sl.id.perTurn:
			d.turn.values = withEntry(d.turn.values, sl.id.name, sl.cell)
		default:
			d.values = withEntry(d.values, sl.id.name, sl.cell)
		}
	}
	for _, a := range r.attachments {
		d.attachments = withMember(d.attachments, a)
	}
}

func nestedUse(name string) error {
	return fmt.Errorf("%w: handle %q inside its own Update", ErrNested, name)
}
