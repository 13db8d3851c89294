package state_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/recollect-go/recollect/state"
)

type counters struct {
	Seen, Failed int
	Last         string
}

var benchRegistry state.Registry

func benchHandle[T any](b *testing.B, name string, initial func() T) *state.Handle[T] {
	h, err := state.DefineIn(&benchRegistry, name, initial)
	if err != nil {
		b.Fatal(err)
	}
	return h
}

func benchSession(b *testing.B) (*state.Session, context.Context) {
	s, err := state.Open(b.Context(), state.InMemory(), state.ID{Session: "bench"}, nil)
	if err != nil {
		b.Fatal(err)
	}
	return s, s.Context(b.Context())
}

func BenchmarkGet(b *testing.B) {
	b.Run("plain", func(b *testing.B) {
		h := benchHandle(b, "bench.counters", func() counters { return counters{Last: "x"} })
		_, ctx := benchSession(b)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := h.Get(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("slice", func(b *testing.B) {
		h := benchHandle(b, "bench.incident", func() incident { return incident{ID: "x", Checked: []string{"a", "b"}} })
		_, ctx := benchSession(b)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := h.Get(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("floor-mutex-and-map", func(b *testing.B) {
		var mu sync.Mutex
		type key struct{}
		values := map[string]any{"bench.counters": &counters{Last: "x"}}
		ctx := context.WithValue(b.Context(), key{}, values)
		b.ReportAllocs()
		for b.Loop() {
			mu.Lock()
			v := *ctx.Value(key{}).(map[string]any)["bench.counters"].(*counters)
			mu.Unlock()
			if v.Last != "x" {
				b.Fatal()
			}
		}
	})
}

func BenchmarkStep(b *testing.B) {
	run := func(b *testing.B, update func(context.Context) error) {
		s, ctx := benchSession(b)
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			if i%10 == 0 {
				if err := s.BeginTurn(ctx, fmt.Sprint(i)); err != nil {
					b.Fatal(err)
				}
			}
			i++
			_, err := state.Step(ctx, "step", func(ctx context.Context) (int, error) { return i, update(ctx) })
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("plain", func(b *testing.B) {
		h := benchHandle(b, "bench.counters", func() counters { return counters{Last: "x"} })
		run(b, func(ctx context.Context) error {
			_, err := h.Update(ctx, func(v counters) (counters, error) { v.Seen++; return v, nil })
			return err
		})
	})
	b.Run("slice", func(b *testing.B) {
		h := benchHandle(b, "bench.incident", func() incident { return incident{ID: "x", Checked: []string{"a", "b"}} })
		run(b, func(ctx context.Context) error {
			_, err := h.Update(ctx, func(v incident) (incident, error) { v.Checked[0] = "c"; return v, nil })
			return err
		})
	})
	b.Run("floor-json", func(b *testing.B) {
		b.ReportAllocs()
		v := incident{ID: "x", Checked: []string{"a", "b"}}
		for b.Loop() {
			raw, _ := json.Marshal(v)
			var w incident
			_ = json.Unmarshal(raw, &w)
			_ = bytes.Clone(raw)
		}
	})
}
