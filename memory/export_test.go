package memory_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
	"github.com/recollect-go/recollect/state"
)

func export(t testing.TB, b *bundle, name string, slots ...string) (string, *memory.Export, error) {
	t.Helper()
	var out bytes.Buffer
	e, err := b.m.Export(context.Background(), &memory.ExportCall{Session: caller(name), Slots: slots}, &out)
	return out.String(), e, err
}

func exports(f func(context.Context, *memory.ExportRequest) error) memory.Handlers {
	h := recalls()
	h.Export = f
	return h
}

func TestExportOfVersion1IsWrittenAsItWas(t *testing.T) {
	t.Parallel()
	backend := filememory.InMemory()
	files, err := filememory.New(backend, nil)
	require.NoError(t, err)
	_, err = files.Slot("profile").Save(t.Context(), keyOf(app, "acme"), "Prefers Chinese & <b>.")
	require.NoError(t, err)
	notes := exports(func(_ context.Context, r *memory.ExportRequest) error {
		if r.Key != keyOf(app, "acme") {
			return errors.New("another key")
		}
		for _, record := range []*memory.ExportedRecord{
			{Kind: "note", ID: "n1", Content: "Berlin\u2028office", Metadata: json.RawMessage(`{ "captured": true, "score": 1.50 }`)},
			{Kind: "vector", Metadata: json.RawMessage(`{"model":"m","values":[0.5,1]}`)},
		} {
			if err := r.Write(record); err != nil {
				return err
			}
		}
		return nil
	})
	b := newBundle(t, nil,
		memory.Slot{Name: "profile", Provider: files, Scope: byCurrent},
		memory.Slot{Name: "off", Provider: files, Scope: scope.ByChannel("thread")},
		memory.Slot{Name: "notes", Provider: notes, Scope: byCurrent},
		memory.Slot{Name: "silent", Provider: recalls(), Scope: byCurrent})
	text, result, err := export(t, b, "acme")
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.ErrorContains(t, err, `slot "silent", export: the provider has no Export`)
	want, err := os.ReadFile("testdata/export_v1.jsonl")
	require.NoError(t, err)
	require.Equal(t, string(want), text)
	require.Equal(t, []memory.SlotStatus{memory.SlotDone, memory.SlotDisabled, memory.SlotDone, memory.SlotUnsupported}, statuses(result.Slots))
	require.Equal(t, []int{1, 0, 2, -1}, []int{result.Slots[0].Records, result.Slots[1].Records, result.Slots[2].Records, result.Slots[3].Records})

	text, _, err = export(t, b, "acme", "profile")
	require.NoError(t, err)
	require.Equal(t, 3, strings.Count(text, "\n"))
	require.Contains(t, text, `{"end":true,"records":1,"missing":[]}`)
}

func TestExportOfATenantHoldsNothingOfTheOther(t *testing.T) {
	t.Parallel()
	v := newVault("acme", "evil")
	b := newBundle(t, nil, v.slot("p"))
	text, _, err := export(t, b, "acme")
	require.NoError(t, err)
	require.Contains(t, text, "two of acme")
	require.NotContains(t, text, "evil")
}

func TestExportHoldsWhatWaitsInTheOutbox(t *testing.T) {
	t.Parallel()
	k := keeper{fails: errDown}
	slot := k.slot("p")
	h := k.handlers()
	h.Export = func(context.Context, *memory.ExportRequest) error { return nil }
	slot.Provider, slot.Scope = h, byCurrent
	b := newBundle(t, &memory.Options{Outbox: outbox(t, state.InMemory())}, slot)
	for _, name := range []string{"acme", "evil"} {
		b.session.Current = tenant(name)
		b.start("words of " + name)
		b.reply("answer")
		require.ErrorIs(t, b.complete(), errDown)
	}
	text, result, err := export(t, b, "acme")
	require.NoError(t, err)
	require.Equal(t, 1, result.Slots[0].Captures)
	require.NotContains(t, text, "evil")
	line := strings.Split(text, "\n")[1]
	require.Contains(t, line, `"kind":"memory.pending","id":"eve-memory-operation-v1:session_1:1:turn_1:turn.completed:p"`)
	require.Contains(t, line, `"messages":[{"role":"user","kind":"user","content":"words of acme"},{"role":"assistant","content":"answer"}]`)
	require.True(t, json.Valid([]byte(line)))
}

// full is a writer that fails after some bytes.
type full struct{ left int }

func (w *full) Write(p []byte) (int, error) {
	n := min(len(p), w.left)
	w.left -= n
	if n < len(p) {
		return n, errDown
	}
	return n, nil
}

func TestExportEndsWithTheErrorOfItsWriter(t *testing.T) {
	t.Parallel()
	v, w := newVault("acme"), newVault("acme")
	asked := false
	h := w.handlers()
	inner := h.Export
	h.Export = func(ctx context.Context, r *memory.ExportRequest) error {
		asked = true
		_ = inner(ctx, r) // forgets the error
		return nil
	}
	for _, room := range []int{0, 100, 250} {
		b := newBundle(t, nil, v.slot("a"), memory.Slot{Name: "b", Provider: h, Scope: byCurrent})
		asked = false
		result, err := b.m.Export(t.Context(), &memory.ExportCall{Session: caller("acme")}, &full{room})
		require.ErrorIs(t, err, errDown)
		require.False(t, asked)
		require.Equal(t, []memory.SlotStatus{memory.SlotFailed, memory.SlotFailed}, statuses(result.Slots))
	}
	b := newBundle(t, nil, memory.Slot{Name: "b", Provider: h, Scope: byCurrent})
	_, err := b.m.Export(t.Context(), &memory.ExportCall{Session: caller("acme")}, &full{150})
	require.ErrorIs(t, err, errDown)
	require.True(t, asked)
}

func TestExportRefusesRecordsThatAreNone(t *testing.T) {
	t.Parallel()
	for name, record := range map[string]*memory.ExportedRecord{
		"nil":              nil,
		"no kind":          {Content: "x"},
		"kind":             {Kind: "\xff"},
		"id":               {Kind: "k", ID: "\xff"},
		"content":          {Kind: "k", Content: "secret\xff"},
		"metadata":         {Kind: "k", Metadata: json.RawMessage(`{`)},
		"metadata, array":  {Kind: "k", Metadata: json.RawMessage(`[]`)},
		"metadata, two":    {Kind: "k", Metadata: json.RawMessage(`{} {}`)},
		"metadata, zero":   {Kind: "k", Metadata: json.RawMessage{}},
		"metadata, binary": {Kind: "k", Metadata: json.RawMessage("{\"a\":\"\xff\"}")},
	} {
		b := newBundle(t, nil, memory.Slot{Name: "p", Provider: exports(func(_ context.Context, r *memory.ExportRequest) error {
			_ = r.Write(record)
			return nil
		}), Scope: byCurrent})
		text, result, err := export(t, b, "acme")
		require.ErrorIs(t, err, memory.ErrExport, name)
		require.NotContains(t, err.Error(), "secret")
		require.Equal(t, memory.SlotFailed, result.Slots[0].Status, name)
		require.Contains(t, text, `{"end":true,"records":0,"missing":["p"]}`, name)
	}
}

func TestExportGoesOnAfterASlotThatFailed(t *testing.T) {
	t.Parallel()
	v := newVault("acme")
	b := newBundle(t, nil,
		memory.Slot{Name: "rude", Provider: exports(func(context.Context, *memory.ExportRequest) error { panic("secret") }), Scope: byCurrent},
		memory.Slot{Name: "down", Provider: exports(func(context.Context, *memory.ExportRequest) error { return errDown }), Scope: byCurrent, BestEffort: true},
		v.slot("a"))
	text, result, err := export(t, b, "acme")
	require.ErrorIs(t, err, errDown)
	require.NotContains(t, err.Error(), "secret")
	require.Equal(t, []memory.SlotStatus{memory.SlotFailed, memory.SlotFailed, memory.SlotDone}, statuses(result.Slots))
	require.Contains(t, text, "one of acme")
	require.Contains(t, text, `"missing":["rude","down"]`)
	_, result, err = export(t, b, "acme", "none")
	require.ErrorIs(t, err, memory.ErrInvalidRequest)
	require.Nil(t, result)
}

func TestNothingIsWrittenAfterAnExportWasCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var refused atomic.Int64
		deaf := exports(func(_ context.Context, r *memory.ExportRequest) error {
			for range 60 {
				if r.Write(&memory.ExportedRecord{Kind: "k", Content: "x"}) != nil {
					refused.Add(1)
				}
				time.Sleep(time.Second)
			}
			return nil
		})
		b := newBundle(t, nil, memory.Slot{Name: "deaf", Provider: deaf, Scope: byCurrent})
		ctx, cancel := context.WithTimeout(t.Context(), 9500*time.Millisecond)
		defer cancel()
		var out bytes.Buffer
		result, err := b.m.Export(ctx, &memory.ExportCall{Session: caller("acme")}, &out)
		require.ErrorIs(t, err, memory.ErrCancelled)
		require.Equal(t, 10, result.Slots[0].Records)
		length := out.Len()
		require.Contains(t, out.String(), `{"end":true,"records":10,"missing":["deaf"]}`)
		time.Sleep(time.Hour)
		require.Equal(t, length, out.Len())
		require.EqualValues(t, 50, refused.Load())
	})
}
