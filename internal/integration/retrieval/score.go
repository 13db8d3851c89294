package retrieval

import (
	"fmt"
	"slices"
	"strings"
)

// Depths are the k of the measures.
var Depths = []int{1, 5, 10, 20, 50}

// Scores sums the measures of a number of questions.
type Scores struct {
	Questions        int
	any, recall, all []float64 // by depth
}

// Add counts one question: what was found, the best first, and what should have been.
func (s *Scores) Add(found, evidence []string) {
	if s.any == nil {
		s.any, s.recall, s.all = make([]float64, len(Depths)), make([]float64, len(Depths)), make([]float64, len(Depths))
	}
	s.Questions++
	for i, k := range Depths {
		hits := 0
		for _, id := range found[:min(k, len(found))] {
			if slices.Contains(evidence, id) {
				hits++
			}
		}
		if hits > 0 {
			s.any[i]++
		}
		if hits == len(evidence) {
			s.all[i]++
		}
		s.recall[i] += float64(hits) / float64(len(evidence))
	}
}

// Any returns the share of questions with an evidence turn among the first k.
func (s *Scores) Any(k int) float64 { return s.mean(s.any, k) }

// Recall returns the mean share of evidence turns among the first k.
func (s *Scores) Recall(k int) float64 { return s.mean(s.recall, k) }

// All returns the share of questions with all their evidence turns among the first k.
func (s *Scores) All(k int) float64 { return s.mean(s.all, k) }

func (s *Scores) mean(sums []float64, k int) float64 {
	i := slices.Index(Depths, k)
	if i < 0 || s.Questions == 0 {
		return 0
	}
	return sums[i] / float64(s.Questions)
}

// String returns the measures on one line.
func (s *Scores) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%5d ", s.Questions)
	for _, measure := range []func(int) float64{s.Any, s.Recall, s.All} {
		for _, k := range Depths {
			fmt.Fprintf(&out, " %.3f", measure(k))
		}
		out.WriteString("  ")
	}
	return strings.TrimRight(out.String(), " ")
}

// Head is the line above lines of Scores, with columns of their own to the left.
func Head() string {
	var out strings.Builder
	out.WriteString("    n ")
	for _, name := range []string{"any", "rec", "all"} {
		for _, k := range Depths {
			fmt.Fprintf(&out, " %5s", fmt.Sprintf("%s%d", name, k))
		}
		out.WriteString("  ")
	}
	return strings.TrimRight(out.String(), " ")
}
