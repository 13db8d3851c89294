package notes

import (
	"context"
	"fmt"
)

// Get returns the note with an id, or an error matching ErrNoNote.
func (s *Store) Get(ctx context.Context, key, id string) (Note, error) {
	scope, err := s.stored(ctx, key)
	if err != nil {
		return Note{}, failed(ctx, "get", err)
	}
	seq, ok := numberOf(scope.number, id)
	if !ok || scope.number == 0 {
		return Note{}, failed(ctx, "get", noNote(id))
	}
	notes, err := s.notes(ctx, key, []int64{seq})
	if err != nil {
		return Note{}, failed(ctx, "get", err)
	}
	if len(notes) == 0 {
		return Note{}, failed(ctx, "get", noNote(id))
	}
	return notes[seq], nil
}

// notes returns the notes with the given numbers that are there.
func (s *Store) notes(ctx context.Context, key string, numbers []int64) (map[int64]Note, error) {
	found := make(map[int64]Note, len(numbers))
	if len(numbers) == 0 {
		return found, nil
	}
	rows, err := s.query(ctx, s.sql.read, key, s.among(numbers), s.opts.Now().UnixMilli())
	for i := range rows {
		found[rows[i].seq] = rows[i].note()
	}
	return found, err
}

func (s *Store) query(ctx context.Context, query string, args ...any) (rows []row, err error) {
	err = s.retry(ctx, func() error {
		rows, err = collect(ctx, s.db, query, args, scanRow)
		return err
	})
	return rows, err
}

// List returns up to limit notes of the key in the order in which they were stored, after the note with the id after, or
// from the first if that is "". A page that is not full is the last one.
func (s *Store) List(ctx context.Context, key, after string, limit int) ([]Note, error) {
	if limit < 1 {
		return nil, fmt.Errorf("%w: list: limit is %d, not positive", ErrOption, limit)
	}
	scope, err := s.stored(ctx, key)
	if err != nil || scope.number == 0 {
		return nil, failed(ctx, "list", err)
	}
	seq, ok := numberOf(scope.number, after)
	if !ok && after != "" {
		return nil, failed(ctx, "list", noNote(after))
	}
	rows, err := s.query(ctx, s.sql.page, key, seq, s.opts.Now().UnixMilli(), limit)
	if err != nil {
		return nil, failed(ctx, "list", err)
	}
	notes := make([]Note, len(rows))
	for i := range rows {
		notes[i] = rows[i].note()
	}
	return notes, nil
}

// Keys returns up to limit keys under which something is stored, in the order of their bytes, after the key after.
func (s *Store) Keys(ctx context.Context, after string, limit int) ([]string, error) {
	if limit < 1 {
		return nil, fmt.Errorf("%w: keys: limit is %d, not positive", ErrOption, limit)
	}
	var keys []string
	err := s.retry(ctx, func() (err error) {
		keys, err = collect(ctx, s.db, s.sql.keys, []any{after, limit}, func(scan scanner) (key string, err error) { return key, scan(&key) })
		return err
	})
	return keys, failed(ctx, "keys", err)
}
