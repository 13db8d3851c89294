package notes

import (
	"slices"
	"strings"

	"github.com/recollect-go/recollect/provider/notes/internal/analysis"
)

// leftoversAtOnce bounds how many entries of the index are looked at in one transaction of an erasure.
const leftoversAtOnce = 10_000

// dropTerms takes a note out of the index by its stored terms, and returns how many words it has. When the terms or the kind
// are damaged it reports that they are not known: the note has to be dropped from the index by its number. FTS5 notices by
// its counts, too, that it is told to delete what it never had; see dropWords.
func (c *change) dropTerms(r *removable) (words int, known bool, err error) {
	if r.kind == 0 {
		return 0, false, nil
	}
	terms, err := analysis.Decode(r.terms)
	if err == nil {
		err = c.index(c.sql.dropTerms, r.seq, r.kind, terms)
		if err == nil || !c.malformed(err) {
			return len(terms.Words), true, err
		}
	}
	words, err = c.countWords(r.seq)
	return words, false, err
}

// countWords counts the words of a note's text anew.
func (c *change) countWords(seq int64) (words int, err error) {
	_, err = collect(c.ctx, c.tx, c.sql.body, []any{c.key, seq}, func(scan scanner) (text []byte, err error) {
		err = scan(&text)
		words = len(analysis.Of(string(text)).Words)
		return nil, err
	})
	return words, err
}

// dropLeftovers takes notes out of the index whose terms are not known. It takes as long as the index of the scope is large.
func (c *change) dropLeftovers(numbers []int64) error {
	if len(numbers) == 0 {
		return nil
	}
	if c.dialect == PostgreSQL {
		_, err := c.execute(c.sql.dropIndexOf, c.among(numbers))
		return err
	}
	_, err := c.dropEntries(c.sql.entriesOf, c.among(numbers))
	return err
}

// clearIndex takes everything of the scope out of the index, leftoversAtOnce entries at most, and reports whether there were
// as many. Nothing is there unless the terms of a note were damaged.
func (c *change) clearIndex() (more bool, err error) {
	if c.dialect == PostgreSQL {
		dropped, err := c.execute(c.sql.dropIndex, leftoversAtOnce)
		return dropped == leftoversAtOnce, err
	}
	if left, err := c.numbers(c.sql.hasEntries); err != nil || len(left) == 0 {
		return false, err
	}
	dropped, err := c.dropEntries(c.sql.entries, leftoversAtOnce)
	return dropped == leftoversAtOnce, err
}

// dropEntries takes the entries of the FTS5 index that a query selects out of it, and returns how many there were. FTS5
// deletes nothing without being told its words, so they are read from the index itself.
func (c *change) dropEntries(query string, args ...any) (dropped int, err error) {
	if _, err := c.tx.ExecContext(c.ctx, c.sql.openVocabulary); err != nil {
		return 0, err
	}
	words := make(map[int64][]string)
	_, err = collect(c.ctx, c.tx, query, append([]any{c.key}, args...), func(scan scanner) (none struct{}, err error) {
		var word string
		var seq int64
		err = scan(&word, &seq)
		words[seq] = append(words[seq], word)
		dropped++
		return none, err
	})
	if err != nil {
		return 0, err
	}
	if _, err := c.tx.ExecContext(c.ctx, c.sql.closeVocabulary); err != nil {
		return 0, err
	}
	for seq, words := range words {
		if err := c.dropWords(seq, words); err != nil {
			return 0, err
		}
	}
	return dropped, nil
}

// filler is a word that no note has.
const filler = "filler"

// dropWords takes words of a note out of the FTS5 index. FTS5 also counts all notes and words, and calls the database
// malformed once it had to delete more than it ever counted; damaged terms may have made it count wrong already. So as many
// words as are taken out are put in before: fillers, which are the same word and go with the others.
func (c *change) dropWords(seq int64, words []string) error {
	fillers := strings.Join(slices.Repeat([]string{filler}, len(words)+1), " ")
	if _, err := c.execute(c.sql.addTerms, seq, fillers); err != nil {
		return err
	}
	_, err := c.execute(c.sql.dropTerms, seq, strings.Join(append(words, filler), " "))
	return err
}
