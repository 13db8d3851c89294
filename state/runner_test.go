package state_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/state"
)

func TestOfTwoRunnersOneCommitsAndTheOtherStoresNothing(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	h := counter(t)
	update(t, b.ctx, h, increment)
	one, two := reopen(t, b.store, "t1"), reopen(t, b.store, "t1")
	require.NoError(t, step(one.ctx, "step", func(ctx context.Context) error { update(t, ctx, h, increment); return nil }))
	before := one.stored(t)

	err := step(two.ctx, "step", func(ctx context.Context) error {
		update(t, ctx, h, func(int) (int, error) { return 99, nil })
		return nil
	})
	require.ErrorIs(t, err, state.ErrConflict)
	require.NotErrorIs(t, err, state.ErrUnknownOutcome)
	var conflict *state.ConflictError
	require.ErrorAs(t, err, &conflict)
	require.Equal(t, before, one.stored(t))

	t.Run("and must be opened again", func(t *testing.T) {
		for name, use := range map[string]func() error{
			"get":    func() error { _, err := h.Get(two.ctx); return err },
			"update": func() error { _, err := h.Update(two.ctx, increment); return err },
			"step":   func() error { return step(two.ctx, "step", func(context.Context) error { return nil }) },
			"turn":   func() error { return two.session.BeginTurn(two.ctx, "t2") },
			"reset":  func() error { return two.session.Reset(two.ctx) },
		} {
			require.ErrorIs(t, use(), state.ErrConflict, name)
		}
		again := reopen(t, b.store, "t1")
		require.NoError(t, step(again.ctx, "step", func(context.Context) error { panic("the other runner completed it") }))
		require.Equal(t, 2, get(t, again.ctx, h))
	})
	require.NoError(t, step(one.ctx, "next", func(context.Context) error { return nil }), "the other goes on")
}

func TestTwoRunnersThatBothStartASessionConflictToo(t *testing.T) {
	t.Parallel()
	store := state.InMemory()
	one, two := setUp(t, store), setUp(t, store)
	h := counter(t)
	update(t, one.ctx, h, increment)
	_, err := h.Update(two.ctx, increment)
	require.ErrorIs(t, err, state.ErrConflict)
}

func TestARunnerWhoseSessionWasResetElsewhereConflicts(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	h := counter(t)
	update(t, b.ctx, h, increment)
	require.NoError(t, reopen(t, b.store, "t1").session.Reset(t.Context()))
	_, err := h.Update(b.ctx, increment)
	require.ErrorIs(t, err, state.ErrConflict)
	require.Empty(t, b.stored(t), "nothing comes back")
}

func TestALostReplyIsSettledByLooking(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		write func(write func() error) error
		runs  int
	}{
		"written":                       {lostAfter, 1},
		"written, and called an outage": {func(write func() error) error { _ = write(); return errOutage }, 1},
		"written, and then retried by the client": {func(write func() error) error {
			_ = write()
			return write() // which conflicts with itself
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := newOutage()
			b := setUp(t, store)
			h := counter(t)
			for range 2 { // the first commit creates the checkpoint, the second replaces it
				store.onWrite(c.write)
				require.NoError(t, step(b.ctx, "step", func(ctx context.Context) error { update(t, ctx, h, increment); return nil }))
			}
			require.Equal(t, 2, get(t, b.ctx, h))
			require.Equal(t, 2, get(t, reopen(t, store, "t1").ctx, h))
		})
	}
}

func TestAWriteThatDidNotHappenCanBeTriedAgain(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]error{"unknown": fmt.Errorf("%w", state.ErrUnknownOutcome), "known": errOutage} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := newOutage()
			b := setUp(t, store)
			h := counter(t)
			for n := 1; n <= 2; n++ {
				store.onWrite(func(func() error) error { return failure })
				run := func() error {
					return step(b.ctx, "step", func(ctx context.Context) error { update(t, ctx, h, increment); return nil })
				}
				require.ErrorIs(t, run(), failure)
				require.Equal(t, n-1, get(t, b.ctx, h))
				require.NoError(t, run())
				require.Equal(t, n, get(t, b.ctx, h))
			}
		})
	}
}

// TestAnUnknownOutcomeThatCannotBeLookedUpIsSettledAtTheNextUse: the store is unreachable, or the context has ended, when
// the write fails.
func TestAnUnknownOutcomeThatCannotBeLookedUpIsSettledAtTheNextUse(t *testing.T) {
	t.Parallel()
	for name, written := range map[string]bool{"written": true, "not written": false} {
		for cause, cut := range map[string]func(store *outage, cancel context.CancelFunc){
			"unreachable": func(store *outage, _ context.CancelFunc) { store.failRead(errOutage) },
			"cancelled":   func(_ *outage, cancel context.CancelFunc) { cancel() },
		} {
			t.Run(name+" "+cause, func(t *testing.T) {
				t.Parallel()
				store := newOutage()
				b := setUp(t, store)
				h := counter(t)
				update(t, b.ctx, h, increment)

				ctx, cancel := context.WithCancel(b.ctx)
				defer cancel()
				store.onWrite(func(write func() error) error {
					if written {
						require.NoError(t, write())
					}
					cut(store, cancel)
					if ctx.Err() != nil {
						return ctx.Err()
					}
					return fmt.Errorf("%w", state.ErrUnknownOutcome)
				})
				runs := 0
				run := func(ctx context.Context) error {
					return step(ctx, "step", func(ctx context.Context) error { runs++; update(t, ctx, h, increment); return nil })
				}
				err := run(ctx)
				require.ErrorIs(t, err, state.ErrUnknownOutcome)
				require.NotErrorIs(t, err, state.ErrConflict)
				if ctx.Err() != nil {
					require.ErrorIs(t, err, context.Canceled)
				}
				if written {
					require.Equal(t, 2, get(t, b.ctx, h), "a read looks first")
				} else {
					require.Equal(t, 1, get(t, b.ctx, h))
				}
				require.NoError(t, run(b.ctx))
				require.Equal(t, 2, get(t, b.ctx, h))
				require.Equal(t, map[bool]int{true: 1, false: 2}[written], runs, "a stored step is not repeated")
			})
		}
	}
}

func TestAnUnknownOutcomeFollowedByAnotherRunnersCommitStaysUnknown(t *testing.T) {
	t.Parallel()
	store := newOutage()
	b := setUp(t, store)
	h := counter(t)
	update(t, b.ctx, h, increment)
	store.onWrite(func(write func() error) error {
		require.NoError(t, write())
		other := reopen(t, store, "t1")
		update(t, other.ctx, h, increment)
		return fmt.Errorf("%w", state.ErrUnknownOutcome)
	})
	run := func(ctx context.Context) error {
		return step(ctx, "step", func(ctx context.Context) error { update(t, ctx, h, increment); return nil })
	}
	err := run(b.ctx)
	require.ErrorIs(t, err, state.ErrUnknownOutcome)
	require.NotErrorIs(t, err, state.ErrConflict)
	require.ErrorIs(t, run(b.ctx), state.ErrConflict, "then the session is another runner's")
	b = reopen(t, store, "t1")
	require.NoError(t, run(b.ctx))
	require.Equal(t, 3, get(t, b.ctx, h), "the step was stored, and is not repeated")
}

func TestAnOutcomeThatCannotBeLookedUpStillBlocksTheNextUse(t *testing.T) {
	t.Parallel()
	store := newOutage()
	b := setUp(t, store)
	h := counter(t)
	store.onWrite(func(func() error) error { store.failRead(errOutage); return errOutage })
	_, err := h.Update(b.ctx, increment)
	require.ErrorIs(t, err, state.ErrUnknownOutcome)
	store.failRead(errOutage)
	_, err = h.Get(b.ctx)
	require.ErrorIs(t, err, errOutage, "nobody knows yet what is stored")
	update(t, b.ctx, h, increment)
	require.Equal(t, 1, get(t, b.ctx, h))
}

// panicky is a store whose next Read panics when it is told to.
type panicky struct {
	*outage
	panics atomic.Bool
}

func (p *panicky) Read(ctx context.Context, key string) ([]byte, string, error) {
	if p.panics.Swap(false) {
		panic("store")
	}
	return p.outage.Read(ctx, key)
}

func TestAStoreThatPanicsLeavesTheSessionUsable(t *testing.T) {
	t.Parallel()
	store := &panicky{outage: newOutage()}
	b := setUp(t, store)
	h := counter(t)
	update(t, b.ctx, h, increment)
	use := map[string]func(){
		"update":     func() { _, _ = h.Update(b.ctx, increment) },
		"get":        func() { _, _ = h.Get(b.ctx) },
		"attachment": func() { _, _ = b.session.Attachment(b.ctx, "memory") },
		"step":       func() { _ = step(b.ctx, "step", func(context.Context) error { return nil }) },
		"turn":       func() { _ = b.session.BeginTurn(b.ctx, "t1") },
		"reset":      func() { _ = b.session.Reset(b.ctx) },
		"in write":   func() { store.onWrite(func(func() error) error { panic("store") }); _, _ = h.Update(b.ctx, increment) },
	}
	for name, call := range use {
		store.onWrite(func(func() error) error { store.failRead(errOutage); return errOutage })
		_, err := h.Update(b.ctx, increment)
		require.ErrorIs(t, err, state.ErrUnknownOutcome)
		store.panics.Store(name != "in write")
		require.PanicsWithValue(t, "store", call, name)
		ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
		_, err = h.Update(ctx, increment)
		require.NoError(t, err, "no lock is left behind by %s", name)
		cancel()
	}
	require.Equal(t, 1+len(use), get(t, b.ctx, h))
}

func TestOpenReportsWhatTheStoreSays(t *testing.T) {
	t.Parallel()
	store := newOutage()
	store.failRead(errOutage)
	_, err := state.Open(t.Context(), store, state.ID{Session: "s"}, nil)
	require.ErrorIs(t, err, errOutage)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = state.Open(cancelled, store, state.ID{Session: "s"}, nil)
	require.ErrorIs(t, err, context.Canceled)
}

func TestOpenListsEveryProblemOfItsArguments(t *testing.T) {
	t.Parallel()
	_, err := state.Open(t.Context(), nil, state.ID{Node: "\xff"}, &state.Options{MaxBytes: -1})
	for _, problem := range []string{"store", "session id is empty", "node is not valid UTF-8", "MaxBytes"} {
		require.ErrorContains(t, err, problem)
	}
}
