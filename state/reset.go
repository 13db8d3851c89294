package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
)

// resetAttempts is how often the removal of a child that keeps committing is tried.
const resetAttempts = 8

// Reset ends the session: it deletes the checkpoints of all its children, theirs, and its own, attachments included. It
// waits for a running step until ctx ends. Afterwards every use of s, of its children and of contexts bound to them is an
// error matching ErrStale. The next session needs a new id.
//
// When Reset returns an error some children may be gone; call it again, until it returns nil, or ErrStale because the one
// before did it. What an agent keeps in its memory providers is not touched.
func (s *Session) Reset(ctx context.Context) error {
	if s.runIn(ctx) != nil {
		return fmt.Errorf("%w: a session cannot be reset inside its step", ErrNested)
	}
	h := newHolder()
	if err := s.enter(ctx, h); err != nil {
		return err
	}
	defer s.release(&s.gate)
	if err := s.acquire(ctx, &s.writing, h); err != nil {
		return err
	}
	defer s.release(&s.writing)
	if err := deleteChildren(ctx, s.store, s.id, s.doc); err != nil {
		return err
	}
	if err := s.deleteCheckpoint(ctx); err != nil {
		return err
	}
	s.options.Logger.LogAttrs(ctx, slog.LevelDebug, "session reset", slog.String("key", s.key))
	return nil
}

// deleteCheckpoint deletes the session's own checkpoint and ends the session. The caller holds the lock for writing.
func (s *Session) deleteCheckpoint(ctx context.Context) error {
	err := s.store.Delete(ctx, s.key, s.version)
	switch {
	case err == nil:
		s.end()
		return nil
	case errors.Is(err, ErrConflict):
		return s.lose(err)
	}
	s.mu.Lock()
	s.unsettled = &document{erased: true}
	s.mu.Unlock()
	if ctx.Err() == nil && s.settle(ctx) == nil && s.isEnded() {
		return nil
	}
	return fmt.Errorf("state: delete checkpoint: %w", err)
}

func (s *Session) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended, s.doc, s.version, s.unsettled = true, &document{}, "", nil
}

func (s *Session) isEnded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// deleteChildren deletes the checkpoints of all children that a document's session ever had.
func deleteChildren(ctx context.Context, store Store, parent ID, d *document) error {
	for _, c := range d.children {
		for number := range c.count {
			if err := deleteTree(ctx, store, childID(parent, d.seed, c.node, number)); err != nil {
				return fmt.Errorf("state: delete child %d at node %q: %w", number, c.node, err)
			}
		}
	}
	return nil
}

// deleteTree deletes a session's checkpoint after those of its children. A child that commits meanwhile is read again.
func deleteTree(ctx context.Context, store Store, id ID) error {
	key, err := id.Key()
	if err != nil {
		return err
	}
	for range resetAttempts {
		content, version, err := store.Read(ctx, key)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		d, _, err := decodeCheckpoint(content)
		if err != nil {
			return err
		}
		if err := deleteChildren(ctx, store, id, d); err != nil {
			return err
		}
		if err = store.Delete(ctx, key, version); !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return fmt.Errorf("it keeps committing: %w", &ConflictError{Key: key})
}
