package notes

import (
	"strconv"

	"github.com/recollect-go/recollect/provider/notes/internal/analysis"
)

// termsOf returns the terms by which a note is found: those of its text, of its author's name and of its date.
func termsOf(text string, p *Provenance) analysis.Text {
	terms := analysis.Of(text)
	terms.Extra = append(terms.Extra, analysis.NameTerms(p.Author)...)
	if !p.Said.IsZero() {
		terms.Extra = append(terms.Extra, analysis.DateTerms(p.Said)...)
	}
	return terms
}

// index puts a note's terms into the index, or takes them out.
func (c *change) index(statement string, seq int64, kind Kind, terms analysis.Text) error {
	distinct := terms.Distinct()
	if len(distinct) == 0 {
		return nil
	}
	args := []any{seq, c.tokens(c.scope.number, kind, distinct)}
	if c.dialect == PostgreSQL {
		args = []any{seq, int64(kind), listOf(distinct)}
	}
	_, err := c.execute(statement, args...)
	return err
}

// tokens returns terms as words for FTS5. Each has the scope's number and the kind before it, so that no list of notes that
// FTS5 walks is longer than the scope, however large the store.
func (s *Store) tokens(scope int64, kind Kind, terms []analysis.Term) string {
	out := make([]byte, 0, 28*len(terms))
	for i, term := range terms {
		if i > 0 {
			out = append(out, ' ')
		}
		out = appendToken(out, scope, kind, term)
	}
	return string(out)
}

// appendToken appends t<scope><k or u><term>, numbers in base 16.
func appendToken(out []byte, scope int64, kind Kind, term analysis.Term) []byte {
	out = append(out, 't')
	out = strconv.AppendInt(out, scope, 16)
	if kind == Utterance {
		out = append(out, 'u')
	} else {
		out = append(out, 'k')
	}
	return strconv.AppendUint(out, uint64(term), 16)
}

// listOf returns terms as PostgreSQL stores them, with commas between them.
func listOf(terms []analysis.Term) string {
	out := make([]byte, 0, 21*len(terms))
	for i, term := range terms {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(out, int64(term), 10)
	}
	return string(out)
}
