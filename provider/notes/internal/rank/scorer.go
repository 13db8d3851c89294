package rank

import (
	"math"

	"github.com/recollect-go/recollect/provider/notes/internal/analysis"
)

// Notes are short, so a term's second occurrence says little (k1) and their length not much (b). An extra term is a name, a
// date or a single character.
const (
	k1          = 0.8
	b           = 0.35
	extraWeight = 1.2
)

// Terms of a query at most reach positions apart in a note add nearness of the smaller weight, divided by their distance.
const (
	reach    = 6
	nearness = 0.5
)

// Collection is what is known about the notes among which is ranked.
type Collection struct {
	Notes int     // how many there are
	Words float64 // how many words one has on average
}

// asked is what part of its score a note gets that is a question: it has the words of its repetition, but not the answer.
const asked = 0.75

// Scorer scores notes for one query. It may be used by one goroutine at a time.
type Scorer struct {
	terms   map[analysis.Term]int
	weights []float64
	average float64
	count   []float64 // per term, of the note at hand
}

// NewScorer returns the scorer of a query. frequencies says in how many notes of the collection each term occurs.
func NewScorer(terms []analysis.Term, frequencies []int, c Collection) *Scorer {
	s := &Scorer{
		terms:   make(map[analysis.Term]int, len(terms)),
		weights: make([]float64, len(terms)),
		average: max(c.Words, 1),
		count:   make([]float64, len(terms)),
	}
	for i, term := range terms {
		s.terms[term] = i
		s.weights[i] = Weight(frequencies[i], c.Notes)
	}
	return s
}

// Weight returns how much a term says that occurs in frequency of the notes: the less frequent, the more.
func Weight(frequency, notes int) float64 {
	n, f := float64(max(notes, frequency)), float64(frequency)
	return math.Log(1 + (n-f+0.5)/(f+0.5))
}

// Score returns how well a note fits, 0 when it has none of the terms.
func (s *Scorer) Score(t analysis.Text) float64 {
	clear(s.count)
	near, last, lastAt := 0.0, -1, 0
	for at, term := range t.Words {
		i, ok := s.terms[term]
		if !ok {
			continue
		}
		s.count[i]++
		if distance := at - lastAt; last >= 0 && last != i && distance <= reach {
			near += min(s.weights[last], s.weights[i]) / float64(distance)
		}
		last, lastAt = i, at
	}
	share := 1.0
	for _, term := range t.Extra {
		if term == analysis.Asks {
			share = asked
		}
		if i, ok := s.terms[term]; ok {
			s.count[i] += extraWeight
		}
	}
	length := k1 * (1 - b + b*float64(len(t.Words))/s.average)
	sum, matched := 0.0, 0.0
	for i, n := range s.count {
		if n > 0 {
			sum += s.weights[i] * n * (k1 + 1) / (n + length)
			matched += s.weights[i]
		}
	}
	// However often terms stand together, it adds at most half of what they are worth.
	return share * (sum + min(nearness*near, matched/2))
}
