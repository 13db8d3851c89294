package state_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/state"
)

// incident is a value as an agent would keep it: text, and a slice that could be shared by mistake.
type incident struct {
	ID      string
	Checked []string
}

func define[T any](t testing.TB, name string, initial func() T, options ...state.HandleOption) *state.Handle[T] {
	t.Helper()
	var registry state.Registry
	h, err := state.DefineIn(&registry, name, initial, options...)
	require.NoError(t, err)
	return h
}

func zero[T any]() T { return *new(T) }

func counter(t testing.TB) *state.Handle[int] { return define(t, "test.counter", zero[int]) }

func increment(v int) (int, error) { return v + 1, nil }

// bundle is one session over its store.
type bundle struct {
	store   state.Store
	session *state.Session
	ctx     context.Context // bound to the session, outside any step
}

// setUp opens a session and begins turn "t1". A nil store is a fresh one in memory.
func setUp(t testing.TB, store state.Store) *bundle {
	t.Helper()
	if store == nil {
		store = state.InMemory()
	}
	return reopen(t, store, "t1")
}

func reopen(t testing.TB, store state.Store, turn string) *bundle {
	t.Helper()
	s, err := state.Open(t.Context(), store, state.ID{Session: "s"}, nil)
	require.NoError(t, err)
	require.NoError(t, s.BeginTurn(t.Context(), turn))
	return &bundle{store: store, session: s, ctx: s.Context(t.Context())}
}

// stored returns the session's checkpoint as it lies in the store, "" when there is none.
func (b *bundle) stored(t testing.TB) string {
	t.Helper()
	content, _, err := b.store.Read(t.Context(), key(t, b.session.ID()))
	if err != nil {
		return ""
	}
	return string(content)
}

func key(t testing.TB, id state.ID) string {
	t.Helper()
	k, err := id.Key()
	require.NoError(t, err)
	return k
}

func step(ctx context.Context, name string, fn func(context.Context) error) error {
	_, err := state.Step(ctx, name, func(ctx context.Context) (struct{}, error) { return struct{}{}, fn(ctx) })
	return err
}

func get[T any](t testing.TB, ctx context.Context, h *state.Handle[T]) T {
	t.Helper()
	v, err := h.Get(ctx)
	require.NoError(t, err)
	return v
}

func update[T any](t testing.TB, ctx context.Context, h *state.Handle[T], fn func(T) (T, error)) T {
	t.Helper()
	v, err := h.Update(ctx, fn)
	require.NoError(t, err)
	return v
}

// outage is a store in memory whose next call fails as told.
type outage struct {
	*state.MemoryStore

	mu    sync.Mutex
	write func(write func() error) error // replaces the next Write
	read  error                          // result of the next Read
}

var errOutage = errors.New("outage")

func newOutage() *outage { return &outage{MemoryStore: state.InMemory()} }

// onWrite makes the next Write do what fn says; write performs it.
func (o *outage) onWrite(fn func(write func() error) error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.write = fn
}

func (o *outage) failRead(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.read = err
}

func (o *outage) Read(ctx context.Context, key string) ([]byte, string, error) {
	o.mu.Lock()
	err := o.read
	o.read = nil
	o.mu.Unlock()
	if err != nil {
		return nil, "", err
	}
	return o.MemoryStore.Read(ctx, key)
}

func (o *outage) Write(ctx context.Context, key string, content []byte, expected string) (version string, err error) {
	o.mu.Lock()
	fn := o.write
	o.write = nil
	o.mu.Unlock()
	if fn == nil {
		return o.MemoryStore.Write(ctx, key, content, expected)
	}
	err = fn(func() error {
		var failed error
		version, failed = o.MemoryStore.Write(context.WithoutCancel(ctx), key, content, expected)
		return failed
	})
	return version, err
}

func lostAfter(write func() error) error {
	if err := write(); err != nil {
		return err
	}
	return fmt.Errorf("%w: connection reset", state.ErrUnknownOutcome)
}
