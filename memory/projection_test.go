package memory_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

// naive is the projection by its definition: filter first, then drop what a later record of the same item replaces.
func naive(t testing.TB, history []memory.Message, slot, namespaceKey, scopeKey string, visibility memory.Visibility) []string {
	type record struct{ Slot, NamespaceKey, ScopeKey, ItemKey string }
	read := func(m memory.Message) (r record) {
		var metadata map[string]map[string]any
		require.NoError(t, json.Unmarshal(m.Metadata(), &metadata))
		members := metadata["eve.memory"]
		r.Slot, r.NamespaceKey, r.ScopeKey = members["slot"].(string), members["namespaceKey"].(string), members["scopeKey"].(string)
		r.ItemKey, _ = members["itemKey"].(string)
		return r
	}
	var shown []string
	for i, m := range history {
		if !m.IsRecord() {
			shown = append(shown, m.Text())
			continue
		}
		r := read(m)
		visible := r.Slot == slot && r.NamespaceKey == namespaceKey && (visibility == memory.VisibilitySession || r.ScopeKey == scopeKey)
		for _, later := range history[i+1:] {
			if later.IsRecord() && r.ItemKey != "" && read(later) == r {
				visible = false
			}
		}
		if visible {
			shown = append(shown, m.Text())
		}
	}
	return shown
}

func TestViewIsTheProjectionByItsDefinition(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 7))
		pick := func(options ...string) string { return options[random.IntN(len(options))] }
		visibility := memory.Visibility(pick("scope", "session"))
		var namespace, owner string
		var items []memory.Item
		b := newBundle(t, nil)
		for turn := range 8 {
			namespace, owner = pick("n1", "n2"), pick("u1", "u2", "u3")
			items = items[:0]
			for _, id := range random.Perm(4) {
				item := memory.Item{ID: fmt.Sprint("id", id), Content: pick("a", "b", "c") + fmt.Sprint(id)}
				if id == 0 {
					item = memory.Item{Content: pick("loose", "other")}
				}
				if random.IntN(2) == 0 {
					items = append(items, item)
				}
			}
			b.replace(nil,
				memory.Slot{Name: "p", Provider: recalls(items...), Scope: scope.String(owner), Namespace: scope.Namespace(namespace), Visibility: visibility})
			view := b.start(fmt.Sprint("q", turn))
			keys := must(scope.Derive(scope.Namespace(namespace), scope.String(owner)))
			want := naive(t, b.history, "p", keys.Namespace, keys.Scope, visibility)
			require.Equal(t, want, texts(view.Messages), "seed %d, turn %d", seed, turn)
			require.Equal(t, want, texts(must(b.book.Project(b.history))))
			require.Equal(t, fmt.Sprint("q", turn), view.Messages[view.Start].Text())

			records, ordinary, err := memory.Canonical(b.history)
			require.NoError(t, err)
			canonical := append(records[:len(records):len(records)], ordinary...)
			require.ElementsMatch(t, want, texts(must(b.book.Project(canonical))), "an equivalent history")
			require.Equal(t, records, must3(memory.Canonical(canonical)), "canonical already")
		}
	}
}

func must3[T, U any](value T, _ U, err error) T { return must(value, err) }

func TestRecordLimitIsForCountOrBytesOfJSON(t *testing.T) {
	t.Parallel()
	commit := func(items ...memory.Item) []memory.Message {
		records, _, err := memory.Bookkeeping{}.Commit(nil, []memory.Batch{
			{Slot: "p", Namespace: app, Scope: scope.String("u"), OperationID: "op", Items: items},
		})
		require.NoError(t, err)
		return records
	}
	many := make([]memory.Item, 513)
	for i := range many {
		many[i].Content = "x"
	}
	require.True(t, memory.OverRecordLimit(commit(many...)))
	require.False(t, memory.OverRecordLimit(commit(many[:512]...)))
	require.True(t, memory.OverRecordLimit(through(t, commit(many...))))
	require.False(t, memory.OverRecordLimit(conversation(2000)), "ordinary messages do not count")

	one := commit(memory.Item{Content: "x"})
	free := memory.MaxRecordBytes - len(must(one[0].MarshalJSON())) + 1
	require.False(t, memory.OverRecordLimit(commit(memory.Item{Content: strings.Repeat("é", free/2)})))
	require.True(t, memory.OverRecordLimit(commit(memory.Item{Content: strings.Repeat("é", free/2+1)})))
}

func TestThousandItemsOfOneAnswer(t *testing.T) {
	t.Parallel()
	items := make([]memory.Item, 1000)
	for i := range items {
		items[i] = memory.Item{ID: fmt.Sprint(i), Content: fmt.Sprint("c", i)}
	}
	b := newBundle(t, nil, memory.Slot{Name: "p", Provider: recalls(items...)})
	require.Len(t, b.start("q").Records, 1000)
	require.Empty(t, b.start("q").Records)
	items[999].ID = "0"
	_, err := b.m.StartTurn(t.Context(), b.request("q"))
	require.ErrorIs(t, err, memory.ErrDuplicateItem)
}
