package rank

import (
	"cmp"
	"container/heap"
	"slices"
)

// Top keeps the best of the notes that it is offered; of notes that score alike the newest.
type Top struct {
	limit int
	kept  worstFirst
}

// NewTop returns a Top that keeps up to limit notes.
func NewTop(limit int) *Top { return &Top{limit: limit} }

// Offer keeps the note, or lets it go.
func (t *Top) Offer(n Scored) {
	switch {
	case len(t.kept) < t.limit:
		heap.Push(&t.kept, n)
	case t.limit > 0 && Compare(n, t.kept[0]) < 0:
		t.kept[0] = n
		heap.Fix(&t.kept, 0)
	}
}

// Best returns what is kept, the best first. The Top must not be used after that.
func (t *Top) Best() []Scored {
	slices.SortFunc(t.kept, Compare)
	return t.kept
}

// Compare orders notes by score, the best first, and those that score alike by number, the newest first.
func Compare(a, b Scored) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Number, a.Number))
}

type worstFirst []Scored

func (h worstFirst) Len() int           { return len(h) }
func (h worstFirst) Less(i, j int) bool { return Compare(h[i], h[j]) > 0 }
func (h worstFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *worstFirst) Push(x any)        { *h = append(*h, x.(Scored)) }
func (h *worstFirst) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
