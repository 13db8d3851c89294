package notes

import (
	"context"
	"slices"
)

// Erase deletes everything under the key: notes, index, vectors, recorded recalls and operations, and that there ever was
// such a key, damaged or not. A repeated call succeeds; after an error it has to be repeated. A large scope is deleted in
// several transactions. What is stored meanwhile is deleted with it or stays as the beginning of a new scope.
func (s *Store) Erase(ctx context.Context, key string) error {
	for more := true; more; {
		more = false
		err := s.reduce(ctx, key, func(c *change) (err error) {
			more, err = c.erase()
			return err
		})
		if err != nil {
			return failed(ctx, "erase", err)
		}
	}
	return nil
}

// erase deletes the first notes, when none is left what they left in the index, and then the scope. It reports whether there
// is more to do.
func (c *change) erase() (more bool, err error) {
	numbers, err := c.numbers(c.sql.numbers, expireBatch)
	if err != nil {
		return false, err
	}
	for part := range slices.Chunk(numbers, removeAtOnce) {
		rows, err := c.removable(part)
		if err != nil {
			return false, err
		}
		if _, err := c.removeAll(rows); err != nil {
			return false, err
		}
	}
	if len(numbers) == expireBatch {
		return true, nil
	}
	if more, err := c.clearIndex(); more || err != nil {
		return more, err
	}
	for _, statement := range []string{c.sql.dropNotes, c.sql.dropOperations, c.sql.dropRecalls, c.sql.dropAllVectors, c.sql.dropScope} {
		if _, err := c.execute(statement); err != nil {
			return false, err
		}
	}
	c.scope = scopeRow{}
	return false, nil
}
