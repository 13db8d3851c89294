package memory

import (
	"context"
	"errors"
)

// round is one phase of a turn or a compaction, over all the slots that take part in it. Calls that are late read it after
// the caller has gone on, so it holds nothing that a caller may change.
type round struct {
	m       *Memory
	op      operation
	session SessionInfo
	turn    Turn // without an id between turns
}

func (m *Memory) turnRound(phase Phase, session SessionInfo, turn *Turn) *round {
	return &round{m, operation{session: session.ID, sequence: turn.Sequence, turn: turn.ID, phase: phase}, session, turn.ofRound()}
}

// participant is a slot that takes part in a round, and what became of it.
type participant struct {
	slot   *slot
	lock   *lock
	call   Call
	answer answer // of a recall without an error
	err    error
}

// participants returns the locked slots that can do something, in slot order. A slot that failed earlier in the turn is left
// out.
func (r *round) participants(locks []lock, can func(*Handlers) bool) []participant {
	participants := make([]participant, 0, len(locks))
	for _, s := range r.m.slots {
		for i := range locks {
			if locks[i].slot == s.Name && !locks[i].failed && can(&s.handlers) {
				participants = append(participants, participant{slot: s, lock: &locks[i]})
			}
		}
	}
	return participants
}

// operation returns what a provider is told about whom it is asked for.
func (r *round) operation(l *lock, id string) Operation {
	return Operation{ID: id, Key: l.keys.Key, Namespace: l.namespace, Scope: l.scope, Slot: l.slot, Session: r.session}
}

// prepare notes the call that is about to be made of a participant.
func (r *round) prepare(p *participant, name CallName) {
	p.call = Call{
		Name: name, Phase: r.op.phase, OperationID: r.op.id(p.slot.Name), Slot: p.slot.Name, Key: p.lock.keys.Key,
		SessionID: r.session.ID, TurnID: r.turn.ID,
	}
}

// recaller calls a provider with a request of its own.
type recaller func(context.Context) ([]Item, error)

// asker prepares the recall of one slot.
type asker func(*slot, Operation) recaller

// recall asks every participant at once, and returns them with their answers, in slot order, or the first error in slot
// order. A best-effort slot that failed is left out, and its lock is marked.
func (r *round) recall(ctx context.Context, participants []participant, digests []operationDigest, ask asker) ([]participant, error) {
	err := gather(ctx, len(participants), func(i int) {
		p := &participants[i]
		p.err = errGone
		p.answer, p.err = r.recallOne(ctx, p, digests, ask)
	})
	if err != nil {
		return nil, err
	}
	answered := participants[:0]
	for _, p := range participants {
		if p.err == nil {
			answered = append(answered, p)
			continue
		}
		p.lock.failed = true
		if err := r.tolerate(ctx, p.slot, &SlotError{p.slot.Name, r.op.phase, p.err}); err != nil {
			return nil, err
		}
	}
	return answered, nil
}

func (r *round) recallOne(ctx context.Context, p *participant, digests []operationDigest, ask asker) (a answer, err error) {
	r.prepare(p, CallSearch)
	err = r.m.call(ctx, &p.call, func(ctx context.Context) (int, error) {
		items, err := within(ctx, p.slot.log, p.slot.Timeout, ask(p.slot, r.operation(p.lock, p.call.OperationID)))
		if err != nil {
			return 0, failed(err)
		}
		if a, err = newAnswer(p.call.OperationID, items); err != nil {
			return len(items), err
		}
		return len(items), a.compare(digests)
	})
	return a, err
}

// storer calls the provider's capture of one phase.
type storer func(context.Context, *slot, Operation) error

// capture runs the captures of all participants at once and waits for all of them, each for at most the capture timeout. The
// error joins all of theirs, in slot order, without those of best-effort slots, which are reported.
func (r *round) capture(ctx context.Context, participants []participant, store storer) error {
	err := gather(ctx, len(participants), func(i int) { r.captureInto(ctx, &participants[i], store) })
	if err != nil {
		return err
	}
	return r.captureErrors(ctx, participants)
}

func (r *round) captureInto(ctx context.Context, p *participant, store storer) {
	p.err = errGone
	p.err = r.captureOne(ctx, p, store)
}

// captureErrors joins the errors of captures that have ended.
func (r *round) captureErrors(ctx context.Context, participants []participant) error {
	var errs []error
	for i := range participants {
		if p := &participants[i]; p.err != nil {
			errs = append(errs, r.tolerate(ctx, p.slot, &SlotError{p.slot.Name, r.op.phase, p.err}))
		}
	}
	return errors.Join(errs...)
}

func (r *round) captureOne(ctx context.Context, p *participant, store storer) error {
	r.prepare(p, CallUpsert)
	operation := r.operation(p.lock, p.call.OperationID)
	return r.m.call(ctx, &p.call, func(ctx context.Context) (int, error) {
		_, err := within(ctx, p.slot.log, r.m.captureTimeout, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, store(ctx, p.slot, operation)
		})
		if err != nil {
			return 0, failed(err)
		}
		return 0, nil
	})
}
