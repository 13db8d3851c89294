package filememory_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/memory"
)

// The document of the benchmarks has 50 entries, which fit into the default limit of the recalled message.
const benchEntries = 50

func fill(tb testing.TB, slot *filememory.Slot, entries int) {
	tb.Helper()
	for i := range entries {
		_, err := slot.Save(tb.Context(), key, fmt.Sprintf("memory number %d, a short sentence.", i))
		require.NoError(tb, err)
	}
}

const benchText = "the pager is in the second drawer"

func BenchmarkSaveAndRemove(b *testing.B) {
	b.Run("host", func(b *testing.B) {
		slot := newProvider(b, filememory.InMemory(), nil).Slot("profile")
		fill(b, slot, benchEntries)
		b.ReportAllocs()
		for b.Loop() {
			saveAndRemove(b, slot)
		}
	})
	b.Run("tools", func(b *testing.B) {
		provider := newProvider(b, filememory.InMemory(), nil)
		fill(b, provider.Slot("profile"), benchEntries)
		save, remove := tools(b, provider)
		b.ReportAllocs()
		for n := int64(benchEntries); b.Loop(); n++ {
			callSaveAndRemove(b, save, remove, n)
		}
	})
	b.Run("floor: two reads and two writes", func(b *testing.B) {
		backend := filememory.InMemory()
		fill(b, newProvider(b, backend, nil).Slot("profile"), benchEntries)
		b.ReportAllocs()
		for b.Loop() {
			rewrite(b, backend)
			rewrite(b, backend)
		}
	})
}

// rewrite is what a change of a document costs the backend alone.
func rewrite(tb testing.TB, backend filememory.Backend) {
	content, version, err := backend.Read(tb.Context(), key)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := backend.Write(tb.Context(), key, content, version); err != nil {
		tb.Fatal(err)
	}
}

// saveAndRemove is what the bar is about.
func saveAndRemove(tb testing.TB, slot *filememory.Slot) {
	saved, err := slot.Save(tb.Context(), key, benchText)
	if err != nil || !saved.Saved {
		tb.Fatal(err)
	}
	removed, err := slot.Remove(tb.Context(), key, saved.Index)
	if err != nil || !removed {
		tb.Fatal(err)
	}
}

// callSaveAndRemove is the same pair as the model asks for it; index is that of the entry.
func callSaveAndRemove(tb testing.TB, save, remove memory.Tool, index int64) {
	if _, err := save.Call(tb.Context(), &memory.ToolCall{Input: json.RawMessage(`{"text":"` + benchText + `"}`)}); err != nil {
		tb.Fatal(err)
	}
	input := append(strconv.AppendInt([]byte(`{"index":`), index, 10), '}')
	if _, err := remove.Call(tb.Context(), &memory.ToolCall{Input: input}); err != nil {
		tb.Fatal(err)
	}
}

func TestSaveAndRemoveAllocateLittle(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	const bar = 30.0
	provider := newProvider(t, filememory.InMemory(), nil)
	slot := provider.Slot("profile")
	fill(t, slot, benchEntries)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { saveAndRemove(t, slot) }), bar)

	entries, err := slot.List(t.Context(), key)
	require.NoError(t, err)
	require.Len(t, entries, benchEntries)
	save, remove := tools(t, provider)
	index := int64(benchEntries + 100) // AllocsPerRun makes one run more
	allocations := testing.AllocsPerRun(100, func() {
		index++
		callSaveAndRemove(t, save, remove, index)
	})
	require.LessOrEqual(t, allocations, bar, "through the tools")
	entries, err = slot.List(t.Context(), key)
	require.NoError(t, err)
	require.Len(t, entries, benchEntries, "what was saved was removed")
}

// BenchmarkDirSave runs each save beside its floor: the same bytes written, synced and renamed by hand, and the folder
// synced. It reports the medians of both, which other processes disturb least, and how many times the floor a save costs;
// the bar is 1.2. It needs a disk: on a file system in memory there is nothing to wait for, and the ratio says nothing.
func BenchmarkDirSave(b *testing.B) {
	content := benchDocument(b)
	byHand := b.TempDir()
	dir, err := filememory.Dir(b.TempDir())
	require.NoError(b, err)
	defer dir.Close()
	slot := newProvider(b, dir, nil).Slot("profile")
	fill(b, slot, benchEntries)

	var floors, saves []time.Duration
	for b.Loop() {
		start := time.Now()
		err := replaceByHand(byHand, content)
		floors = append(floors, time.Since(start))
		require.NoError(b, err)

		start = time.Now()
		saved, err := slot.Save(b.Context(), key, benchText)
		saves = append(saves, time.Since(start))
		require.NoError(b, err)
		_, err = slot.Remove(b.Context(), key, saved.Index)
		require.NoError(b, err)
	}
	floor, save := median(floors), median(saves)
	b.ReportMetric(float64(floor), "floor-ns")
	b.ReportMetric(float64(save), "save-ns")
	b.ReportMetric(float64(save)/float64(floor), "x-floor")
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// benchDocument returns the document that the save of the benchmark writes.
func benchDocument(b *testing.B) []byte {
	backend := filememory.InMemory()
	slot := newProvider(b, backend, nil).Slot("profile")
	fill(b, slot, benchEntries)
	_, err := slot.Save(b.Context(), key, benchText)
	require.NoError(b, err)
	content, _, err := backend.Read(b.Context(), key)
	require.NoError(b, err)
	return content
}

// replaceByHand is what a durable write costs at least.
func replaceByHand(dir string, content []byte) error {
	temp := filepath.Join(dir, "temp")
	file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := file.Write(content); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if err := os.Rename(temp, filepath.Join(dir, filememory.FileName)); err != nil {
		return err
	}
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}
