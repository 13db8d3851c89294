package memory_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/state"
)

// BenchmarkCompleteTurn completes a turn of one capturing slot, without an outbox and with one in memory. The floor is what an outbox cannot leave
// out: writing a record and deleting it.
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
