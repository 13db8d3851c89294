package notes

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/recollect-go/recollect/provider/notes/internal/analysis"
	"github.com/recollect-go/recollect/provider/notes/internal/rank"
)

const (
	// postings is how many notes the index names for one term: the newest. A term that more notes have says little, and
	// finds no others.
	postings = 4096

	// candidates is how many notes of a kind are looked at closely.
	candidates = 256
)

var kinds = [...]Kind{Fact, Utterance}

// look is one search.
type look struct {
	*Store
	ctx    context.Context
	key    string
	scope  scopeRow
	terms  []analysis.Term
	limit  [3]int // by Kind
	vector []float32
}

// byKind holds ranked notes of each kind.
type byKind [3][]rank.Scored

// lists are the numbers of the notes that the index names, by kind and term.
type lists [3][][]int64

// rankedByWords returns the notes that have words of the query, or stand beside one that has, the best first.
func (l *look) rankedByWords() (ranked byKind, err error) {
	found, err := l.lookUp()
	if err != nil {
		return ranked, err
	}
	var numbers []int64
	for _, kind := range kinds {
		for _, seq := range l.candidates(kind, found[kind]) {
			numbers = append(numbers, seq)
			if kind == Utterance {
				numbers = append(numbers, around(seq)...)
			}
		}
	}
	if len(numbers) == 0 {
		return ranked, nil
	}
	slices.Sort(numbers)
	return l.rank(slices.Compact(numbers), found)
}

// around returns the numbers of the notes that may be neighbours.
func around(seq int64) (numbers []int64) {
	for distance := int64(1); distance <= rank.Near; distance++ {
		numbers = append(numbers, seq-distance, seq+distance)
	}
	return numbers
}

// lookUp asks the index for every term and every kind that is wanted, in one statement.
func (l *look) lookUp() (found lists, err error) {
	var asked []Kind
	var terms []analysis.Term
	for _, kind := range kinds {
		if l.limit[kind] > 0 && l.scope.count[kind] > 0 {
			for _, term := range l.terms {
				asked, terms = append(asked, kind), append(terms, term)
			}
		}
	}
	if len(terms) == 0 {
		return found, nil
	}
	args, err := l.lookUpArguments(asked, terms)
	if err != nil {
		return found, err
	}
	var all []string
	err = l.retry(l.ctx, func() error {
		all, err = collect(l.ctx, l.db, l.sql.lookUp, args, func(scan scanner) (string, error) {
			var list sql.NullString
			return list.String, scan(&list)
		})
		return err
	})
	if err != nil {
		return found, err
	}
	for i, list := range all {
		found[asked[i]] = append(found[asked[i]], parseList(list))
	}
	return found, nil
}

func (l *look) lookUpArguments(asked []Kind, terms []analysis.Term) ([]any, error) {
	if l.dialect == PostgreSQL {
		names := make([]string, len(asked))
		for i, kind := range asked {
			names[i] = strconv.Itoa(int(kind))
		}
		return []any{l.key, strings.Join(names, ","), listOf(terms), postings}, nil
	}
	words := make([]string, len(terms))
	for i, term := range terms {
		words[i] = string(appendToken(nil, l.scope.number, asked[i], term))
	}
	encoded, err := json.Marshal(words)
	return []any{l.key, string(encoded), postings}, err
}

func parseList(list string) []int64 {
	if list == "" {
		return nil
	}
	numbers := make([]int64, 0, 1+strings.Count(list, ","))
	for part := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseInt(part, 10, 64)
		if err == nil {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// candidates returns the notes whose terms weigh most together.
func (l *look) candidates(kind Kind, found [][]int64) []int64 {
	weight := make(map[int64]float64)
	for _, list := range found {
		w := rank.Weight(l.frequency(kind, list), int(l.scope.count[kind]))
		for _, seq := range list {
			weight[seq] += w
		}
	}
	top := rank.NewTop(candidates)
	for seq, w := range weight {
		top.Offer(rank.Scored{Number: seq, Score: w})
	}
	var numbers []int64
	for _, n := range top.Best() {
		numbers = append(numbers, n.Number)
	}
	return numbers
}

// frequency returns in how many notes a term occurs, judging by the newest ones when there are more than the index names.
func (l *look) frequency(kind Kind, list []int64) int {
	if len(list) < postings {
		return len(list)
	}
	oldest := slices.Min(list)
	share := float64(len(list)) / float64(max(l.scope.lastNote-oldest+1, int64(len(list))))
	return max(len(list), int(share*float64(l.scope.count[kind])))
}

// rank reads the terms of the notes and returns those that score, by kind, the best first.
func (l *look) rank(numbers []int64, found lists) (ranked byKind, err error) {
	var scorers [3]*rank.Scorer
	for _, kind := range kinds {
		frequencies := make([]int, len(found[kind]))
		for i, list := range found[kind] {
			frequencies[i] = l.frequency(kind, list)
		}
		count := l.scope.count[kind]
		scorers[kind] = rank.NewScorer(l.terms[:len(frequencies)], frequencies, rank.Collection{
			Notes: int(count), Words: float64(l.scope.words[kind]) / float64(max(count, 1)),
		})
	}
	err = l.retry(l.ctx, func() error {
		ranked, err = l.score(numbers, scorers)
		return err
	})
	if err != nil {
		return ranked, err
	}
	for _, kind := range kinds {
		rank.WithNeighbours(ranked[kind])
		ranked[kind] = slices.DeleteFunc(ranked[kind], func(n rank.Scored) bool { return n.Score <= 0 })
		slices.SortFunc(ranked[kind], rank.Compare)
	}
	return ranked, nil
}

func (l *look) score(numbers []int64, scorers [3]*rank.Scorer) (scored byKind, err error) {
	rows, err := l.db.QueryContext(l.ctx, l.sql.forRanking, l.key, l.among(numbers), l.opts.Now().UnixMilli())
	if err != nil {
		return scored, err
	}
	defer rows.Close()
	for rows.Next() {
		var n rank.Scored
		var stored int64
		var data []byte
		if err := rows.Scan(&n.Number, &stored, &n.Thread, (*raw)(&data)); err != nil {
			return scored, err
		}
		id, kind := noteID(l.scope.number, n.Number), kindOf(stored)
		if kind == 0 {
			return scored, malformedKind(id)
		}
		if l.limit[kind] == 0 {
			continue
		}
		terms, err := decodeTerms(id, data)
		if err != nil {
			return scored, err
		}
		n.Score = scorers[kind].Score(terms)
		scored[kind] = append(scored[kind], n)
	}
	return scored, rows.Err()
}

// fusion is the constant of reciprocal rank fusion (G. Cormack et al., SIGIR 2009).
const fusion = 60

// fused returns the notes that are found by their words or by their meaning, by the sum of the reciprocals of their two
// places.
func (l *look) fused(byWords byKind) (fused byKind, err error) {
	for _, kind := range kinds {
		if l.limit[kind] == 0 || l.scope.count[kind] == 0 {
			continue
		}
		near, err := l.vectors.Nearest(l.ctx, &NearestRequest{
			Key: l.key, Kind: kind, Model: l.opts.Embedder.Model, Vector: l.vector, Limit: max(candidates, l.limit[kind]),
		})
		if err != nil {
			return fused, err
		}
		scores := make(map[int64]float64)
		for place, n := range near {
			scores[n.Number] += 1 / float64(fusion+place+1)
		}
		for place, n := range byWords[kind] {
			scores[n.Number] += 1 / float64(fusion+place+1)
		}
		for seq, score := range scores {
			fused[kind] = append(fused[kind], rank.Scored{Number: seq, Score: score})
		}
		slices.SortFunc(fused[kind], rank.Compare)
	}
	return fused, nil
}

// hits returns the notes in their order. One that was deleted since it was ranked, or that an index of vectors named by
// mistake, is left out.
func hits(ranked []rank.Scored, notes map[int64]Note) []Hit {
	found := make([]Hit, 0, len(ranked))
	for _, r := range ranked {
		if note, ok := notes[r.Number]; ok {
			found = append(found, Hit{Note: note, Score: r.Score})
		}
	}
	return found
}
