package state_test

import (
	"context"
	"io/fs"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/state"
)

func child(t testing.TB, s *state.Session, ctx context.Context, node string) (*state.Session, context.Context) {
	t.Helper()
	c, err := s.Child(ctx, node)
	require.NoError(t, err)
	require.NoError(t, c.BeginTurn(ctx, "turn"))
	return c, c.Context(ctx)
}

func TestParentAndChildDoNotSeeEachOthersValues(t *testing.T) {
	t.Parallel()
	for _, node := range []string{"researcher", state.RootNode} {
		t.Run(node, func(t *testing.T) {
			t.Parallel()
			b := setUp(t, nil)
			h := counter(t)
			update(t, b.ctx, h, increment)
			require.NoError(t, step(b.ctx, "step", func(ctx context.Context) error {
				update(t, ctx, h, increment)
				_, childCtx := child(t, b.session, ctx, node)
				require.Zero(t, get(t, childCtx, h))
				require.NoError(t, step(childCtx, "step", func(ctx context.Context) error {
					update(t, ctx, h, func(int) (int, error) { return 10, nil })
					return nil
				}), "a child's step inside the parent's is not nested")
				require.Equal(t, 10, get(t, childCtx, h))
				require.Equal(t, 2, get(t, ctx, h))
				return nil
			}))
			require.Equal(t, 2, get(t, b.ctx, h))
		})
	}
}

// ids runs a turn with children in and outside steps and returns their ids, in order.
func ids(t *testing.T, b *bundle) []state.ID {
	t.Helper()
	var all []state.ID
	add := func(ctx context.Context, node string) {
		c, err := b.session.Child(ctx, node)
		require.NoError(t, err)
		all = append(all, c.ID())
	}
	add(b.ctx, "a")
	for range 2 {
		err := step(b.ctx, "step", func(ctx context.Context) error {
			add(ctx, "a")
			add(ctx, "b")
			add(ctx, "a")
			return errOutage // so that it runs again
		})
		require.ErrorIs(t, err, errOutage)
	}
	require.Equal(t, all[1:4], all[4:7], "an attempt finds the children of the one before")
	add(b.ctx, "a")
	add(b.ctx, "b")
	return all
}

func TestAReplayFindsTheSameChildren(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	first := ids(t, b)
	require.NoError(t, b.session.BeginTurn(b.ctx, "t1"))
	require.Equal(t, first, ids(t, b), "in this process")
	require.Equal(t, first, ids(t, reopen(t, b.store, "t1")), "in another")
	seen := map[state.ID]int{}
	for _, id := range first {
		seen[id]++
	}
	require.Len(t, seen, len(first)-3, "no two calls share a child")
}

func TestChildrenOfOtherStepsTurnsAndSessionsAreOthers(t *testing.T) {
	t.Parallel()
	seen := map[state.ID]string{}
	add := func(t *testing.T, s *state.Session, ctx context.Context, what string) {
		c, err := s.Child(ctx, "node")
		require.NoError(t, err)
		require.Empty(t, seen[c.ID()], what)
		seen[c.ID()] = what
	}
	store := state.InMemory()
	for _, id := range []state.ID{{Session: "s"}, {Session: "s", Node: "n"}, {Session: "z"}} {
		s, err := state.Open(t.Context(), store, id, nil)
		require.NoError(t, err)
		ctx := s.Context(t.Context())
		for _, turn := range []string{"t1", "t2", "t1"} {
			require.NoError(t, s.BeginTurn(ctx, turn))
			add(t, s, ctx, "outside")
			for _, name := range []string{"x", "y", "x"} {
				require.NoError(t, step(ctx, name, func(ctx context.Context) error {
					add(t, s, ctx, turn+name)
					add(t, s, ctx, turn+name)
					return nil
				}))
			}
		}
	}
	require.Len(t, seen, 3*3*7)
}

func TestConcurrentCallsForDifferentNodesFindTheSameChildrenAgain(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	run := func(b *bundle) map[string]state.ID {
		found := map[string]state.ID{}
		var mu sync.Mutex
		require.ErrorIs(t, step(b.ctx, "step", func(ctx context.Context) error {
			var wg sync.WaitGroup
			for _, node := range []string{"a", "b", "c", "d"} {
				wg.Go(func() {
					c, err := b.session.Child(ctx, node)
					if assert.NoError(t, err) {
						mu.Lock()
						defer mu.Unlock()
						found[node] = c.ID()
					}
				})
			}
			wg.Wait()
			return errOutage
		}), errOutage)
		return found
	}
	first := run(b)
	require.Len(t, first, 4)
	for range 5 {
		require.Equal(t, first, run(reopen(t, b.store, "t1")))
	}
}

func TestACallOfChildThatFailedDoesNotCount(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(store *outage){
		"not registered": func(store *outage) { store.onWrite(func(func() error) error { return errOutage }) },
		"not opened": func(store *outage) {
			store.onWrite(func(write func() error) error { store.failRead(errOutage); return write() })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := newOutage()
			b := setUp(t, store)
			retried := func(ctx context.Context) state.ID {
				fail(store)
				_, err := b.session.Child(ctx, "node")
				require.ErrorIs(t, err, errOutage)
				c, err := b.session.Child(ctx, "node")
				require.NoError(t, err)
				return c.ID()
			}
			outside := retried(b.ctx)
			var inside state.ID
			err := step(b.ctx, "step", func(ctx context.Context) error { inside = retried(ctx); return errOutage })
			require.ErrorIs(t, err, errOutage)
			require.NotEqual(t, outside, inside)

			b = reopen(t, store, "t1")
			c, _ := child(t, b.session, b.ctx, "node")
			require.Equal(t, outside, c.ID())
			require.NoError(t, step(b.ctx, "step", func(ctx context.Context) error {
				c, _ := child(t, b.session, ctx, "node")
				require.Equal(t, inside, c.ID(), "a replay in which nothing fails finds the same child")
				return nil
			}))
		})
	}
}

func TestASessionDoesNotFindTheChildrenOfASweptSessionOfItsID(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	h := counter(t)
	first, ctx := child(t, b.session, b.ctx, "node")
	update(t, ctx, h, increment)
	_, version, err := b.store.Read(t.Context(), key(t, b.session.ID()))
	require.NoError(t, err)
	require.NoError(t, b.store.Delete(t.Context(), key(t, b.session.ID()), version), "the child was used later than its parent")

	b = reopen(t, b.store, "t1")
	second, ctx := child(t, b.session, b.ctx, "node")
	require.NotEqual(t, first.ID(), second.ID())
	require.Zero(t, get(t, ctx, h))
	again, _ := child(t, reopen(t, b.store, "t1").session, t.Context(), "node")
	require.Equal(t, second.ID(), again.ID())
}

func TestAChildFindsWhatItStoredBeforeTheParentsStepDied(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	h := counter(t)
	runs := 0
	attempt := func(b *bundle, fail error) error {
		return step(b.ctx, "delegate", func(ctx context.Context) error {
			_, childCtx := child(t, b.session, ctx, "worker")
			require.NoError(t, step(childCtx, "work", func(ctx context.Context) error { runs++; update(t, ctx, h, increment); return nil }))
			require.Equal(t, 1, get(t, childCtx, h))
			return fail
		})
	}
	require.ErrorIs(t, attempt(b, errOutage), errOutage)
	require.NoError(t, attempt(reopen(t, b.store, "t1"), nil))
	require.Equal(t, 1, runs)
}

func TestTheParentsCheckpointStaysBoundedHoweverManyChildrenItHad(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	size := 0
	for i := range 100 {
		require.NoError(t, b.session.BeginTurn(b.ctx, string(rune('A'+i%26))+string(rune('a'+i/26))))
		for range 3 {
			_, err := b.session.Child(b.ctx, "worker")
			require.NoError(t, err)
		}
		if i == 40 {
			size = len(b.stored(t))
		}
	}
	require.InDelta(t, size, len(b.stored(t)), 8)
}

func TestAChildIsEnteredBeforeItIsUsed(t *testing.T) {
	t.Parallel()
	store := newOutage()
	b := setUp(t, store)
	store.onWrite(func(func() error) error { return errOutage })
	_, err := b.session.Child(b.ctx, "node")
	require.ErrorIs(t, err, errOutage)
	_, err = b.session.Child(b.ctx, "node")
	require.NoError(t, err)
	require.Contains(t, b.stored(t), `"children":{"node":1}`)
	_, err = b.session.Child(b.ctx, "")
	require.Error(t, err)
}

func TestResetDeletesASessionWithAllItsChildren(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	h := counter(t)
	require.NoError(t, b.session.Attach(b.ctx, "memory", []byte("1")))
	var grandchild *state.Session
	require.NoError(t, step(b.ctx, "step", func(ctx context.Context) error {
		for range 3 {
			c, childCtx := child(t, b.session, ctx, "child")
			update(t, childCtx, h, increment)
			grandchild, childCtx = child(t, c, childCtx, "grandchild")
			update(t, childCtx, h, increment)
		}
		return nil
	}))
	require.NoError(t, b.session.BeginTurn(b.ctx, "t2"), "the turn that knew the children is over")
	update(t, b.ctx, h, increment)
	other, err := state.Open(t.Context(), b.store, state.ID{Session: "other"}, nil)
	require.NoError(t, err)
	update(t, other.Context(t.Context()), h, increment)
	list := func() int {
		keys, _, err := b.store.(state.Lister).List(t.Context(), "", 100)
		require.NoError(t, err)
		return len(keys)
	}
	require.Equal(t, 1+3+3+1, list())
	require.NoError(t, b.session.Reset(b.ctx))
	require.Equal(t, 1, list(), "the other session's")

	for name, s := range map[string]*state.Session{"session": b.session, "grandchild": grandchild} {
		ctx := s.Context(t.Context())
		for use, err := range map[string]error{
			"get":    func() error { _, err := h.Get(ctx); return err }(),
			"update": func() error { _, err := h.Update(ctx, increment); return err }(),
			"step":   step(ctx, "step", func(context.Context) error { panic("must not run") }),
			"turn":   s.BeginTurn(ctx, "t3"),
			"child":  func() error { _, err := s.Child(ctx, "n"); return err }(),
			"attach": s.Attach(ctx, "a", []byte("1")),
			"reset":  s.Reset(ctx),
		} {
			require.ErrorIs(t, err, state.ErrStale, "%s of the %s", use, name)
		}
	}
	require.Equal(t, 1, list(), "nothing came back")
}

func TestAResetThatFailsCanBeRepeated(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(s *stubborn){
		"deleting a child":     func(s *stubborn) { s.failures = 1 },
		"deleting itself":      func(s *stubborn) { s.skip, s.failures = 1, 1 },
		"deleted and not told": func(s *stubborn) { s.skip, s.failures, s.applied = 1, 1, true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := &stubborn{MemoryStore: state.InMemory()}
			b := setUp(t, store)
			h := counter(t)
			_, childCtx := child(t, b.session, b.ctx, "child")
			update(t, childCtx, h, increment)
			update(t, b.ctx, h, increment)
			fail(store)
			if store.applied {
				require.NoError(t, b.session.Reset(b.ctx), "it looks, and finds that it is done")
			} else {
				require.ErrorIs(t, b.session.Reset(b.ctx), errOutage)
				require.Equal(t, 1, get(t, b.ctx, h), "the session is still there")
				require.NoError(t, b.session.Reset(b.ctx))
			}
			_, err := h.Get(b.ctx)
			require.ErrorIs(t, err, state.ErrStale)
			keys, _, err := store.List(t.Context(), "", 10)
			require.NoError(t, err)
			require.Empty(t, keys)
		})
	}
}

// stubborn is a store in memory some of whose deletes fail.
type stubborn struct {
	*state.MemoryStore
	skip, failures int
	applied        bool
}

func (s *stubborn) Delete(ctx context.Context, key, expected string) error {
	if s.skip > 0 {
		s.skip--
		return s.MemoryStore.Delete(ctx, key, expected)
	}
	if s.failures == 0 {
		return s.MemoryStore.Delete(ctx, key, expected)
	}
	s.failures--
	if s.applied {
		if err := s.MemoryStore.Delete(ctx, key, expected); err != nil {
			return err
		}
	}
	return errOutage
}

func TestResettingANewSessionSucceeds(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	require.NoError(t, b.session.Reset(b.ctx))
	_, _, err := b.store.Read(t.Context(), key(t, b.session.ID()))
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestAResetRemovesAChildThatCommitsMeanwhile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		commits int
		want    error
	}{"a few times": {3, nil}, "without end": {1000, state.ErrConflict}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := &racing{MemoryStore: state.InMemory()}
			b := setUp(t, store)
			h := counter(t)
			_, childCtx := child(t, b.session, b.ctx, "busy")
			update(t, childCtx, h, increment)
			left := c.commits
			store.commit = func() {
				if left--; left >= 0 {
					update(t, childCtx, h, increment)
				}
			}
			require.ErrorIs(t, b.session.Reset(b.ctx), c.want)
			if c.want != nil {
				require.Equal(t, 0, get(t, b.ctx, h), "the session is still there, and can be reset again")
			}
		})
	}
}

func TestAResetStopsAtAChildThatItCannotRead(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	c, err := b.session.Child(b.ctx, "child")
	require.NoError(t, err)
	newer := []byte(`{"format":"recollect-state","version":9}`)
	_, err = b.store.Write(t.Context(), key(t, c.ID()), newer, "")
	require.NoError(t, err)
	require.ErrorIs(t, b.session.Reset(b.ctx), state.ErrNewerFormat, "it may have children of its own")
	require.NotEmpty(t, b.stored(t))
}
