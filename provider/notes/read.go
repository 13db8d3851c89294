package notes

import (
	"context"
	"encoding/json"
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
	notes, err := s.notes(ctx, key, scope.number, []int64{seq})
	if err != nil {
		return Note{}, failed(ctx, "get", err)
	}
	if len(notes) == 0 {
		return Note{}, failed(ctx, "get", noNote(id))
	}
	return notes[seq], nil
}

// notes returns the notes with the given numbers that are there.
func (s *Store) notes(ctx context.Context, key string, scope int64, numbers []int64) (map[int64]Note, error) {
	found := make(map[int64]Note, len(numbers))
	if len(numbers) == 0 {
		return found, nil
	}
	rows, err := s.query(ctx, s.sql.read, key, s.among(numbers), s.opts.Now().UnixMilli())
	for i := range rows {
		found[rows[i].seq] = rows[i].note(scope)
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

// List returns up to limit notes of the key in the order in which they were stored, after the note with the id after, or from the first if that is "". A
// page that is not full is the last one.
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
		notes[i] = rows[i].note(scope.number)
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

const (
	exportFormat  = "recollect-note"
	exportVersion = 1
	exportPage    = 200
)

// exported is a line of an export.
type exported struct {
	Format        string `json:"format"`
	FormatVersion int    `json:"formatVersion"`
	*Note
}

// Export calls f for every note of the key, in the order in which they were stored, as one JSON object: a line of JSON Lines, without the line feed. It
// stops at the first error of f and returns it. What is stored beside the notes is made from them and is not exported.
func (s *Store) Export(ctx context.Context, key string, f func(line json.RawMessage) error) error {
	after := ""
	for {
		page, err := s.List(ctx, key, after, exportPage)
		if err != nil {
			return err
		}
		for i := range page {
			line, err := json.Marshal(exported{exportFormat, exportVersion, &page[i]})
			if err != nil {
				return failed(ctx, "export", err)
			}
			if err := f(line); err != nil {
				return err
			}
		}
		if len(page) < exportPage {
			return nil
		}
		after = page[len(page)-1].ID
	}
}
