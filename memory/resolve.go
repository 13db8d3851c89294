package memory

import (
	"context"

	"github.com/recollect-go/recollect/scope"
)

// resolution is what became of one slot's resolvers.
type resolution struct {
	lock     lock
	disabled Phase // the resolver that returned a zero value, or ""
	done     bool
	err      error
}

// lock asks the resolvers of all slots at once and returns the locks of the slots that are not disabled, in slot order. The first error in
// slot order is returned, except those of best-effort slots.
func (m *Memory) lock(ctx context.Context, session *SessionInfo, turn *Turn) ([]lock, error) {
	resolutions := make([]resolution, len(m.slots))
	err := gather(ctx, len(m.slots), func(i int) { resolutions[i] = m.slots[i].resolve(ctx, session) })
	if err != nil {
		return nil, err
	}
	locks := make([]lock, 0, len(m.slots))
	for i := range resolutions {
		r, s := &resolutions[i], m.slots[i]
		switch {
		case !r.done:
			r.err = &SlotError{s.Name, PhaseScope, errGone}
			fallthrough
		case r.err != nil:
			if err := m.tolerate(ctx, s, r.err, session, turn); err != nil {
				return nil, err
			}
		case r.disabled != "":
			m.disabled(ctx, s, r.disabled, session, turn)
		default:
			locks = append(locks, r.lock)
		}
	}
	m.reportSharedKeys(ctx, locks)
	return locks, nil
}

// resolve asks for the scope, and then, unless that is zero, for the namespace.
func (s *slot) resolve(ctx context.Context, session *SessionInfo) resolution {
	r := resolution{lock: lock{slot: s.Name, visibility: s.Visibility}, done: true}
	fail := func(phase Phase, err error) resolution {
		r.err = &SlotError{s.Name, phase, err}
		return r
	}
	request := &scope.Request{
		SessionID: session.ID, Node: session.Node, Slot: s.Name,
		Current: session.Current, Initiator: session.Initiator, Channel: session.Channel,
	}
	var err error
	r.lock.scope, err = within(ctx, s.Timeout, func(ctx context.Context) (scope.Scope, error) {
		return s.Scope.ResolveScope(ctx, request)
	})
	if err != nil {
		return fail(PhaseScope, err)
	}
	if r.lock.scope.IsZero() {
		r.disabled = PhaseScope
		return r
	}
	r.lock.namespace, err = within(ctx, s.Timeout, func(ctx context.Context) (scope.Namespace, error) {
		return s.Namespace.ResolveNamespace(ctx, request)
	})
	if err != nil {
		return fail(PhaseNamespace, err)
	}
	if r.lock.namespace == "" {
		r.disabled = PhaseNamespace
		return r
	}
	if r.lock.keys, err = scope.Derive(r.lock.namespace, r.lock.scope); err != nil {
		return fail(PhaseScope, err)
	}
	return r
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
