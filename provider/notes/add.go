package notes

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/provider/notes/internal/analysis"
)

// Add stores the drafts in their order, all of them or none, and tells what became of each. A fact whose text is there
// already is not stored twice, nor is an utterance of the same turn with the same text, so Add can be repeated. The errors
// are ErrBlank, ErrEncoding, ErrTooLarge, ErrFull and ErrEmbedding.
func (s *Store) Add(ctx context.Context, key string, drafts ...Draft) ([]Added, error) {
	prepared, err := s.prepareDrafts(ctx, drafts)
	if err != nil {
		return nil, failed(ctx, "add", err)
	}
	var added []Added
	err = s.change(ctx, key, func(c *change) error {
		added, err = c.addAll(prepared)
		return err
	})
	if err != nil {
		return nil, failed(ctx, "add", err)
	}
	return added, nil
}

// prepared is a draft with all that can be found out about it before there is a transaction.
type prepared struct {
	Draft
	origin  string
	terms   analysis.Text
	details string
	vector  []float32
}

func (s *Store) prepareDrafts(ctx context.Context, drafts []Draft) ([]prepared, error) {
	drafts = slices.Clone(drafts)
	out := make([]prepared, len(drafts))
	for i := range drafts {
		d := &drafts[i]
		if d.Kind == 0 {
			d.Kind = Fact
		}
		if d.Source == "" {
			d.Source = SourceHost
		}
		if err := s.checkDraft(d); err != nil {
			return nil, err
		}
		encoded, err := encodeDetails(&d.Provenance)
		if err != nil {
			return nil, err
		}
		out[i] = prepared{Draft: *d, terms: termsOf(d.Text, &d.Provenance), details: encoded}
	}
	for i, origin := range origins(drafts) {
		out[i].origin = origin
	}
	return out, s.embedAll(ctx, out)
}

func (s *Store) checkDraft(d *Draft) error {
	if d.Kind != Fact && d.Kind != Utterance {
		return fmt.Errorf("%w: kind %d", ErrOption, d.Kind)
	}
	for _, text := range []string{d.Author, d.Role, d.Session, d.Turn, string(d.Source)} {
		if !utf8.ValidString(text) {
			return ErrEncoding
		}
	}
	return s.checkText(d.Text)
}

func (s *Store) checkText(text string) error {
	switch {
	case !utf8.ValidString(text):
		return ErrEncoding
	case ecma.IsBlank(text):
		return ErrBlank
	case len(text) > s.opts.MaxNoteBytes:
		return &LimitError{Limit: ErrTooLarge, Size: len(text), Max: s.opts.MaxNoteBytes}
	}
	return nil
}

// addAll stores the drafts that are not there yet, and then makes room if there are too many.
func (c *change) addAll(drafts []prepared) ([]Added, error) {
	added := make([]Added, len(drafts))
	first := c.scope.lastNote + 1
	for i := range drafts {
		seq, there, err := c.add(&drafts[i])
		if err != nil {
			return nil, err
		}
		added[i] = Added{ID: noteID(c.scope.number, seq), Added: !there}
	}
	return added, c.makeRoom(first)
}

// find returns the number of the note of an origin, if there is one. One that has expired is deleted: what is stored now must
// not go with it.
func (c *change) find(origin string) (seq int64, found bool, err error) {
	numbers, err := c.numbers(c.sql.byOrigin, origin)
	if err != nil || len(numbers) == 0 {
		return 0, false, err
	}
	live, err := c.live(numbers)
	if err != nil {
		return 0, false, err
	}
	if len(live) == 0 {
		_, err := c.remove(numbers)
		return 0, false, err
	}
	return numbers[0], true, nil
}

// add stores a draft, and returns the number of the note that has it, which may have been there already.
func (c *change) add(d *prepared) (seq int64, there bool, err error) {
	seq = c.scope.lastNote + 1
	inserted, err := c.execute(c.sql.insert, seq, int64(d.Kind), d.origin, d.thread(), c.now, c.expiry(d.Kind, d.Expires),
		d.terms.Encode(), []byte(d.Text), d.details)
	if err != nil {
		return 0, false, err
	}
	if inserted == 0 {
		if seq, there, err = c.find(d.origin); there || err != nil {
			return seq, there, err
		}
		return c.add(d)
	}
	c.scope.lastNote = seq
	c.scope.count[d.Kind]++
	c.scope.words[d.Kind] += int64(len(d.terms.Words))
	if err := c.index(c.sql.addTerms, seq, d.Kind, d.terms); err != nil {
		return 0, false, err
	}
	return seq, false, c.addVector(d.Kind, seq, d.vector)
}

// thread returns the conversation whose notes help each other to be found. A fact stands by itself.
func (d *Draft) thread() int64 {
	if d.Kind == Fact {
		return 0
	}
	return threadOf(d.Session)
}

// expiry returns when a note that is stored now expires: at the wanted time, if there is one, else after the life of its
// kind.
func (c *change) expiry(kind Kind, wanted time.Time) int64 {
	life := c.opts.FactLife
	if kind == Utterance {
		life = c.opts.UtteranceLife
	}
	switch {
	case !wanted.IsZero():
		return max(wanted.UnixMilli(), 1)
	case life > 0:
		return c.now + life.Milliseconds()
	}
	return 0
}
