package state

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
)

// Step runs fn once per turn, name and occurrence, and stores its result together with every change of state made with
// the context that fn receives, in one conditional write. When that step is already stored, fn is not called, and the
// recorded result is returned. A name that is used again in the turn is the next occurrence, counted in the order of
// completion.
//
// ctx is bound to a session whose turn has begun, and is not that of another step of it (ErrNested). Steps of a session
// run one at a time: Step waits for a running one until ctx ends. fn may start goroutines; what they do with the context
// after fn has returned gets ErrStale and is not stored.
//
// A step that fails stores nothing, and the next attempt begins where this one did: when fn returns an error, which Step
// returns as it is, or panics; when ctx has ended by the time fn returns; when the result is not storable (ErrValue); and
// for the errors of a commit (see Session). The result returned is the one that is stored, which later calls return too.
//
// Side effects outside the state are repeated when a process dies between fn's return and the write: make them
// idempotent, with a key made from session, turn, step and occurrence.
func Step[T any](ctx context.Context, name string, fn func(context.Context) (T, error)) (T, error) {
	var zero T
	b, err := bound(ctx)
	if err != nil {
		return zero, err
	}
	if b.run != nil {
		return zero, b.refuseStep(name)
	}
	r, recorded, err := b.session.beginStep(ctx, name)
	if err != nil {
		return zero, err
	}
	defer b.session.endStep(r)
	if recorded != nil {
		return replay[T](b.session, name, recorded)
	}
	var result T
	r.holder.run(func() { result, err = fn(context.WithValue(ctx, bindingKey{}, &r.binding)) })
	if err != nil {
		return zero, err
	}
	raw, restored, err := encodeResult(b.session, name, result)
	if err != nil {
		return zero, err
	}
	if err := b.session.completeStep(ctx, r, raw); err != nil {
		return zero, err
	}
	return restored, nil
}

// refuseStep returns why no step can begin within a step's context.
func (b *binding) refuseStep(name string) error {
	b.session.mu.Lock()
	defer b.session.mu.Unlock()
	if err := b.session.usable(b.run); err != nil {
		return err
	}
	return fmt.Errorf("%w: step %q inside step %q", ErrNested, name, b.run.step)
}

// beginStep takes the gate for the next occurrence of a step. It returns the result when that is recorded, else the run
// to use. The caller ends the run in any case.
func (s *Session) beginStep(ctx context.Context, name string) (r *run, recorded json.RawMessage, err error) {
	if err := checkText("step name", name); err != nil {
		return nil, nil, err
	}
	h := newHolder()
	if err := s.enter(ctx, h); err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.began {
		s.releaseLocked(&s.gate)
		return nil, nil, fmt.Errorf("%w: step %q", ErrNoTurn, name)
	}
	r = &run{binding: binding{session: s}, step: name, occurrence: s.seen[name], holder: h}
	r.run = r
	if known, ok := s.doc.turn.recordOf(name, r.occurrence); ok {
		return r, known.result, nil
	}
	return r, nil, nil
}

// count makes the next use of a step's name the next occurrence.
func (s *Session) count(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[string]int{}
	}
	s.seen[name]++
}

func (s *Session) endStep(r *run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.ended = true
	s.releaseLocked(&s.gate)
}

// completeStep commits the result of a run and everything that it staged.
func (s *Session) completeStep(ctx context.Context, r *run, result json.RawMessage) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("state: step %q: %w", r.step, err)
	}
	s.mu.Lock()
	r.ended = true // what the step's goroutines still do is not part of it
	s.mu.Unlock()
	err := s.commit(ctx, r.holder, func(d *document) error {
		r.apply(d)
		steps := d.turn.steps
		d.turn.steps = append(steps[:len(steps):len(steps)], record{name: r.step, result: result})
		return nil
	})
	if err != nil {
		return err
	}
	s.count(r.step)
	s.options.Logger.LogAttrs(ctx, slog.LevelDebug, "step committed",
		slog.String("key", s.key), slog.String("step", r.step), slog.Int("occurrence", r.occurrence))
	return nil
}

// encodeResult returns the JSON of a step's result, and the result as a replay will see it.
func encodeResult[T any](s *Session, step string, result T) (json.RawMessage, T, error) {
	restored := new(T)
	c := codecFor(&s.shapes, reflect.TypeFor[T]())
	raw, found := c.normalize(reflect.ValueOf(&result).Elem(), reflect.ValueOf(restored).Elem())
	if found != nil {
		return nil, result, &ValueError{Step: step, Path: found.place(), Reason: found.reason, Err: found.err}
	}
	return raw, *restored, nil
}

// replay returns the recorded result of a step.
func replay[T any](s *Session, step string, recorded json.RawMessage) (T, error) {
	var result T
	if err := decodeWhole(s.shapes.of(reflect.TypeFor[T]()), recorded, &result); err != nil {
		return *new(T), &DecodeError{Step: step, Reason: explain(err) + "; a new turn runs the step again", Err: err}
	}
	s.count(step)
	return result, nil
}
