package notes

import (
	"context"

	"github.com/recollect-go/recollect/provider/notes/internal/analysis"
)

// SearchRequest asks for notes.
type SearchRequest struct {
	Query string
	// Facts and Utterances are how many of each kind there may be in the answer; it seldom has more than 256. 0 or less
	// means none.
	Facts      int
	Utterances int
}

// Hit is a note that was found.
type Hit struct {
	Note
	// Score says how well it fits. Scores compare within the answer and the kind only.
	Score float64
}

// Found is an answer to a search, the best of each kind first.
type Found struct {
	Facts      []Hit
	Utterances []Hit
}

// Search returns the notes that fit the query. The errors are ErrEmbedding and those of the database.
func (s *Store) Search(ctx context.Context, key string, r *SearchRequest) (*Found, error) {
	found, err := s.search(ctx, key, r)
	if err != nil {
		return nil, failed(ctx, "search", err)
	}
	return found, nil
}

func (s *Store) search(ctx context.Context, key string, r *SearchRequest) (*Found, error) {
	scope, err := s.stored(ctx, key)
	if err != nil || scope.number == 0 {
		return new(Found), err
	}
	q := analysis.Question(r.Query)
	l := &look{
		Store: s, ctx: ctx, key: key, scope: scope, terms: append(q.Words, q.Hints...),
		limit: [3]int{Fact: max(r.Facts, 0), Utterance: max(r.Utterances, 0)},
	}
	if s.opts.Embedder != nil && (r.Facts > 0 || r.Utterances > 0) {
		vectors, err := s.embed(ctx, &EmbedRequest{Texts: []string{r.Query}, Query: true})
		if err != nil {
			return nil, err
		}
		l.vector = vectors[0]
	}
	return l.run()
}

// run finds, ranks and reads the notes.
func (l *look) run() (*Found, error) {
	ranked, err := l.rankedByWords()
	if err != nil {
		return nil, err
	}
	if l.vector != nil {
		if ranked, err = l.fused(ranked); err != nil {
			return nil, err
		}
	}
	var numbers []int64
	for _, kind := range kinds {
		ranked[kind] = ranked[kind][:min(l.limit[kind], len(ranked[kind]))]
		for _, r := range ranked[kind] {
			numbers = append(numbers, r.Number)
		}
	}
	notes, err := l.notes(l.ctx, l.key, numbers)
	if err != nil {
		return nil, err
	}
	return &Found{Facts: hits(ranked[Fact], notes), Utterances: hits(ranked[Utterance], notes)}, nil
}
