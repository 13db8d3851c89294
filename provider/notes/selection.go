package notes

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/provider/notes/internal/analysis"
)

// MaxSelected is how many notes a Selection has at most: more are not looked through before they are confirmed.
const MaxSelected = 50

// ErrTooMany: more than MaxSelected notes have the words.
var ErrTooMany = fmt.Errorf("more than %d notes have these words; be more precise", MaxSelected)

// Selection is a set of notes that may be forgotten together.
type Selection struct {
	Notes []Note
	// Code stands for exactly these notes with exactly these texts, in this scope.
	Code string
}

// Select returns the notes that have all words of the query, in the order in which they were stored. Words that say nothing
// by themselves, such as "the", do not count. More than MaxSelected notes are an error matching ErrTooMany.
func (s *Store) Select(ctx context.Context, key, query string) (*Selection, error) {
	selection, err := s.selection(ctx, key, query)
	if err != nil {
		return nil, failed(ctx, "select", err)
	}
	return selection, nil
}

// ForgetSelection deletes the notes of a selection, all of them or none, and returns how many. The error matches
// ErrSelection when one of them changed or went since.
func (s *Store) ForgetSelection(ctx context.Context, key string, selection *Selection) (int, error) {
	forgotten := 0
	if len(selection.Notes) == 0 {
		return 0, failed(ctx, "forget", s.admit(ctx, key))
	}
	err := s.change(ctx, key, func(c *change) error {
		numbers := c.numbersOf(idsOf(selection.Notes))
		rows, err := c.rows(numbers)
		if err != nil {
			return err
		}
		if codeOf(c.scope.number, rows) != selection.Code {
			return ErrSelection
		}
		forgotten, err = c.remove(numbers)
		return err
	})
	if err != nil {
		return 0, failed(ctx, "forget", err)
	}
	return forgotten, nil
}

func idsOf(notes []Note) []string {
	ids := make([]string, len(notes))
	for i := range notes {
		ids[i] = notes[i].ID
	}
	return ids
}

func (s *Store) selection(ctx context.Context, key, query string) (*Selection, error) {
	if ecma.IsBlank(query) {
		return nil, badInput("query is blank; give the words of what is to be forgotten")
	}
	scope, err := s.stored(ctx, key)
	if err != nil || scope.number == 0 {
		return &Selection{}, err
	}
	const some = 1 // of each kind; how many is decided here
	l := &look{Store: s, ctx: ctx, key: key, scope: scope, terms: analysis.Question(query).Words, limit: [3]int{Fact: some, Utterance: some}}
	found, err := l.lookUp()
	if err != nil {
		return nil, err
	}
	rows, err := l.withAll(found)
	if err != nil {
		return nil, err
	}
	selection := &Selection{Code: codeOf(scope.number, rows)}
	for i := range rows {
		selection.Notes = append(selection.Notes, rows[i].note())
	}
	return selection, nil
}

// withAll returns the notes that have every term, by ascending number. Those with the rarest term are read and looked at.
func (l *look) withAll(found lists) ([]row, error) {
	var numbers []int64
	for _, kind := range kinds {
		rarest := shortest(found[kind])
		if len(rarest) >= postings {
			return nil, ErrTooMany
		}
		numbers = append(numbers, rarest...)
	}
	slices.Sort(numbers)
	var matching []row
	for part := range slices.Chunk(numbers, MaxSelected) {
		rows, err := l.query(l.ctx, l.sql.read, l.key, l.among(part), l.opts.Now().UnixMilli())
		if err != nil {
			return nil, err
		}
		for i := range rows {
			terms, err := rows[i].text()
			if err != nil {
				return nil, err
			}
			if hasAll(terms, l.terms) {
				matching = append(matching, rows[i])
			}
		}
		if len(matching) > MaxSelected {
			return nil, ErrTooMany
		}
	}
	return matching, nil
}

func shortest(found [][]int64) []int64 {
	if len(found) == 0 {
		return nil
	}
	return slices.MinFunc(found, func(a, b []int64) int { return len(a) - len(b) })
}

func hasAll(t analysis.Text, terms []analysis.Term) bool {
	return len(terms) > 0 && !slices.ContainsFunc(terms, func(term analysis.Term) bool {
		return !slices.Contains(t.Words, term) && !slices.Contains(t.Extra, term)
	})
}

// codeOf returns the code of notes in the order of their numbers.
func codeOf(scope int64, rows []row) string {
	parts := []string{"selection-v1", strconv.FormatInt(scope, 10)}
	for i := range rows {
		parts = append(parts, strconv.FormatInt(rows[i].seq, 10), strconv.Itoa(rows[i].version))
	}
	return strings.ToLower(strings.NewReplacer("-", "a", "_", "b").Replace(digest(parts...)))[:12]
}
