package notes

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// Forget deletes the notes with the given ids, with everything that was kept beside them, and returns how many there were.
// An id that means nothing here counts as forgotten already.
func (s *Store) Forget(ctx context.Context, key string, ids ...string) (int, error) {
	forgotten := 0
	err := s.reduce(ctx, key, func(c *change) (err error) {
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

// removeAtOnce bounds how many notes, with their terms, are in memory while they are deleted.
const removeAtOnce = 100

// remove deletes notes: their text, their terms, their vectors and every recorded recall that shows one of them. What is
// stored of a note does not stop it.
func (c *change) remove(numbers []int64) (removed int, err error) {
	for part := range slices.Chunk(numbers, removeAtOnce) {
		rows, err := c.removable(part)
		if err != nil {
			return 0, err
		}
		unknown, err := c.removeAll(rows)
		if err == nil {
			err = c.dropLeftovers(unknown)
		}
		if err != nil {
			return 0, err
		}
		removed += len(rows)
	}
	return removed, nil
}

// removable is as much of a note as it takes to delete it.
type removable struct {
	seq   int64
	kind  Kind // 0 when there is no such kind
	terms []byte
}

func (c *change) removable(numbers []int64) ([]removable, error) {
	return collect(c.ctx, c.tx, c.sql.forRanking, []any{c.key, c.among(numbers), anyExpiry}, func(scan scanner) (r removable, err error) {
		var kind, thread int64
		err = scan(&r.seq, &kind, &thread, &r.terms)
		r.kind = kindOf(kind)
		return r, err
	})
}

// removeAll deletes notes, and returns the numbers of those whose terms are not known and may be in the index yet.
func (c *change) removeAll(rows []removable) (unknown []int64, err error) {
	for i := range rows {
		r := &rows[i]
		words, known, err := c.dropTerms(r)
		if err != nil {
			return nil, err
		}
		if !known {
			unknown = append(unknown, r.seq)
		}
		c.discount(r.kind, words)
		if _, err := c.execute(c.sql.forgetRecalls, fmt.Sprintf("%%,%d,%%", r.seq)); err != nil {
			return nil, err
		}
		if _, err := c.execute(c.sql.dropVectors, r.seq); err != nil {
			return nil, err
		}
		if _, err := c.execute(c.sql.remove, r.seq); err != nil {
			return nil, err
		}
	}
	return unknown, nil
}

// discount takes a note that is gone out of what is counted.
func (c *change) discount(kind Kind, words int) {
	if kind != 0 {
		c.scope.count[kind]--
		c.scope.words[kind] = max(c.scope.words[kind]-int64(words), 0)
	}
}

// anyExpiry is the time at which nothing has expired.
const anyExpiry int64 = math.MinInt64

// rows returns the notes with the given numbers, those that have expired included.
func (c *change) rows(numbers []int64) ([]row, error) {
	return collect(c.ctx, c.tx, c.sql.read, []any{c.key, c.among(numbers), anyExpiry}, scanRow)
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

// expire deletes up to limit notes that have expired, the longest expired first, and returns how many.
func (c *change) expire(limit int) (int, error) {
	numbers, err := c.numbers(c.sql.expired, c.now, limit)
	if err != nil {
		return 0, err
	}
	return c.remove(numbers)
}

// makeRoom deletes, while there are too many notes, those that have expired and then, if that is the policy, the oldest
// utterances. Notes from number first on were just added, and are not deleted for themselves.
func (c *change) makeRoom(first int64) error {
	if c.over() <= 0 || c.scope.lastNote < first {
		return nil
	}
	if _, err := c.expire(int(c.over())); err != nil {
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

// Expire deletes what has expired under the key, and the records of captures that are older than Options.OperationLife.
// Nothing that has expired is shown, also before; call it for scopes in which nothing changes any more, with the keys that
// Keys returns.
func (s *Store) Expire(ctx context.Context, key string) error {
	for more := true; more; {
		more = false
		err := s.reduce(ctx, key, func(c *change) error {
			notes, err := c.expire(expireBatch)
			if err != nil {
				return err
			}
			operations, err := c.expireOperations(expireBatch)
			more = notes == expireBatch || operations == expireBatch
			return err
		})
		if err != nil {
			return failed(ctx, "expire", err)
		}
	}
	return nil
}

// expireOperations deletes the records of up to limit captures that nobody repeats any more, and returns how many.
func (c *change) expireOperations(limit int) (int64, error) {
	if c.opts.OperationLife == 0 {
		return 0, nil
	}
	return c.execute(c.sql.pruneOperations, c.now-c.opts.OperationLife.Milliseconds(), limit)
}
