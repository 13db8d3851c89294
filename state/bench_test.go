package state_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/state"
)

// counters is a struct without pointers.
type counters struct {
	Seen, Failed int
	Ratio        float64
	Last         string
}

// BenchmarkGet: no allocation for a struct without pointers. The floor is what any store of values in a context does.
func BenchmarkGet(b *testing.B) {
	b.Run("struct", func(b *testing.B) { benchmarkGet(b, counters{Last: "x"}) })
	b.Run("struct with a slice", func(b *testing.B) { benchmarkGet(b, incident{"x", []string{"a", "b"}}) })
	b.Run("floor: context, mutex, map, copy", func(b *testing.B) {
		type key struct{}
		var mu sync.Mutex
		ctx := context.WithValue(b.Context(), key{}, map[string]any{"bench.value": &counters{Last: "x"}})
		b.ReportAllocs()
		for b.Loop() {
			mu.Lock()
			v := *ctx.Value(key{}).(map[string]any)["bench.value"].(*counters)
			mu.Unlock()
			if v.Last != "x" {
				b.Fatal(v)
			}
		}
	})
}

func benchmarkGet[T any](b *testing.B, value T) {
	h := define(b, "bench.value", func() T { return value })
	ctx := setUp(b, nil).ctx
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.Get(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStep: at most 30 allocations for an Update and the commit of its step, in memory. The floor is the same by
// hand, without steps, turns, checks or copies: decode the value, change it, encode it, and write it on condition.
func BenchmarkStep(b *testing.B) {
	b.Run("struct", func(b *testing.B) {
		benchmarkStep(b, counters{Last: "x"}, func(v counters) (counters, error) { v.Seen++; return v, nil })
	})
	b.Run("struct with a slice", func(b *testing.B) {
		benchmarkStep(b, incident{"x", []string{"a", "b"}}, func(v incident) (incident, error) { v.Checked[0] = "c"; return v, nil })
	})
	b.Run("floor: decode, encode, write", func(b *testing.B) {
		store := state.InMemory()
		k := key(b, state.ID{Session: "floor"})
		raw, version := []byte(`{"ID":"x","Checked":["a","b"]}`), ""
		b.ReportAllocs()
		for b.Loop() {
			var v incident
			err := json.Unmarshal(raw, &v)
			require.NoError(b, err)
			v.Checked[0] = "c"
			raw, err = json.Marshal(v)
			require.NoError(b, err)
			version, err = store.Write(b.Context(), k, raw, version)
			require.NoError(b, err)
		}
	})
}

func benchmarkStep[T any](b *testing.B, value T, fn func(T) (T, error)) {
	h := define(b, "bench.value", func() T { return value })
	s := setUp(b, nil)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if n%stepsPerTurn == 0 {
			if err := s.session.BeginTurn(s.ctx, fmt.Sprint(n)); err != nil {
				b.Fatal(err)
			}
		}
		if err := updateInStep(s.ctx, h, fn); err != nil {
			b.Fatal(err)
		}
	}
}

// stepsPerTurn is how many steps a turn of the benchmark has: some calls of the model, and of tools.
const stepsPerTurn = 10

func updateInStep[T any](ctx context.Context, h *state.Handle[T], fn func(T) (T, error)) error {
	_, err := state.Step(ctx, "step", func(ctx context.Context) (int, error) {
		_, err := h.Update(ctx, fn)
		return 1, err
	})
	return err
}

func TestGetOfAStructWithoutPointersDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	h := define(t, "test.counters", zero[counters])
	ctx := setUp(t, nil).ctx
	get(t, ctx, h)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if _, err := h.Get(ctx); err != nil {
			t.Fatal(err)
		}
	}))
}

func TestAnUpdateAndTheCommitOfItsStepAllocateAtMost30Times(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	h := define(t, "test.incident", func() incident { return incident{"x", []string{"a", "b"}} })
	s := setUp(t, nil)
	updates := 0
	change := func(v incident) (incident, error) { updates++; v.Checked[0] = "c"; return v, nil }
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		if err := updateInStep(s.ctx, h, change); err != nil {
			t.Fatal(err)
		}
	}), 30.0)
	require.Equal(t, 101, updates, "a step that is replayed would allocate less; AllocsPerRun makes one run more")
}
