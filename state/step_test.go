package state_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/state"
)

func TestACompletedStepIsNotRunAgainAndItsRecordedResultIsReturned(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	want := incident{ID: "i", Checked: []string{"a"}}
	run := func(ctx context.Context, fn func(context.Context) (incident, error)) incident {
		got, err := state.Step(ctx, "model", fn)
		require.NoError(t, err)
		return got
	}
	require.Equal(t, want, run(b.ctx, func(context.Context) (incident, error) { return want, nil }))
	never := func(context.Context) (incident, error) { panic("it is completed") }

	require.NoError(t, b.session.BeginTurn(b.ctx, "t1"))
	require.Equal(t, want, run(b.ctx, never), "the turn is resumed in this process")
	require.Equal(t, want, run(reopen(t, b.store, "t1").ctx, never), "and in another")
}

func TestARepeatedNameIsNumberedInOrder(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	calls := 0
	next := func(ctx context.Context, name string) string {
		got, err := state.Step(ctx, name, func(context.Context) (string, error) { calls++; return fmt.Sprint(name, calls), nil })
		require.NoError(t, err)
		return got
	}
	for range 2 {
		require.Equal(t, "tool1", next(b.ctx, "tool"))
		require.Equal(t, "model2", next(b.ctx, "model"))
		require.Equal(t, "tool3", next(b.ctx, "tool"))
		b = reopen(t, b.store, "t1")
	}
	require.Equal(t, "tool1", next(b.ctx, "tool"))
	require.Equal(t, "tool3", next(b.ctx, "tool"))
	require.Equal(t, "tool4", next(b.ctx, "tool"), "the first occurrence that is not recorded runs")
}

func TestRecordsOfEarlierTurnsAreDropped(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	h := counter(t)
	size := 0
	for turn := range 200 {
		require.NoError(t, b.session.BeginTurn(b.ctx, fmt.Sprintf("turn %03d", turn)))
		for range 3 {
			require.NoError(t, step(b.ctx, "step", func(ctx context.Context) error {
				update(t, ctx, h, func(int) (int, error) { return 1, nil })
				return nil
			}))
		}
		if turn == 0 {
			size = len(b.stored(t))
		}
		require.Len(t, b.stored(t), size, "the checkpoint stays bounded")
	}
	require.Equal(t, 1, strings.Count(b.stored(t), "turn "))
}

func TestAStepCommitsItsResultAndItsChangesInOneWrite(t *testing.T) {
	t.Parallel()
	store := newOutage()
	b := setUp(t, store)
	one, two := define(t, "test.one", zero[int]), define(t, "test.two", zero[incident], state.PerTurn())
	writes := 0
	store.onWrite(func(write func() error) error { writes++; return write() })
	require.NoError(t, step(b.ctx, "step", func(ctx context.Context) error {
		update(t, ctx, one, increment)
		update(t, ctx, one, increment)
		update(t, ctx, two, func(v incident) (incident, error) { v.ID = "x"; return v, nil })
		require.NoError(t, b.session.Attach(ctx, "memory", []byte(`{"n":1}`)))
		require.Empty(t, b.stored(t), "nothing before the step is complete")
		require.Equal(t, 2, get(t, ctx, one), "the step sees its own changes")
		require.Equal(t, 0, writes)
		return nil
	}))
	require.Equal(t, 1, writes)
	for _, part := range []string{`"test.one":2`, `"test.two":{"ID":"x"`, `"memory":{"n":1}`, `{"name":"step","result":{}}`} {
		require.Contains(t, b.stored(t), part)
	}
}

func TestWhatAStepChangesIsSeenOutsideOnlyAfterItsCommit(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	h := counter(t)
	require.Zero(t, get(t, b.ctx, h))
	require.NoError(t, step(b.ctx, "step", func(ctx context.Context) error {
		update(t, ctx, h, increment)
		require.Zero(t, get(t, b.ctx, h))
		return nil
	}))
	require.Equal(t, 1, get(t, b.ctx, h))
}

func TestAStepThatDoesNotSucceedLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(cancel context.CancelFunc) (any, error){
		"error":         func(context.CancelFunc) (any, error) { return nil, errOutage },
		"panic":         func(context.CancelFunc) (any, error) { panic("boom") },
		"cancelled":     func(cancel context.CancelFunc) (any, error) { cancel(); return "done", nil },
		"bad result":    func(context.CancelFunc) (any, error) { return math.NaN(), nil },
		"goroutine end": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setUp(t, nil)
			h, lazy := counter(t), define(t, "test.lazy", func() int { return 7 })
			update(t, b.ctx, h, increment)
			before := b.stored(t)

			attempt := func() (err error) {
				ctx, cancel := context.WithCancel(b.ctx)
				defer cancel()
				defer func() {
					if r := recover(); r != nil {
						require.Equal(t, "boom", r, "a panic is the caller's")
						err = errors.New("panicked")
					}
				}()
				_, err = state.Step(ctx, "step", func(ctx context.Context) (any, error) {
					require.Equal(t, 1, get(t, ctx, h), "the state at the step's beginning")
					update(t, ctx, h, func(int) (int, error) { return 99, nil })
					get(t, ctx, lazy)
					require.NoError(t, b.session.Attach(ctx, "memory", []byte("1")))
					return end(cancel)
				})
				return err
			}
			for range 2 {
				if end == nil {
					goexit(t, b.ctx, h)
					continue
				}
				require.Error(t, attempt())
			}
			require.Equal(t, before, b.stored(t))
			require.Equal(t, 1, get(t, b.ctx, h))
			_, err := b.session.Attachment(b.ctx, "memory")
			require.ErrorIs(t, err, state.ErrNoAttachment)
			require.NoError(t, step(b.ctx, "step", func(ctx context.Context) error { update(t, ctx, h, increment); return nil }))
			require.Equal(t, 2, get(t, b.ctx, h))
		})
	}
}

// goexit ends the goroutine of a step inside it, as t.FailNow does.
func goexit(t *testing.T, ctx context.Context, h *state.Handle[int]) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = step(ctx, "step", func(ctx context.Context) error {
			_, err := h.Update(ctx, func(int) (int, error) { return 99, nil })
			assert.NoError(t, err)
			runtime.Goexit()
			return nil
		})
	}()
	<-done
}

func TestAStepsErrorIsReturnedAsItIs(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	require.Equal(t, errOutage, step(b.ctx, "step", func(context.Context) error { return errOutage }))
	ctx, cancel := context.WithCancel(b.ctx)
	err := step(ctx, "step", func(context.Context) error { cancel(); return nil })
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, `"step"`)
}

func TestStepsDoNotNest(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	never := func(context.Context) error { panic("must not run") }
	require.NoError(t, step(b.ctx, "outer", func(ctx context.Context) error {
		require.ErrorIs(t, step(ctx, "inner", never), state.ErrNested)
		require.ErrorIs(t, step(b.ctx, "inner", never), state.ErrNested, "also with the context from outside")
		require.ErrorIs(t, b.session.BeginTurn(ctx, "t2"), state.ErrNested)
		require.ErrorIs(t, b.session.BeginTurn(b.ctx, "t2"), state.ErrNested)
		require.ErrorIs(t, b.session.Reset(ctx), state.ErrNested)
		require.ErrorIs(t, b.session.Reset(b.ctx), state.ErrNested)
		_, err := counter(t).Update(b.ctx, increment)
		require.ErrorIs(t, err, state.ErrNested)
		require.ErrorIs(t, b.session.Attach(b.ctx, "a", []byte("1")), state.ErrNested)
		require.Equal(t, ctx, b.session.Context(ctx), "binding the step's context again changes nothing")
		return nil
	}))
	_, err := counter(t).Update(b.ctx, func(v int) (int, error) {
		require.ErrorIs(t, step(b.ctx, "inside an update", never), state.ErrNested)
		require.ErrorIs(t, b.session.BeginTurn(b.ctx, "t2"), state.ErrNested)
		return v + 1, nil
	})
	require.NoError(t, err)
}

func TestStepsOfASessionRunOneAtATime(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	var running, most atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			assert.NoError(t, step(b.ctx, "step", func(context.Context) error {
				most.Store(max(most.Load(), running.Add(1)))
				defer running.Add(-1)
				return nil
			}))
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, most.Load())
	require.Equal(t, 8, strings.Count(b.stored(t), `"name":"step"`))
}

func TestWhatWaitsForARunningStepHonoursItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setUp(t, nil)
		release := make(chan struct{})
		go func() {
			assert.NoError(t, step(b.ctx, "long", func(context.Context) error { <-release; return nil }))
		}()
		synctest.Wait()
		for name, use := range map[string]func(ctx context.Context) error{
			"step":      func(ctx context.Context) error { return step(ctx, "short", func(context.Context) error { return nil }) },
			"update":    func(ctx context.Context) error { _, err := counter(t).Update(ctx, increment); return err },
			"first get": func(ctx context.Context) error { _, err := counter(t).Get(ctx); return err },
			"turn":      func(ctx context.Context) error { return b.session.BeginTurn(ctx, "t2") },
			"child":     func(ctx context.Context) error { _, err := b.session.Child(ctx, "n"); return err },
			"attach":    func(ctx context.Context) error { return b.session.Attach(ctx, "a", []byte("1")) },
			"reset":     func(ctx context.Context) error { return b.session.Reset(ctx) },
		} {
			ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
			started := time.Now()
			require.ErrorIs(t, use(ctx), context.DeadlineExceeded, name)
			require.Equal(t, time.Minute, time.Since(started), name)
			cancel()
		}
		done := make(chan error)
		go func() { done <- b.session.Reset(b.ctx) }()
		synctest.Wait()
		close(release)
		require.NoError(t, <-done, "a reset waits for the step's end")
	})
}

func TestAContextWhoseStepHasEndedIsStale(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	h := counter(t)
	var ended context.Context
	require.NoError(t, step(b.ctx, "step", func(ctx context.Context) error { ended = ctx; update(t, ctx, h, increment); return nil }))
	before := b.stored(t)
	for _, ctx := range []context.Context{ended, b.session.Context(ended)} {
		_, err := h.Get(ctx)
		require.ErrorIs(t, err, state.ErrStale)
		_, err = h.Update(ctx, increment)
		require.ErrorIs(t, err, state.ErrStale)
		require.ErrorIs(t, step(ctx, "step", func(context.Context) error { return nil }), state.ErrStale)
		require.ErrorIs(t, b.session.Attach(ctx, "a", []byte("1")), state.ErrStale)
		_, err = b.session.Attachment(ctx, "a")
		require.ErrorIs(t, err, state.ErrStale)
		_, err = b.session.Child(ctx, "n")
		require.ErrorIs(t, err, state.ErrStale)
	}
	require.Equal(t, before, b.stored(t))
}

func TestAnUpdateThatOutlivesItsStepIsStaleAndBlocksNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setUp(t, nil)
		h := counter(t)
		release, outcome := make(chan struct{}), make(chan error, 1)
		require.NoError(t, step(b.ctx, "first", func(ctx context.Context) error {
			go func() {
				_, err := h.Update(ctx, func(v int) (int, error) { <-release; return v + 100, nil })
				outcome <- err
			}()
			synctest.Wait()
			return nil
		}))
		require.NoError(t, step(b.ctx, "second", func(ctx context.Context) error { update(t, ctx, h, increment); return nil }))
		close(release)
		require.ErrorIs(t, <-outcome, state.ErrStale)
		require.Equal(t, 1, get(t, b.ctx, h))
	})
}

func TestAStepNeedsATurnAndAName(t *testing.T) {
	t.Parallel()
	s, err := state.Open(t.Context(), state.InMemory(), state.ID{Session: "s"}, nil)
	require.NoError(t, err)
	ctx := s.Context(t.Context())
	require.ErrorIs(t, step(ctx, "step", func(context.Context) error { return nil }), state.ErrNoTurn)
	_, err = s.Child(ctx, "node")
	require.ErrorIs(t, err, state.ErrNoTurn)
	require.Error(t, s.BeginTurn(ctx, ""))
	require.Error(t, s.BeginTurn(ctx, "\xff"))
	require.NoError(t, s.BeginTurn(ctx, "t"))
	require.Error(t, step(ctx, "", func(context.Context) error { return nil }))
	require.Error(t, step(ctx, "\xff", func(context.Context) error { return nil }))
	require.NoError(t, step(ctx, "step", func(context.Context) error { return nil }))
}

func TestTurnTellsWhichTurnToResume(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	require.Equal(t, "t1", b.session.Turn())
	require.NoError(t, step(b.ctx, "step", func(context.Context) error { return nil }))
	s, err := state.Open(t.Context(), b.store, state.ID{Session: "s"}, nil)
	require.NoError(t, err)
	require.Equal(t, "t1", s.Turn())
}

func TestARecordedResultThatNoLongerDecodesIsAnErrorThatNamesTheStep(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	_, err := state.Step(b.ctx, "model", func(context.Context) (string, error) { return "text", nil })
	require.NoError(t, err)
	b = reopen(t, b.store, "t1")
	for range 2 {
		_, err = state.Step(b.ctx, "model", func(context.Context) (int, error) { panic("it is completed") })
		require.ErrorIs(t, err, state.ErrDecode)
		require.ErrorContains(t, err, `step "model"`)
		require.ErrorContains(t, err, "a new turn")
	}
	_, err = state.Step(b.ctx, "model", func(context.Context) (string, error) { panic("it is completed") })
	require.NoError(t, err)
}

func TestACheckpointOverItsLimitIsRefusedWithTheLargestHandle(t *testing.T) {
	t.Parallel()
	store := state.InMemory()
	s, err := state.Open(t.Context(), store, state.ID{Session: "s"}, &state.Options{MaxBytes: 2000})
	require.NoError(t, err)
	require.NoError(t, s.BeginTurn(t.Context(), "t1"))
	ctx := s.Context(t.Context())
	small, large := define(t, "test.small", zero[string]), define(t, "test.large", zero[string])
	update(t, ctx, small, func(string) (string, error) { return strings.Repeat("s", 100), nil })
	grow := func(ctx context.Context) error {
		_, err := large.Update(ctx, func(string) (string, error) { return strings.Repeat("l", 3000), nil })
		return err
	}
	for _, err := range []error{grow(ctx), step(ctx, "step", grow)} {
		require.ErrorIs(t, err, state.ErrTooLarge)
		require.ErrorContains(t, err, `"test.large"`)
		var size *state.SizeError
		require.ErrorAs(t, err, &size)
		require.Equal(t, 2000, size.Limit)
		require.Equal(t, 3002, size.HandleSize)
	}
	_, err = state.Step(ctx, "result", func(context.Context) (string, error) { return strings.Repeat("r", 3000), nil })
	require.ErrorContains(t, err, `step "result"`)
	require.ErrorContains(t, err, `"test.small"`)
	require.ErrorContains(t, s.Attach(ctx, "memory", []byte(`"`+strings.Repeat("a", 3000)+`"`)), `attachment "memory"`)
	require.Empty(t, get(t, ctx, large), "the old value stays")
	require.NoError(t, step(ctx, "step", func(ctx context.Context) error {
		update(t, ctx, small, func(string) (string, error) { return "s", nil })
		return nil
	}))
}

func TestAttachmentsStayOverTurnsUntilTheyAreRemoved(t *testing.T) {
	t.Parallel()
	b := setUp(t, nil)
	require.NoError(t, b.session.Attach(b.ctx, "memory", []byte(" {\"a\": [1]}\n")))
	require.NoError(t, b.session.Attach(b.ctx, "other", []byte("1")))
	b = reopen(t, b.store, "t2")
	require.NoError(t, step(b.ctx, "step", func(ctx context.Context) error {
		raw, err := b.session.Attachment(ctx, "memory")
		require.NoError(t, err)
		require.Equal(t, `{"a": [1]}`, string(raw))
		raw[0] = 'x'
		require.NoError(t, b.session.Attach(ctx, "memory", nil))
		_, err = b.session.Attachment(ctx, "memory")
		require.ErrorIs(t, err, state.ErrNoAttachment)
		raw, err = b.session.Attachment(b.ctx, "memory")
		require.NoError(t, err, "outside it is still there")
		require.Equal(t, `{"a": [1]}`, string(raw))
		return nil
	}))
	b = reopen(t, b.store, "t3")
	_, err := b.session.Attachment(b.ctx, "memory")
	require.ErrorIs(t, err, state.ErrNoAttachment)
	_, err = b.session.Attachment(b.ctx, "other")
	require.NoError(t, err)
	for _, bad := range []string{"", "{", "\"\xff\"", "1 2", strings.Repeat("[", 9001) + strings.Repeat("]", 9001)} {
		require.Error(t, b.session.Attach(b.ctx, "bad", []byte(bad)), "%q", bad)
	}
	require.Error(t, b.session.Attach(b.ctx, "", []byte("1")))
}
