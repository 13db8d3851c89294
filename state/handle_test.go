package state_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/state"
)

func TestAContextWithoutASessionIsAnErrorThatSaysSo(t *testing.T) {
	t.Parallel()
	h := counter(t)
	_, err := h.Get(t.Context())
	require.ErrorIs(t, err, state.ErrUnbound)
	_, err = h.Update(t.Context(), increment)
	require.ErrorIs(t, err, state.ErrUnbound)
	_, err = state.Step(t.Context(), "step", func(context.Context) (int, error) { panic("must not run") })
	require.ErrorIs(t, err, state.ErrUnbound)
}

func TestTheInitialValueIsComputedAtTheFirstAccessAndKept(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(t *testing.T, ctx context.Context, h *state.Handle[int]){
		"by Get": func(t *testing.T, ctx context.Context, h *state.Handle[int]) { get(t, ctx, h) },
		"by Update": func(t *testing.T, ctx context.Context, h *state.Handle[int]) {
			update(t, ctx, h, func(v int) (int, error) { return v, nil })
		},
		"by an Update that fails": func(t *testing.T, ctx context.Context, h *state.Handle[int]) {
			_, err := h.Update(ctx, func(int) (int, error) { return 0, errOutage })
			require.ErrorIs(t, err, errOutage)
		},
		"in a step": func(t *testing.T, ctx context.Context, h *state.Handle[int]) {
			require.NoError(t, step(ctx, "step", func(ctx context.Context) error { _, err := h.Get(ctx); return err }))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setUp(t, nil)
			calls := 0
			initial := func() int { calls++; return 40 + calls }
			h := define(t, "test.initial", initial)
			require.Zero(t, calls, "not at the definition")
			first(t, b.ctx, h)
			require.Equal(t, 41, get(t, b.ctx, h))

			again := reopen(t, b.store, "t1")
			require.Equal(t, 41, get(t, again.ctx, h), "in a later process")
			require.Equal(t, 41, get(t, again.ctx, define(t, "test.initial", func() int { return 99 })), "for a later build")
			require.Equal(t, 1, calls)
		})
	}
}

func TestConcurrentFirstAccessesComputeTheInitialValueOnce(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	var calls atomic.Int32
	h := define(t, "test.initial", func() int { return int(calls.Add(1)) })
	require.NoError(t, step(b.ctx, "step", func(ctx context.Context) error {
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() { assert.Equal(t, 1, get(t, ctx, h)) })
		}
		wg.Wait()
		return nil
	}))
	require.EqualValues(t, 1, calls.Load())
}

func TestAnInitialValueThatUsesItsOwnHandleIsAnError(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	var h *state.Handle[int]
	h = define(t, "test.selfish", func() int {
		_, err := h.Get(b.ctx)
		assert.ErrorIs(t, err, state.ErrNested)
		return 1
	})
	require.Equal(t, 1, get(t, b.ctx, h))
}

func TestWhatGetReturnsIsAPrivateCopy(t *testing.T) {
	t.Parallel()
	type deep struct {
		Map     map[string][]int
		Pointer *incident
		Any     any
		Array   [2][]string
		Custom  time.Time
	}
	fresh := func() deep {
		return deep{
			Map:     map[string][]int{"a": {1, 2}},
			Pointer: &incident{ID: "i", Checked: []string{"x"}},
			Any:     map[string]any{"k": []any{"v"}},
			Array:   [2][]string{{"p"}, {"q"}},
		}
	}
	vandalize := func(v deep) {
		v.Map["a"][0] = 99
		v.Map["b"] = nil
		v.Pointer.ID = "changed"
		v.Pointer.Checked[0] = "changed"
		if m, ok := v.Any.(map[string]any); ok {
			m["k"].([]any)[0] = "changed"
		}
		v.Array[0][0] = "changed"
	}
	t.Run("of a value with an interface", func(t *testing.T) {
		t.Parallel()
		checkPrivate(t, fresh, vandalize)
	})
	t.Run("of a value that JSON keeps exactly", func(t *testing.T) {
		t.Parallel()
		type exact struct {
			Map     map[string][]int
			Pointer *incident
			Array   [2][]string
		}
		checkPrivate(t, func() exact { v := fresh(); return exact{v.Map, v.Pointer, v.Array} },
			func(v exact) { vandalize(deep{Map: v.Map, Pointer: v.Pointer, Array: v.Array}) })
	})
}

func checkPrivate[T any](t *testing.T, fresh func() T, vandalize func(T)) {
	b := setUp(t, nil)
	first := fresh()
	h := define(t, "test.deep", func() T { return first })
	for range 2 {
		vandalize(get(t, b.ctx, h))
		require.Equal(t, fresh(), get(t, b.ctx, h), "what Get returned was changed")
		b = reopen(t, b.store, "t1")
	}
	vandalize(first)
	require.Equal(t, fresh(), get(t, b.ctx, h), "what the initial function returned was changed")

	var seen T
	kept := fresh()
	returned := update(t, b.ctx, h, func(v T) (T, error) { seen = v; return kept, nil })
	vandalize(seen)
	require.Equal(t, fresh(), get(t, b.ctx, h), "what Update passed was changed")
	vandalize(returned)
	require.Equal(t, fresh(), get(t, b.ctx, h), "what Update returned was changed")
	h2 := define(t, "test.deep", fresh)
	update(t, b.ctx, h2, func(T) (T, error) { kept = fresh(); return kept, nil })
	vandalize(kept)
	require.Equal(t, fresh(), get(t, b.ctx, h2), "what the function returned was changed")
}

func TestUpdatesFrom64GoroutinesLoseNone(t *testing.T) {
	t.Parallel()
	for name, inStep := range map[string]bool{"in a step": true, "outside a step": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setUp(t, nil)
			h, plain := define(t, "test.incident", zero[incident]), counter(t)
			work := func(ctx context.Context) error {
				var wg sync.WaitGroup
				for range 64 {
					wg.Go(func() {
						_, err := h.Update(ctx, func(v incident) (incident, error) { v.Checked = append(v.Checked, "x"); return v, nil })
						assert.NoError(t, err)
						_, err = plain.Update(ctx, increment)
						assert.NoError(t, err)
						_, err = h.Get(ctx)
						assert.NoError(t, err)
					})
				}
				wg.Wait()
				return nil
			}
			if inStep {
				require.NoError(t, step(b.ctx, "step", work))
			} else {
				require.NoError(t, work(b.ctx))
			}
			b = reopen(t, b.store, "t1")
			require.Len(t, get(t, b.ctx, h).Checked, 64)
			require.Equal(t, 64, get(t, b.ctx, plain))
		})
	}
}

func TestAnErrorInUpdateLeavesTheValueAndIsReturnedAsItIs(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	h := counter(t)
	update(t, b.ctx, h, increment)
	_, err := h.Update(b.ctx, func(int) (int, error) { return 99, errOutage })
	require.Equal(t, errOutage, err)
	require.NoError(t, step(b.ctx, "step", func(ctx context.Context) error {
		_, err := h.Update(ctx, func(int) (int, error) { return 99, errOutage })
		require.Equal(t, errOutage, err)
		require.Equal(t, 1, get(t, ctx, h))
		return nil
	}))
	require.Equal(t, 1, get(t, b.ctx, h))
}

func TestAPanicInUpdateLeavesTheValueAndTheSessionUsable(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	h := counter(t)
	update(t, b.ctx, h, increment)
	boom := func(ctx context.Context) {
		require.PanicsWithValue(t, "boom", func() { _, _ = h.Update(ctx, func(int) (int, error) { panic("boom") }) })
		require.Equal(t, 1, get(t, ctx, h))
	}
	boom(b.ctx)
	require.NoError(t, step(b.ctx, "step", func(ctx context.Context) error {
		boom(ctx)
		update(t, ctx, h, increment)
		return nil
	}))
	require.Equal(t, 2, get(t, b.ctx, h))
}

func TestAHandleInsideItsOwnUpdateIsAnError(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	h, other := counter(t), define(t, "test.other", zero[int])
	use := func(ctx context.Context) {
		v := update(t, ctx, h, func(v int) (int, error) {
			_, err := h.Get(ctx)
			require.ErrorIs(t, err, state.ErrNested)
			require.ErrorContains(t, err, `"test.counter"`)
			_, err = h.Update(ctx, increment)
			require.ErrorIs(t, err, state.ErrNested)
			update(t, ctx, other, func(o int) (int, error) {
				_, err := h.Update(ctx, increment)
				require.ErrorIs(t, err, state.ErrNested, "through another handle's Update")
				return o + 1, nil
			})
			return v + 1, nil
		})
		require.Equal(t, v, get(t, ctx, other), "another handle may be used")
	}
	use(b.ctx)
	require.NoError(t, step(b.ctx, "step", func(ctx context.Context) error { use(ctx); return nil }))
	b = reopen(t, b.store, "t1")
	require.Equal(t, 2, get(t, b.ctx, h))
	require.Equal(t, 2, get(t, b.ctx, other))
}

func TestTwoUpdatesThatWouldWaitForEachOtherAreAnError(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	one, two := define(t, "test.one", zero[int]), define(t, "test.two", zero[int])
	require.NoError(t, step(b.ctx, "step", func(ctx context.Context) error {
		var both, wg sync.WaitGroup
		var refused atomic.Int32
		both.Add(2)
		for _, pair := range [][2]*state.Handle[int]{{one, two}, {two, one}} {
			wg.Go(func() {
				_, err := pair[0].Update(ctx, func(v int) (int, error) {
					both.Done()
					both.Wait()
					_, err := pair[1].Update(ctx, increment)
					return v + 1, err
				})
				if errors.Is(err, state.ErrNested) {
					refused.Add(1)
				}
			})
		}
		wg.Wait()
		require.EqualValues(t, 1, refused.Load(), "one gives way, the other goes on")
		return nil
	}))
}

func TestGetDoesNotWaitForAnUpdateOfAnotherGoroutine(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	h := counter(t)
	require.NoError(t, step(b.ctx, "step", func(ctx context.Context) error {
		update(t, ctx, h, increment)
		inside, done := make(chan struct{}), make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := h.Update(ctx, func(v int) (int, error) { close(inside); <-done; return v + 1, nil })
			assert.NoError(t, err)
		})
		<-inside
		require.Equal(t, 1, get(t, ctx, h))
		close(done)
		wg.Wait()
		require.Equal(t, 2, get(t, ctx, h))
		return nil
	}))
}

func TestAnUpdateThatWaitsHonoursItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setUp(t, nil)
		h := counter(t)
		require.NoError(t, step(b.ctx, "step", func(ctx context.Context) error {
			get(t, ctx, h)
			release := make(chan struct{})
			go func() {
				_, err := h.Update(ctx, func(v int) (int, error) { <-release; return v + 1, nil })
				assert.NoError(t, err)
			}()
			synctest.Wait()
			hasty, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			_, err := h.Update(hasty, increment)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			_, err = h.Update(hasty, increment)
			require.ErrorIs(t, err, context.DeadlineExceeded, "also when it need not wait")
			close(release)
			synctest.Wait()
			require.Equal(t, 1, get(t, ctx, h))
			return nil
		}))
	})
}

func TestAPerTurnValueStartsFreshInEveryTurn(t *testing.T) {
	t.Parallel()
	store := state.InMemory()
	h, lasting := define(t, "test.turn", zero[int], state.PerTurn()), counter(t)

	s, err := state.Open(t.Context(), store, state.ID{Session: "s"}, nil)
	require.NoError(t, err)
	_, err = h.Get(s.Context(t.Context()))
	require.ErrorIs(t, err, state.ErrNoTurn)

	b := reopen(t, store, "t1")
	for range 2 {
		update(t, b.ctx, h, increment)
		update(t, b.ctx, lasting, increment)
	}
	b = reopen(t, store, "t1")
	require.Equal(t, 2, get(t, b.ctx, h), "the turn is resumed")
	b = reopen(t, store, "t2")
	require.Zero(t, get(t, b.ctx, h))
	require.Equal(t, 2, get(t, b.ctx, lasting))
	update(t, b.ctx, h, increment)
	require.NoError(t, b.session.BeginTurn(b.ctx, "t3"))
	require.Zero(t, get(t, b.ctx, h))
}

func TestOneNameInTwoRegistriesWithTwoTypesIsAnError(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	get(t, b.ctx, counter(t))
	_, err := define(t, "test.counter", zero[uint]).Get(b.ctx)
	require.ErrorIs(t, err, state.ErrName)
}
