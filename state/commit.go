package state

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
)

// commit writes the document that build makes of the committed one, in one conditional write. It returns nil when that is
// stored.
func (s *Session) commit(ctx context.Context, h holder, build func(*document) error) error {
	if err := s.acquire(ctx, &s.writing, h); err != nil {
		return err
	}
	defer s.release(&s.writing)
	if err := s.settle(ctx); err != nil {
		return err
	}
	next, err := s.successor(build)
	if err != nil {
		return err
	}
	content := appendCheckpoint(make([]byte, 0, next.sizeHint()), s.id, next)
	if len(content) > s.options.MaxBytes {
		return next.tooLarge(len(content), s.options.MaxBytes)
	}
	version, err := s.store.Write(ctx, s.key, content, s.version)
	if err != nil {
		return s.failed(ctx, next, err)
	}
	s.adopt(next, version)
	return nil
}

// successor returns the document that the next write sends.
func (s *Session) successor(build func(*document) error) (*document, error) {
	now := s.options.Now().UTC()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(nil); err != nil {
		return nil, err
	}
	next := *s.doc
	if err := build(&next); err != nil {
		return nil, err
	}
	next.commit = rand.Text()
	next.updatedAt = now
	return &next, nil
}

func (s *Session) adopt(d *document, version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doc, s.version, s.unsettled = d, version, nil
}

// failed finds out what became of a write that returned an error. It is nil when the write is stored nevertheless.
func (s *Session) failed(ctx context.Context, sent *document, cause error) error {
	s.mu.Lock()
	s.unsettled = sent
	s.mu.Unlock()
	if ctx.Err() != nil {
		return undecided(cause, ctx.Err())
	}
	err := s.settle(ctx)
	switch {
	case err == nil && s.holds(sent):
		return nil
	case err == nil:
		return fmt.Errorf("state: write checkpoint: %w", cause)
	case errors.Is(err, ErrConflict) && errors.Is(cause, ErrConflict):
		return err
	}
	return undecided(cause, err)
}

// undecided reports a write that failed with cause, and that could not be looked up because of why.
func undecided(cause, why error) error {
	if errors.Is(cause, ErrConflict) || errors.Is(cause, ErrUnknownOutcome) {
		return fmt.Errorf("state: write checkpoint: %w (then: %v)", cause, why)
	}
	return fmt.Errorf("state: write checkpoint: %w: %w (then: %v)", ErrUnknownOutcome, cause, why)
}

func (s *Session) holds(d *document) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.doc == d
}

// settle finds out whether a write whose outcome is unknown is stored. Afterwards the session knows its checkpoint, or
// has lost it to another runner, or the error says that nobody can tell yet. The caller holds the lock for writing.
func (s *Session) settle(ctx context.Context) error {
	if s.unsettled == nil {
		return nil
	}
	content, version, err := s.store.Read(ctx, s.key)
	absent := errors.Is(err, fs.ErrNotExist)
	if err != nil && !absent {
		return fmt.Errorf("state: read checkpoint: %w", err)
	}
	if absent && s.unsettled.erased {
		s.end()
		return nil
	}
	if absent {
		version = ""
	}
	if version == s.version {
		s.adopt(s.doc, s.version)
		return nil
	}
	if !absent {
		stored, _, err := decodeCheckpoint(content)
		if err != nil {
			return err
		}
		if stored.commit == s.unsettled.commit { // which is never empty
			s.adopt(s.unsettled, version)
			return nil
		}
	}
	s.options.Logger.LogAttrs(ctx, slog.LevelWarn, "session lost to another runner", slog.String("key", s.key))
	return s.lose(&ConflictError{Key: s.key, Expected: s.version, Actual: version})
}

// lose ends the use of the session: its checkpoint is no longer the one it builds on.
func (s *Session) lose(conflict error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = fmt.Errorf("state: another runner changed this session, open it again: %w", conflict)
	s.unsettled = nil
	return s.lost
}

// ready returns nil when the session knows its checkpoint and can be used.
func (s *Session) ready(ctx context.Context, h holder) error {
	if err := s.acquire(ctx, &s.writing, h); err != nil {
		return err
	}
	defer s.release(&s.writing)
	if err := s.settle(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.usable(nil)
}
