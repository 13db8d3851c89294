package memory

import (
	"context"

	"github.com/recollect-go/recollect/scope"
)

// resolution is what became of one slot's resolvers.
type resolution struct {
	request scope.Request
	lock    lock
	phase   Phase // of the resolver that was asked last
	zero    bool  // that resolver returned a zero value
	err     error
}

// lock asks the resolvers of all slots at once and returns the locks of the slots that are not disabled, in slot order. The
// first error in slot order is returned, except those of best-effort slots.
func (r *round) lock(ctx context.Context) ([]lock, error) {
	slots := r.m.slots
	resolutions := make([]resolution, len(slots))
	err := gather(ctx, len(slots), func(i int) {
		resolutions[i].err = errGone
		slots[i].resolve(ctx, r.session, &resolutions[i])
	})
	if err != nil {
		return nil, err
	}
	locks := make([]lock, 0, len(slots))
	for i, s := range slots {
		switch resolved := &resolutions[i]; {
		case resolved.err != nil:
			if err := r.tolerate(ctx, s, &SlotError{s.Name, resolved.phase, foreign(resolved.err)}); err != nil {
				return nil, err
			}
		case resolved.zero:
			r.disabled(ctx, s, resolved.phase)
		default:
			locks = append(locks, resolved.lock)
		}
	}
	r.m.reportSharedKeys(ctx, locks)
	return locks, nil
}

// resolve resolves the slot, within its timeout.
func (s *slot) resolve(ctx context.Context, session SessionInfo, into *resolution) {
	into.phase = PhaseScope
	into.request = scope.Request{
		SessionID: session.ID, Node: session.Node, Slot: s.Name,
		Current: session.Current, Initiator: session.Initiator, Channel: session.Channel,
	}
	if s.Timeout <= 0 {
		s.ask(ctx, into)
		return
	}
	late := &resolution{request: into.request, phase: PhaseScope}
	_, err := within(ctx, s.log, s.Timeout, func(ctx context.Context) (struct{}, error) {
		s.ask(ctx, late)
		return struct{}{}, nil
	})
	if err != nil {
		into.err = err // and late may still be written to
		return
	}
	*into = *late
}

// ask asks for the scope, and then, unless that is zero, for the namespace. A panic is an error.
func (s *slot) ask(ctx context.Context, r *resolution) {
	r.lock.slot, r.lock.visibility = s.Name, s.Visibility
	r.err = func() (err error) {
		defer recoverInto(ctx, s.log, &err)
		if r.lock.scope, err = s.Scope.ResolveScope(ctx, &r.request); err != nil || r.lock.scope.IsZero() {
			r.zero = true
			return err
		}
		r.phase = PhaseNamespace
		if r.lock.namespace, err = s.Namespace.ResolveNamespace(ctx, &r.request); err != nil || r.lock.namespace == "" {
			r.zero = true
			return err
		}
		r.phase = PhaseScope
		r.lock.keys, err = scope.Derive(r.lock.namespace, r.lock.scope)
		return err
	}()
}

// reportSharedKeys says in development that two slots read and write the same memory, which is rarely meant.
func (m *Memory) reportSharedKeys(ctx context.Context, locks []lock) {
	if !m.development {
		return
	}
	for i := range locks {
		for j := range i {
			if locks[i].keys.Key == locks[j].keys.Key {
				m.log.WarnContext(ctx, "memory: two slots share a key", "slot", locks[j].slot, "other", locks[i].slot)
			}
		}
	}
}
