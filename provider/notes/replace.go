package notes

import (
	"context"
	"errors"
	"fmt"
)

// Replace gives a fact another text. It keeps its id, so that what is recalled next supersedes what was recalled before, and
// its provenance, but for the time at which it was said and, unless source is "", its source. If another fact has that text
// already, the first one is forgotten in favour of it. Replace returns the id of the note that has the text now. The error
// matches ErrNoNote, errors.ErrUnsupported for an utterance, or is one that Add returns.
func (s *Store) Replace(ctx context.Context, key, id, text string, source Source) (string, error) {
	d, err := s.prepareDrafts(ctx, []Draft{{Text: text, Provenance: Provenance{Source: source}}})
	if err != nil {
		return "", failed(ctx, "replace", err)
	}
	var kept string
	err = s.change(ctx, key, func(c *change) (err error) {
		kept, err = c.replace(id, &d[0], source)
		return err
	})
	if err != nil {
		return "", failed(ctx, "replace", err)
	}
	return kept, nil
}

func (c *change) replace(id string, d *prepared, source Source) (string, error) {
	seq, ok := numberOf(c.scope.number, id)
	if !ok {
		return "", noNote(id)
	}
	rows, err := c.live([]int64{seq})
	if err != nil {
		return "", err
	}
	if len(rows) == 0 {
		return "", noNote(id)
	}
	if rows[0].kind != Fact {
		return "", fmt.Errorf("%w: note %s is what was said, and is not changed; forget it, or save a fact", errors.ErrUnsupported, id)
	}
	other, found, err := c.find(d.origin)
	switch {
	case err != nil:
		return "", err
	case found && other == seq:
		return id, nil
	case found:
		_, err := c.remove([]int64{seq})
		return noteID(c.scope.number, other), err
	}
	return id, c.rewrite(&rows[0], d, source)
}

func (c *change) rewrite(old *row, d *prepared, source Source) error {
	p := old.details.provenance()
	if source != "" {
		p.Source = source
	}
	if !p.Said.IsZero() {
		p.Said = c.opts.Now().UTC()
	}
	encoded, err := encodeDetails(&p)
	if err != nil {
		return err
	}
	terms := termsOf(d.Text, &p)
	expires := old.expires
	if c.opts.FactLife > 0 {
		expires = max(expires, c.now+c.opts.FactLife.Milliseconds())
	}
	words, known, err := c.dropTerms(&removable{seq: old.seq, kind: old.kind, terms: old.terms})
	if err != nil {
		return err
	}
	if !known {
		if err := c.dropLeftovers([]int64{old.seq}); err != nil {
			return err
		}
	}
	if _, err := c.execute(c.sql.replace, old.seq, d.origin, c.now, expires, terms.Encode(), []byte(d.Text), encoded); err != nil {
		return err
	}
	if err := c.index(c.sql.addTerms, old.seq, old.kind, terms); err != nil {
		return err
	}
	c.scope.words[old.kind] += int64(len(terms.Words) - words)
	if _, err := c.execute(c.sql.dropVectors, old.seq); err != nil {
		return err
	}
	return c.addVector(old.kind, old.seq, d.vector)
}

func noNote(id string) error { return fmt.Errorf("%w: %.40q", ErrNoNote, id) }
