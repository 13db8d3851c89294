package integration_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/notes"
	"github.com/stretchr/testify/require"
)

// querier is a pool, for helpers that read tables by hand.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// letters is an Embedder whose vectors count letters, and hold that a dog and a hound are nearly the same. *fail, when not
// nil, is its error.
func letters(fail *error) *notes.Embedder {
	return &notes.Embedder{Model: "letters", Dimensions: 27, Embed: func(_ context.Context, r *notes.EmbedRequest) ([][]float32, error) {
		if fail != nil && *fail != nil {
			return nil, *fail
		}
		vectors := make([][]float32, len(r.Texts))
		for i, text := range r.Texts {
			vectors[i] = make([]float32, 27)
			vectors[i][26] = 0.1
			for _, c := range strings.ReplaceAll(strings.ToLower(text), "hound", "dogdogdog") {
				if c >= 'a' && c <= 'z' {
					vectors[i][c-'a']++
				}
			}
		}
		return vectors, nil
	}}
}

func testNotesVectors(t *testing.T, d database) {
	t.Run("what has the meaning and not the words is found", func(t *testing.T) {
		store, _ := d.notes(t, &notes.Options{Embedder: letters(nil)})
		key := keyOf("meaning")
		addFacts(t, store, key, "A hound!", "Quite six jumpy wizards.", "My box of fuel.")
		require.Equal(t, "A hound!", searchFacts(t, store, key, "dog")[0])
		plain, _ := d.notes(t, nil)
		addFacts(t, plain, key, "A hound!")
		require.Empty(t, searchFacts(t, plain, key, "dog"))
	})

	t.Run("a failing embedder stores nothing and recalls nothing", func(t *testing.T) {
		var fail error
		store, _ := d.notes(t, &notes.Options{Embedder: letters(&fail)})
		a := attach(t, store, keyOf("failing"), nil)
		addFacts(t, store, a.key, "A hound!")
		fail = errors.New("unreachable")
		_, err := store.Add(t.Context(), a.key, notes.Draft{Text: "Lost?"})
		require.ErrorIs(t, err, notes.ErrEmbedding)
		require.ErrorIs(t, err, fail)
		turn := a.turn("t", memory.UserMessage("hello"))
		require.ErrorIs(t, a.CaptureTurn(t.Context(), turn), notes.ErrEmbedding)
		_, err = a.Recall(t.Context(), &memory.TurnStarted{Operation: a.under("op"), Turn: turn.Turn})
		require.ErrorIs(t, err, notes.ErrEmbedding)
		fail = nil
		require.NoError(t, a.CaptureTurn(t.Context(), turn), "the capture can be repeated")
		require.Equal(t, []string{"A hound!", "hello"}, allNotes(t, store, a.key))
	})

	t.Run("vectors that cannot be used are refused", func(t *testing.T) {
		for name, vectors := range map[string][][]float32{"none": {}, "another length": {{1, 2}}, "no direction": {{0, 0, 0}}} {
			store, _ := d.notes(t, &notes.Options{Embedder: &notes.Embedder{Model: "m", Dimensions: 3, Embed: func(ctx, *notes.EmbedRequest) ([][]float32, error) {
				return vectors, nil
			}}})
			_, err := store.Add(t.Context(), keyOf("refused"), notes.Draft{Text: "x"})
			require.ErrorIs(t, err, notes.ErrEmbedding, name)
		}
	})

	t.Run("notes of before get their vectors, and those of another model are not compared", func(t *testing.T) {
		db, tables, key := d.open(t), newNoteTables(), keyOf("reembed")
		addFacts(t, d.notesIn(t, db, tables, nil), key, "A hound!", "My box of fuel.")
		store := d.notesIn(t, db, tables, &notes.Options{Embedder: letters(nil)})
		require.Empty(t, searchFacts(t, store, key, "dog"))
		given, err := store.Reembed(t.Context(), key)
		require.NoError(t, err)
		require.Equal(t, 2, given)
		require.Equal(t, "A hound!", searchFacts(t, store, key, "dog")[0])
		given, err = store.Reembed(t.Context(), key)
		require.NoError(t, err)
		require.Zero(t, given)

		other := letters(nil)
		other.Model = "letters-2"
		require.Empty(t, searchFacts(t, d.notesIn(t, db, tables, &notes.Options{Embedder: other}), key, "dog"))

		short := letters(nil)
		short.Dimensions = 3
		short.Embed = func(ctx, *notes.EmbedRequest) ([][]float32, error) { return [][]float32{{1, 2, 3}}, nil }
		_, err = d.notesIn(t, db, tables, &notes.Options{Embedder: short}).Search(t.Context(), key, &notes.SearchRequest{Query: "dog", Facts: 1})
		require.ErrorIs(t, err, notes.ErrEmbedding)
		require.ErrorContains(t, err, "27 dimensions, not 3", "another length needs another name")
	})

	t.Run("a note that changes or goes while the vectors are made gets none of its earlier text", func(t *testing.T) {
		db, tables, key := d.open(t), newNoteTables(), keyOf("reembed meanwhile")
		plain := d.notesIn(t, db, tables, nil)
		ids := addFacts(t, plain, key, "A hound!", "My box of fuel.", "Quite six jumpy wizards.")
		slow, embed := letters(nil), letters(nil).Embed
		changed := false
		slow.Embed = func(ctx ctx, r *notes.EmbedRequest) ([][]float32, error) {
			if !changed {
				changed = true
				_, err := plain.Replace(ctx, key, ids[0], "A cat!", "")
				require.NoError(t, err)
				_, err = plain.Forget(ctx, key, ids[1])
				require.NoError(t, err)
			}
			return embed(ctx, r)
		}
		store := d.notesIn(t, db, tables, &notes.Options{Embedder: slow})
		given, err := store.Reembed(t.Context(), key)
		require.NoError(t, err)
		require.Equal(t, 1, given)
		require.Equal(t, 1, rowsOf(t, db, tables)["vectors"])
		given, err = store.Reembed(t.Context(), key)
		require.NoError(t, err)
		require.Equal(t, 1, given)
		require.Equal(t, 2, rowsOf(t, db, tables)["vectors"])
	})

	t.Run("an index of one's own is asked for the key, and what it names by mistake is left out", func(t *testing.T) {
		db, tables, key := d.open(t), newNoteTables(), keyOf("own index")
		index := new(fixedIndex)
		asked := 0
		embedder, embed := letters(nil), letters(nil).Embed
		embedder.Embed = func(ctx ctx, r *notes.EmbedRequest) ([][]float32, error) {
			if r.Query {
				asked++
			}
			return embed(ctx, r)
		}
		store := d.notesIn(t, db, tables, &notes.Options{Embedder: embedder, Vectors: index})
		addFacts(t, store, key, "A hound!", "My box of fuel.")
		require.Zero(t, asked, "notes are no questions")
		index.near = []notes.Near{{Number: 99, Similarity: 1}, {Number: 2, Similarity: 0.5}}
		require.Equal(t, []string{"My box of fuel."}, searchFacts(t, store, key, "zebra"))
		require.Equal(t, 1, asked)
		require.Len(t, index.asked, 1, "there are no utterances")
		r := index.asked[0]
		require.Equal(t, []any{key, notes.Fact, "letters"}, []any{r.Key, r.Kind, r.Model})
		require.Len(t, r.Vector, 27)
		require.Positive(t, r.Limit)
		index.err = errors.New("unreachable")
		_, err := store.Search(t.Context(), key, &notes.SearchRequest{Query: "zebra", Facts: 1})
		require.ErrorIs(t, err, index.err)
	})
}

// fixedIndex is a VectorIndex that always finds the same.
type fixedIndex struct {
	near  []notes.Near
	err   error
	asked []*notes.NearestRequest
}

func (f *fixedIndex) Nearest(_ context.Context, r *notes.NearestRequest) ([]notes.Near, error) {
	f.asked = append(f.asked, r)
	return f.near, f.err
}
