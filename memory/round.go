package memory

import (
	"context"
	"errors"
)

// round is one phase of a turn or a compaction, over all the slots that take part in it.
type round struct {
	m       *Memory
	op      operation
	session *SessionInfo
	turn    *Turn // nil between turns
}

// target is a slot that takes part in a round.
type target struct {
	slot *slot
	lock *lock
}

// targets returns the locked slots that can do something, in slot order. A slot that failed earlier in the turn is left out.
func (r *round) targets(locks []lock, can func(*Handlers) bool) []target {
	targets := make([]target, 0, len(locks))
	for _, s := range r.m.slots {
		for i := range locks {
			if locks[i].slot == s.Name && !locks[i].failed && can(&s.handlers) {
				targets = append(targets, target{s, &locks[i]})
			}
		}
	}
	return targets
}

// operation returns what a provider is told about itself.
func (r *round) operation(l *lock, id string) Operation {
	return Operation{ID: id, Key: l.keys.Key, Namespace: l.namespace, Scope: l.scope, Slot: l.slot, Session: *r.session}
}

func (r *round) call(name CallName, t target) *Call {
	return &Call{
		Name: name, Phase: r.op.phase, OperationID: r.op.id(t.slot.Name), Slot: t.slot.Name, Key: t.lock.keys.Key,
		SessionID: r.session.ID, TurnID: r.turn.id(),
	}
}

// recall asks every target at once, and returns the answers in slot order or the first error in slot order. The lock of a best-effort slot that
// failed is marked, and the slot has no answer.
func (r *round) recall(
	ctx context.Context, targets []target, digests []operationDigest, ask func(context.Context, *slot, Operation) ([]Item, error),
) ([]*answer, error) {
	answers, errs := make([]*answer, len(targets)), make([]error, len(targets))
	err := gather(ctx, len(targets), func(i int) {
		answers[i], errs[i] = r.recallOne(ctx, targets[i], digests, ask)
	})
	if err != nil {
		return nil, err
	}
	kept := answers[:0]
	for i, t := range targets {
		err := errs[i]
		if err == nil && answers[i] == nil {
			err = providerError{errGone}
		}
		if err == nil {
			kept = append(kept, answers[i])
			continue
		}
		t.lock.failed = true
		if err := r.m.tolerate(ctx, t.slot, &SlotError{t.slot.Name, r.op.phase, err}, r.session, r.turn); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

func (r *round) recallOne(
	ctx context.Context, t target, digests []operationDigest, ask func(context.Context, *slot, Operation) ([]Item, error),
) (a *answer, err error) {
	call := r.call(CallSearch, t)
	err = r.m.call(ctx, call, func(ctx context.Context) (int, error) {
		items, err := within(ctx, t.slot.Timeout, func(ctx context.Context) ([]Item, error) {
			return ask(ctx, t.slot, r.operation(t.lock, call.OperationID))
		})
		if err != nil {
			return 0, providerError{err}
		}
		if a, err = newAnswer(t.lock, call.OperationID, items); err != nil {
			return len(items), err
		}
		return len(items), a.compare(digests)
	})
	return a, err
}

// capture runs the captures of all targets at once and waits for all of them, each for at most the capture timeout. The error joins all of
// theirs, in slot order.
func (r *round) capture(ctx context.Context, targets []target, store func(context.Context, *slot, Operation) error) error {
	errs := make([]error, len(targets))
	err := gather(ctx, len(targets), func(i int) {
		errs[i] = providerError{errGone}
		errs[i] = r.captureOne(ctx, targets[i], store)
	})
	if err != nil {
		return err
	}
	for i, t := range targets {
		if errs[i] == nil {
			continue
		}
		errs[i] = &SlotError{t.slot.Name, r.op.phase, errs[i]}
		if r.op.phase == PhaseCompactionRequested {
			errs[i] = r.m.tolerate(ctx, t.slot, errs[i], r.session, r.turn)
			continue
		}
		r.m.log.ErrorContext(ctx, "memory: capture failed", "slot", t.slot.Name, "phase", string(r.op.phase), "error", errs[i])
	}
	return errors.Join(errs...)
}

func (r *round) captureOne(ctx context.Context, t target, store func(context.Context, *slot, Operation) error) error {
	call := r.call(CallUpsert, t)
	return r.m.call(ctx, call, func(ctx context.Context) (int, error) {
		_, err := within(ctx, r.m.captureTimeout, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, store(ctx, t.slot, r.operation(t.lock, call.OperationID))
		})
		if err != nil {
			err = providerError{err}
		}
		return 0, err
	})
}
