package retrieval

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
)

// Baseline is plain BM25 with k1 = 1.2 and b = 0.75 over speaker, text and caption of each turn, without stop words: the
// floor.
type Baseline struct {
	turns   []Turn
	counts  []map[string]int
	lengths []int
	in      map[string]int // in how many turns a word occurs
	average float64
}

// NewBaseline indexes the turns.
func NewBaseline(turns []Turn) *Baseline {
	b := &Baseline{turns: turns, in: make(map[string]int)}
	total := 0
	for _, t := range turns {
		counts := make(map[string]int)
		words := plainWords(t.Speaker + " " + t.Text + " " + t.Caption)
		for _, word := range words {
			counts[word]++
		}
		for word := range counts {
			b.in[word]++
		}
		b.counts, b.lengths, total = append(b.counts, counts), append(b.lengths, len(words)), total+len(words)
	}
	b.average = float64(total) / float64(max(len(turns), 1))
	return b
}

// Search returns the ids of the turns that have a word of the question, the best first.
func (b *Baseline) Search(question string, limit int) []string {
	type scored struct {
		turn  int
		score float64
	}
	var found []scored
	for i, counts := range b.counts {
		score := 0.0
		for _, word := range plainWords(question) {
			if f := float64(counts[word]); f > 0 {
				n := float64(b.in[word])
				idf := math.Log(1 + (float64(len(b.turns))-n+0.5)/(n+0.5))
				score += idf * f * 2.2 / (f + 1.2*(0.25+0.75*float64(b.lengths[i])/b.average))
			}
		}
		if score > 0 {
			found = append(found, scored{i, score})
		}
	}
	slices.SortStableFunc(found, func(x, y scored) int { return cmp.Compare(y.score, x.score) })
	var ids []string
	for _, f := range found[:min(limit, len(found))] {
		ids = append(ids, b.turns[f.turn].ID)
	}
	return ids
}

func plainWords(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.DeleteFunc(words, func(word string) bool { return plainStopWords[word] })
}

var plainStopWords = func() map[string]bool {
	words := make(map[string]bool)
	for _, word := range strings.Fields(`a about above after again all am an and any are as at be because been before being below between both but by can
		could d did do does doing don down during each few for from further had has have having he her here hers him his how i if in into is it its itself just
		ll m me more most my no nor not now of off on once only or other our ours out over own re s same she should so some such t than that the their theirs
		them then there these they this those through to too under until up ve very was we were what when where which while who whom why will with would you your yours`) {
		words[word] = true
	}
	return words
}()
