package state

import (
	"context"
	"fmt"
	"log/slog"
)

// BeginTurn opens the turn that steps, children and per-turn values belong to from now on. It waits for a running step
// until ctx ends.
//
// Beginning the id of the current turn again resumes it: its completed steps return their recorded results, counted from
// the first. Any other id is a new turn, and what belonged to the turn before is dropped, so an id must not be used again
// later. Nothing is written before the turn's first commit.
func (s *Session) BeginTurn(ctx context.Context, id string) error {
	if err := checkText("turn id", id); err != nil {
		return err
	}
	if s.runIn(ctx) != nil {
		return fmt.Errorf("%w: a turn cannot begin inside a step", ErrNested)
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
	resumed := s.beginTurn(id)
	s.options.Logger.LogAttrs(ctx, slog.LevelDebug, "turn begun", slog.String("key", s.key), slog.Bool("resumed", resumed))
	return nil
}

func (s *Session) beginTurn(id string) (resumed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.began = true
	s.seen, s.called = nil, nil
	if s.doc.turn.id == id {
		return true
	}
	next := *s.doc
	next.turn = turn{id: id}
	s.doc = &next
	return false
}
