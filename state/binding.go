package state

import (
	"context"
	"slices"
)

// binding is what a context carries: a session, and the run of the step that the context was made for. A nil run is
// outside any step.
type binding struct {
	session *Session
	run     *run
}

type bindingKey struct{}

func bound(ctx context.Context) (*binding, error) {
	if b, ok := ctx.Value(bindingKey{}).(*binding); ok {
		return b, nil
	}
	return nil, ErrUnbound
}

// runIn returns the run of this session that ctx was made for, or nil.
func (s *Session) runIn(ctx context.Context) *run {
	if b, ok := ctx.Value(bindingKey{}).(*binding); ok && b.session == s {
		return b.run
	}
	return nil
}

// read returns the cell of a handle as this context sees it, or nil when it has none yet.
func (b *binding) read(ctx context.Context, id slotID) (*cell, error) {
	c, changing, err := b.session.look(ctx, b.run, id)
	if changing != 0 && slices.Contains(holdersOnStack(), changing) {
		return nil, nestedUse(id.name)
	}
	return c, err
}

// look returns the value of a handle as a run sees it, or as it was last committed for a nil run, and who is changing it.
func (s *Session) look(ctx context.Context, r *run, id slotID) (c *cell, changing holder, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usableNow(ctx, r); err != nil {
		return nil, 0, err
	}
	if r != nil {
		if sl := r.find(id); sl != nil {
			if sl.cell != nil {
				return sl.cell, sl.lock.held, nil
			}
			changing = sl.lock.held
		}
	}
	for outer := s.change; r == nil && outer != nil; outer = outer.outer {
		if sl := outer.find(id); sl != nil && sl.lock.held != 0 {
			changing = sl.lock.held
		}
	}
	c, err = s.committed(id)
	return c, changing, err
}
