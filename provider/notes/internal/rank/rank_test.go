package rank

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/recollect-go/recollect/provider/notes/internal/analysis"
	"github.com/stretchr/testify/require"
)

func scorerOf(query string, frequencies ...int) *Scorer {
	return NewScorer(analysis.Question(query).Words, frequencies, Collection{Notes: 1000, Words: 6})
}

func TestRareTermsWeighMore(t *testing.T) {
	t.Parallel()
	s := scorerOf("oboe garden", 2, 300)
	require.Greater(t, s.Score(analysis.Of("an oboe in the house")), s.Score(analysis.Of("a garden by the house")))
	require.Positive(t, Weight(1000, 1000), "a term that all notes have still counts for something")
	require.Positive(t, Weight(2000, 1000), "an estimate may be too high")
}

func TestTermsThatStandTogetherWeighMore(t *testing.T) {
	t.Parallel()
	s := scorerOf("staging database", 20, 20)
	require.Greater(t, s.Score(analysis.Of("one two three staging database four five six seven eight")),
		s.Score(analysis.Of("staging one two three four five six seven eight database")))
}

func TestLongNotesWeighLess(t *testing.T) {
	t.Parallel()
	s := scorerOf("oboe", 20)
	require.Greater(t, s.Score(analysis.Of("the oboe is here")), s.Score(analysis.Of("the oboe is here and there and then somewhere else and nowhere")))
}

func TestQuestionsWeighLess(t *testing.T) {
	t.Parallel()
	s := scorerOf("oboe", 20)
	require.Greater(t, s.Score(analysis.Of("She plays the oboe.")), s.Score(analysis.Of("She plays the oboe?")))
}

func TestNotesWithoutATermScoreNothing(t *testing.T) {
	t.Parallel()
	require.Zero(t, scorerOf("oboe", 20).Score(analysis.Of("a garden")))
	require.Zero(t, scorerOf("oboe", 20).Score(analysis.Text{}))
}

func TestNeighboursOfOneThreadShare(t *testing.T) {
	t.Parallel()
	notes := []Scored{{1, 7, 0}, {2, 7, 10}, {3, 7, 0}, {4, 8, 0}, {5, 7, 0}, {6, 0, 10}, {7, 0, 0}}
	WithNeighbours(notes)
	var scores []float64
	for _, n := range notes {
		scores = append(scores, n.Score)
	}
	require.Equal(t, []float64{2, 10, 3.5, 0, 0, 10, 0}, scores)
}

func TestTopIsTheBeginningOfTheSortedList(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		all := make([]Scored, r.IntN(50))
		for i := range all {
			all[i] = Scored{Number: int64(i), Score: float64(r.IntN(5))}
		}
		limit := r.IntN(20)
		top := NewTop(limit)
		for _, i := range r.Perm(len(all)) {
			top.Offer(all[i])
		}
		slices.SortFunc(all, Compare)
		require.Equal(t, append([]Scored{}, all[:min(limit, len(all))]...), append([]Scored{}, top.Best()...))
	}
}
