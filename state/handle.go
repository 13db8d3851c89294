package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// Handle is a typed, named slot of session state. It holds no value: the values live in sessions, and a context says
// which. A handle may be used concurrently.
type Handle[T any] struct {
	id      slotID
	initial func() T
	migrate func(old json.RawMessage) (json.RawMessage, error)
	codec   codec
}

// slotID identifies a value within a session.
type slotID struct {
	name    string
	perTurn bool
}

// HandleOption configures Define and DefineIn.
type HandleOption func(*handleOptions)

type handleOptions struct {
	perTurn bool
	migrate func(old json.RawMessage) (json.RawMessage, error)
}

// PerTurn makes the value belong to the turn: every turn starts with a fresh initial value. Used before the session's first
// BeginTurn, such a handle returns an error matching ErrNoTurn.
func PerTurn() HandleOption {
	return func(o *handleOptions) { o.perTurn = true }
}

// Migrated has migrate rewrite a stored value that T cannot hold completely, because it is of another kind or has members
// that T does not know, as after a field was removed. migrate receives the stored JSON, which it may keep and change, and
// returns JSON for T. It must be quick, deterministic and free of side effects: it runs again whenever the value is
// loaded, until an Update stores the new form.
func Migrated(migrate func(old json.RawMessage) (json.RawMessage, error)) HandleOption {
	return func(o *handleOptions) { o.migrate = migrate }
}

// Define returns the handle of name in the default registry. It is for package-level variables and panics where DefineIn
// returns an error. Begin the name with that of the agent, since all packages of a program share the registry.
func Define[T any](name string, initial func() T, options ...HandleOption) *Handle[T] {
	h, err := DefineIn(&defaultRegistry, name, initial, options...)
	if err != nil {
		panic(err)
	}
	return h
}

// DefineIn returns the handle of name in a registry. initial returns the value of a session that has none yet; it is
// called once per session, at the first access, and what it returned is kept even when a later build returns something
// else. It must not use its own handle.
//
// The name is the identity: two handles of one name and type are one slot. An error matching ErrName reports a name that
// is empty, begins with "eve." or "eve:mount.", is not valid UTF-8, or is defined with another type or as PerTurn where
// this one is not.
func DefineIn[T any](r *Registry, name string, initial func() T, options ...HandleOption) (*Handle[T], error) {
	if r == nil || initial == nil {
		return nil, errors.New("state: a handle needs a registry and a function for its initial value")
	}
	var o handleOptions
	for _, option := range options {
		option(&o)
	}
	t := reflect.TypeFor[T]()
	if err := r.add(Definition{Name: name, Type: t, PerTurn: o.perTurn}); err != nil {
		return nil, err
	}
	return &Handle[T]{
		id:      slotID{name, o.perTurn},
		initial: initial,
		migrate: o.migrate,
		codec:   codecFor(new(shapes), t),
	}, nil
}

// Name returns the handle's name.
func (h *Handle[T]) Name() string { return h.id.name }

// Get returns a private copy of the value in the session that ctx is bound to: inside a step as the step has left it so
// far, outside as it was last committed. The first access computes the initial value and stores it, so it may fail like
// an Update. Get does not wait for an Update of another goroutine; it returns the value before it.
//
// Errors match ErrUnbound, ErrStale, ErrNoTurn (a per-turn handle), ErrNested (inside the handle's own Update),
// ErrDecode, ErrValue (the initial value), or those of a commit (see Session).
func (h *Handle[T]) Get(ctx context.Context) (T, error) {
	b, err := bound(ctx)
	if err != nil {
		return *new(T), err
	}
	c, err := b.read(ctx, h.id)
	if err != nil {
		return *new(T), err
	}
	if c == nil {
		if c, err = h.begin(ctx, b); err != nil {
			return *new(T), err
		}
	}
	v, err := viewOf(h, c)
	if err != nil {
		return *new(T), err
	}
	return copyOf(h, v)
}

// Update calls fn with a private copy of the value and stores what it returns: with the step inside one, at once outside.
// It returns the value as stored, which is what a later Get returns: JSON has no difference between a nil and an absent
// slice, for example.
//
// Updates of a handle run one at a time, in a step or outside, so none is lost. fn may use other handles; its own is an
// error matching ErrNested, and so are two Updates of a session that would wait for each other. Both are found out by the
// goroutine that asks: an fn that waits for another goroutine which waits for this Update, or for one of another session
// that does, waits until a context ends. When fn returns an error, which is returned as it is, or panics, or when what it
// returned is not storable (ErrValue), the value stays as it was.
//
// Errors match those of Get. Outside a step, Update waits for a running one until ctx ends.
func (h *Handle[T]) Update(ctx context.Context, fn func(T) (T, error)) (T, error) {
	b, err := bound(ctx)
	if err != nil {
		return *new(T), err
	}
	if b.run == nil {
		// The initial value is kept even when fn fails, so that fn sees the same one the next time.
		if _, err := h.Get(ctx); err != nil {
			return *new(T), err
		}
	}
	var updated T
	err = b.change(ctx, h.id, func(sl *slot) error {
		current, err := h.ensure(b.session, sl)
		if err != nil {
			return err
		}
		next, restored, err := h.apply(current, fn)
		if err != nil {
			return err
		}
		updated = restored
		return b.session.stage(sl, next)
	})
	if err != nil {
		return *new(T), err
	}
	return updated, nil
}

// begin stores the initial value, unless another goroutine was first.
func (h *Handle[T]) begin(ctx context.Context, b *binding) (c *cell, err error) {
	err = b.change(ctx, h.id, func(sl *slot) error {
		c, err = h.ensure(b.session, sl)
		return err
	})
	return c, err
}

// ensure returns the current cell of a slot that the caller holds, after staging the initial value where there is none.
func (h *Handle[T]) ensure(s *Session, sl *slot) (*cell, error) {
	c, err := s.current(sl)
	if c != nil || err != nil {
		return c, err
	}
	c, _, err = h.encode(h.initial())
	if err != nil {
		return nil, err
	}
	return c, s.stage(sl, c)
}

// apply calls fn with the value of c. It returns the new cell, and a private copy of its value.
func (h *Handle[T]) apply(c *cell, fn func(T) (T, error)) (*cell, T, error) {
	v, err := viewOf(h, c)
	if err != nil {
		return nil, *new(T), err
	}
	value, err := copyOf(h, v)
	if err != nil {
		return nil, value, err
	}
	if value, err = fn(value); err != nil {
		return nil, value, err
	}
	return h.encode(value)
}

// encode returns a new cell for value, and the value as later readers see it. The cell shares nothing with the value.
func (h *Handle[T]) encode(value T) (*cell, T, error) {
	restored := new(T)
	raw, found := h.codec.normalize(reflect.ValueOf(&value).Elem(), reflect.ValueOf(restored).Elem())
	if found != nil {
		return nil, value, &ValueError{Handle: h.id.name, Path: found.place(), Reason: found.reason, Err: found.err}
	}
	c := &cell{raw: raw}
	c.view.Store(h.view(raw, restored))
	if h.codec.shape.exact {
		return c, value, nil
	}
	return c, *restored, nil
}

func errTwoTypes(name string) error {
	return fmt.Errorf("%w: %q is used with two types in one session", ErrName, name)
}
