package state_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/state"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// stamped opens a session that committed when it was so long ago, at noon.
func stamped(t *testing.T, store state.Store, session string, ago time.Duration) *state.Session {
	t.Helper()
	s, err := state.Open(t.Context(), store, state.ID{Session: session}, &state.Options{Now: func() time.Time { return noon.Add(-ago) }})
	require.NoError(t, err)
	update(t, s.Context(t.Context()), counter(t), increment)
	return s
}

func sweep(t *testing.T, store state.Store, cursor string, limit int) *state.SweepReport {
	t.Helper()
	report, err := state.Sweep(t.Context(), store, &state.SweepOptions{
		IdleFor: time.Hour, Cursor: cursor, Limit: limit, Now: func() time.Time { return noon },
	})
	require.NoError(t, err)
	return report
}

func TestASweepDeletesWhatWasIdleLongerThanTheGivenTime(t *testing.T) {
	t.Parallel()
	store := state.InMemory()
	for session, ago := range map[string]time.Duration{"idle": time.Hour + time.Millisecond, "edge": time.Hour, "new": 0, "future": -time.Hour} {
		stamped(t, store, session, ago)
	}
	require.Equal(t, &state.SweepReport{Checked: 4, Deleted: 1}, sweep(t, store, "", 0))
	_, _, err := store.Read(t.Context(), key(t, state.ID{Session: "idle"}))
	require.Error(t, err)
	require.Equal(t, &state.SweepReport{Checked: 3}, sweep(t, store, "", 0))
}

func TestASweepGoesPageByPage(t *testing.T) {
	t.Parallel()
	store := state.InMemory()
	for i := range 10 {
		stamped(t, store, strings.Repeat("s", i+1), time.Duration(i%2)*2*time.Hour)
	}
	checked, deleted, pages := 0, 0, 0
	for cursor := ""; pages == 0 || cursor != ""; pages++ {
		report := sweep(t, store, cursor, 3)
		require.LessOrEqual(t, report.Checked, 3)
		checked, deleted, cursor = checked+report.Checked, deleted+report.Deleted, report.Next
	}
	require.Equal(t, []int{10, 5, 4}, []int{checked, deleted, pages})
}

func TestASweepLeavesAloneWhatItDoesNotUnderstand(t *testing.T) {
	t.Parallel()
	store := state.InMemory()
	full := sample(t, "v1/full.json")
	write := func(key, content string) string {
		_, err := store.Write(t.Context(), key, []byte(content), "")
		require.NoError(t, err)
		return key
	}
	write("memscope1_"+strings.Repeat("a", 43), "a memory document")
	write("memstate2_"+strings.Repeat("a", 43), full)
	newer := write("memstate1_"+strings.Repeat("b", 43), strings.Replace(full, `"version":1`, `"version":2`, 1))
	torn := write("memstate1_"+strings.Repeat("c", 43), full[:100])
	report := sweep(t, store, "", 0)
	require.ElementsMatch(t, []string{newer, torn}, report.Unreadable)
	require.Zero(t, report.Deleted)
	keys, _, err := store.List(t.Context(), "", 10)
	require.NoError(t, err)
	require.Len(t, keys, 4)
}

func TestASweepGoesOnBehindADocumentOverTheStoresLimit(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	large, err := state.Dir(root, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, large.Close()) })
	s := stamped(t, large, "large", 2*time.Hour)
	update(t, s.Context(t.Context()), define(t, "test.text", zero[string]), func(string) (string, error) { return strings.Repeat("x", 2000), nil })
	stamped(t, large, "small", 2*time.Hour)

	small, err := state.Dir(root, &state.DirOptions{MaxBytes: 1000})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, small.Close()) })
	report := sweep(t, small, "", 0)
	require.Equal(t, &state.SweepReport{Checked: 1, Deleted: 1, Unreadable: []string{key(t, s.ID())}}, report)
}

func TestASweepGoesOnBehindWhatIsNoDocument(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	store, err := state.Dir(root, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	stamped(t, store, "idle", 2*time.Hour)
	stray := "memstate1_" + strings.Repeat("A", 43)
	require.NoError(t, os.WriteFile(filepath.Join(root, stray), []byte("precious"), 0o600))

	_, _, err = store.Read(t.Context(), stray)
	require.ErrorIs(t, err, state.ErrShape)
	report := sweep(t, store, "", 0)
	require.Equal(t, &state.SweepReport{Checked: 1, Deleted: 1, Unreadable: []string{stray}}, report)
	content, err := os.ReadFile(filepath.Join(root, stray))
	require.NoError(t, err)
	require.Equal(t, "precious", string(content))
}

// racing is a store in which a session commits between the sweep's look and its delete.
type racing struct {
	*state.MemoryStore
	commit func()
}

func (r *racing) Delete(ctx context.Context, key, expected string) error {
	r.commit()
	return r.MemoryStore.Delete(ctx, key, expected)
}

func TestASessionThatCommitsDuringTheSweepStays(t *testing.T) {
	t.Parallel()
	store := &racing{MemoryStore: state.InMemory()}
	s := stamped(t, store, "s", 2*time.Hour)
	store.commit = func() { update(t, s.Context(t.Context()), counter(t), increment) }
	require.Equal(t, &state.SweepReport{Checked: 1}, sweep(t, store, "", 0))
	require.Equal(t, 2, get(t, s.Context(t.Context()), counter(t)))
}

func TestASweepReportsWhatItDidBeforeAnError(t *testing.T) {
	t.Parallel()
	store := &stubborn{MemoryStore: state.InMemory(), skip: 1, failures: 1}
	for _, session := range []string{"a", "b", "c"} {
		stamped(t, store, session, 2*time.Hour)
	}
	report, err := state.Sweep(t.Context(), store, &state.SweepOptions{IdleFor: time.Hour, Now: func() time.Time { return noon }})
	require.ErrorIs(t, err, errOutage)
	require.Equal(t, 1, report.Deleted)
	require.Equal(t, 2, sweep(t, store, report.Next, 0).Deleted)
}

// unlisted hides that a store can list.
type unlisted struct{ state.Store }

func TestASweepNeedsAListerAndATime(t *testing.T) {
	t.Parallel()
	_, err := state.Sweep(t.Context(), unlisted{state.InMemory()}, &state.SweepOptions{IdleFor: time.Hour})
	require.ErrorIs(t, err, errors.ErrUnsupported)
	for _, o := range []*state.SweepOptions{nil, {}, {IdleFor: -1}, {IdleFor: 1, Limit: -1}} {
		_, err := state.Sweep(t.Context(), state.InMemory(), o)
		require.Error(t, err)
	}
}
