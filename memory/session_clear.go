package memory

import (
	"context"
	"fmt"
	"slices"
)

// Clear drops the history with its records, the locks and the replay bookkeeping, and gives up a turn that is unfinished in
// the session's snapshot. What providers have stored stays, and so does state. It waits for an open turn to end, or for ctx.
func (s *Session) Clear(ctx context.Context) error {
	release, err := s.between(ctx)
	if err != nil {
		return err
	}
	defer release()
	err = s.locked(func() error {
		if err := s.usable(); err != nil {
			return err
		}
		s.state.history, s.state.bookkeeping, s.state.turn, s.state.excess = nil, Bookkeeping{}, nil, 0
		return nil
	})
	if err != nil {
		return err
	}
	s.memory.happened(ctx, &Event{Kind: EventCleared, SessionID: s.ID()})
	return nil
}

// Reset ends the session: its history is dropped, SessionOptions.OnReset deletes what the host has stored, and every later
// use is an error matching ErrSessionEnded. What providers have stored stays. The next session is a new one, with an id of
// its own. Reset waits for an open turn to end, or for ctx. When OnReset fails, its error is returned, the session has
// ended, and Reset can be called again.
func (s *Session) Reset(ctx context.Context) error {
	release, err := s.between(ctx)
	if err != nil {
		return err
	}
	defer release()
	_ = s.locked(func() error {
		s.state = sessionState{id: s.state.id, ended: true}
		return nil
	})
	if err := s.deleteStored(ctx); err != nil {
		return fmt.Errorf("memory: reset of a session: %w", foreign(err))
	}
	s.memory.happened(ctx, &Event{Kind: EventReset, SessionID: s.ID()})
	return nil
}

func (s *Session) deleteStored(ctx context.Context) error {
	if s.options.OnReset == nil {
		return nil
	}
	_, err := caught(ctx, s.memory.log, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, s.options.OnReset(ctx, &SessionReset{SessionID: s.ID(), Node: s.memory.node})
	})
	return err
}

// Forget drops every record of a slot from the history, and so from later snapshots and views, also while a turn is open. It
// goes with erasing what the slot's provider has stored: records of an erased memory live on in open sessions until then.
// What was said about them stays. It returns how many records were dropped, and waits for what is at work, or for ctx.
func (s *Session) Forget(ctx context.Context, slot string) (int, error) {
	if err := s.working.acquire(ctx); err != nil {
		return 0, err
	}
	defer s.working.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(); err != nil {
		return 0, err
	}
	kept := slices.DeleteFunc(slices.Clone(s.state.history), func(m Message) bool {
		return m.m.attribution != nil && m.m.attribution.slot == slot
	})
	dropped := len(s.state.history) - len(kept)
	s.state.history = kept
	if s.live == nil {
		return dropped, nil
	}
	view, err := s.state.bookkeeping.Project(kept)
	if err != nil {
		return dropped, err
	}
	s.live.view, s.live.weight, s.live.weighed = view, 0, 0
	return dropped, nil
}
