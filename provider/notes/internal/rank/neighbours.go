package rank

// Scored is a note with its own score. Number orders the notes of a scope by when they were stored; Thread is the
// conversation that a note is part of, 0 for none.
type Scored struct {
	Number int64
	Thread int64
	Score  float64
}

// Near is how far away, in numbers, a note still counts as a neighbour.
const Near = 2

// before and after say which part of the score of the notes before and after a note, by distance, it gets.
var (
	before = [Near + 1]float64{1: 0.35, 2: 0.15}
	after  = [Near + 1]float64{1: 0.2, 2: 0.1}
)

// WithNeighbours adds to each score a part of the best score nearby in the same thread. notes is ordered by Number.
func WithNeighbours(notes []Scored) {
	own := make([]float64, len(notes))
	for i := range notes {
		own[i] = notes[i].Score
	}
	for i := range notes {
		notes[i].Score += share(notes, own, i)
	}
}

func share(notes []Scored, own []float64, i int) (best float64) {
	if notes[i].Thread == 0 {
		return 0
	}
	consider := func(j int, parts [Near + 1]float64, distance int64) bool {
		if distance > Near {
			return false
		}
		if notes[j].Thread == notes[i].Thread {
			best = max(best, parts[distance]*own[j])
		}
		return true
	}
	for j := i - 1; j >= 0 && consider(j, before, notes[i].Number-notes[j].Number); j-- {
	}
	for j := i + 1; j < len(notes) && consider(j, after, notes[j].Number-notes[i].Number); j++ {
	}
	return best
}
