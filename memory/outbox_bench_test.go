package memory_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/state"
)

// BenchmarkCompleteTurn completes a turn of one capturing slot, without an outbox and with one in memory. The floor of the
// plain one is what no capture can leave out: the view, the provider's copy of it, and a call that has a time limit and a
// goroutine, so that it can be left behind. That of the outbox is writing a record and deleting it.
func BenchmarkCompleteTurn(b *testing.B) {
	noop := captures(func(context.Context, *memory.TurnCompleted) error { return nil })
	run := func(o *memory.Outbox) func(*testing.B) {
		return func(b *testing.B) {
			bundle := newBundle(b, &memory.Options{Outbox: o}, memory.Slot{Name: "p", Provider: noop})
			bundle.history = conversation(20)
			bundle.start("question")
			bundle.reply("answer")
			r := bundle.current()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bundle.m.CompleteTurn(b.Context(), r); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.Run("plain", run(nil))
	b.Run("plain/floor", func(b *testing.B) {
		history := conversation(22)
		b.ReportAllocs()
		for b.Loop() {
			r := &memory.TurnCompleted{Messages: slices.Clone(ordinary(history, 0))}
			ctx, cancel := context.WithTimeout(b.Context(), memory.DefaultCaptureTimeout)
			done := make(chan error, 1)
			go func() { done <- noop.CaptureTurn(ctx, r) }()
			if err := <-done; err != nil {
				b.Fatal(err)
			}
			cancel()
		}
	})
	b.Run("outbox", run(outbox(b, state.InMemory())))
	b.Run("outbox/floor", func(b *testing.B) {
		store, record := state.InMemory(), make([]byte, 600)
		b.ReportAllocs()
		for b.Loop() {
			version, err := store.Write(b.Context(), sampleKey, record, "")
			require.NoError(b, err)
			require.NoError(b, store.Delete(b.Context(), sampleKey, version))
		}
	})
}
