package notes

import (
	"context"
	"fmt"
	"slices"
)

// Forget deletes the notes with the given ids, with everything that was kept beside them, and returns how many there were.
// An id that means nothing here counts as forgotten already.
func (s *Store) Forget(ctx context.Context, key string, ids ...string) (int, error) {
	forgotten := 0
	err := s.change(ctx, key, func(c *change) (err error) {
		forgotten, err = c.remove(c.numbersOf(ids))
		return err
	})
	if err != nil {
		return 0, failed(ctx, "forget", err)
	}
	return forgotten, nil
}

// numbersOf returns the numbers that ids of the scope have, each once.
func (c *change) numbersOf(ids []string) (numbers []int64) {
	for _, id := range ids {
		if seq, ok := numberOf(c.scope.number, id); ok {
			numbers = append(numbers, seq)
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// remove deletes notes: their text, their terms, their vectors and every recorded recall that shows one of them.
func (c *change) remove(numbers []int64) (int, error) {
	if len(numbers) == 0 {
		return 0, nil
	}
	rows, err := c.rows(numbers)
	if err != nil {
		return 0, err
	}
	for i := range rows {
		r := &rows[i]
		terms, err := r.text()
		if err != nil {
			return 0, err
		}
		if err := c.index(c.sql.dropTerms, r.seq, r.kind, terms); err != nil {
			return 0, err
		}
		c.scope.count[r.kind]--
		c.scope.words[r.kind] -= int64(len(terms.Words))
		if _, err := c.execute(c.sql.forgetRecalls, fmt.Sprintf("%%,%d,%%", r.seq)); err != nil {
			return 0, err
		}
		if _, err := c.execute(c.sql.dropVectors, int64(r.kind), r.seq); err != nil {
			return 0, err
		}
		if _, err := c.execute(c.sql.remove, r.seq); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}

// rows returns the notes with the given numbers, those that have expired included.
func (c *change) rows(numbers []int64) ([]row, error) {
	return collect(c.ctx, c.tx, c.sql.read, []any{c.key, c.among(numbers), 0}, scanRow)
}

// live returns those of them that have not expired.
func (c *change) live(numbers []int64) ([]row, error) {
	return collect(c.ctx, c.tx, c.sql.read, []any{c.key, c.among(numbers), c.now}, scanRow)
}

// expireAtOnce and expireBatch bound how many notes one transaction deletes.
const (
	expireAtOnce = 100
	expireBatch  = 1000
)

// expire deletes up to limit notes that have expired, the longest expired first.
func (c *change) expire(limit int) error {
	numbers, err := c.numbers(c.sql.expired, c.now, limit)
	if err != nil {
		return err
	}
	_, err = c.remove(numbers)
	return err
}

// makeRoom deletes, while there are too many notes, those that have expired and then, if that is the policy, the oldest
// utterances. Notes from number first on were just added, and are not deleted for themselves.
func (c *change) makeRoom(first int64) error {
	if c.over() <= 0 || c.scope.lastNote < first {
		return nil
	}
	if err := c.expire(int(c.over())); err != nil {
		return err
	}
	over := c.over()
	if over <= 0 {
		return nil
	}
	full := &LimitError{Limit: ErrFull, Size: c.opts.MaxNotes + int(over), Max: c.opts.MaxNotes}
	if c.opts.WhenFull != DropUtterances {
		return full
	}
	oldest, err := c.numbers(c.sql.oldest, over)
	if err != nil {
		return err
	}
	if int64(len(oldest)) < over || oldest[len(oldest)-1] >= first {
		return full
	}
	_, err = c.remove(oldest)
	return err
}

// over returns how many notes there are too many, if that is positive.
func (c *change) over() int64 {
	if c.opts.MaxNotes == 0 {
		return 0
	}
	return c.scope.count[Fact] + c.scope.count[Utterance] - int64(c.opts.MaxNotes)
}

// Expire deletes what has expired under the key. Nothing that has expired is shown, also before; call it for scopes in which
// nothing changes any more, with the keys that Keys returns.
func (s *Store) Expire(ctx context.Context, key string) error {
	for {
		row, err := s.stored(ctx, key)
		if err != nil || row.number == 0 {
			return failed(ctx, "expire", err)
		}
		more := false
		err = s.change(ctx, key, func(c *change) error {
			before := c.scope.count
			err := c.expire(expireBatch)
			more = before != c.scope.count
			return err
		})
		if err != nil || !more {
			return failed(ctx, "expire", err)
		}
	}
}

// Erase deletes everything under the key: notes, index, vectors, recorded recalls and operations, and that there ever was
// such a key. A repeated call succeeds; after an error it has to be repeated. A large scope is deleted in several
// transactions.
func (s *Store) Erase(ctx context.Context, key string) error {
	for {
		row, err := s.stored(ctx, key)
		if err != nil || row.number == 0 {
			return failed(ctx, "erase", err)
		}
		if err := s.change(ctx, key, (*change).erase); err != nil {
			return failed(ctx, "erase", err)
		}
	}
}

// erase deletes the first notes and, when none is left, the scope.
func (c *change) erase() error {
	numbers, err := c.numbers(c.sql.numbers, expireBatch)
	if err != nil {
		return err
	}
	if _, err := c.remove(numbers); err != nil {
		return err
	}
	if len(numbers) == expireBatch {
		return nil
	}
	for _, statement := range []string{c.sql.dropNotes, c.sql.dropOperations, c.sql.dropRecalls, c.sql.dropAllVectors, c.sql.dropScope} {
		if _, err := c.execute(statement); err != nil {
			return err
		}
	}
	c.scope = scopeRow{}
	return nil
}
