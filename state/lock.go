package state

import (
	"context"
	"fmt"
	"slices"
)

// lock has one holder at a time. All locks of a session are guarded by its mutex.
type lock struct {
	held holder
	free chan struct{} // closed at the release; nil while nobody waits
}

// acquire waits until ctx ends for l, and then h holds it. A wait that could never end, because the holder waits for the
// caller, is an error matching ErrNested.
func (s *Session) acquire(ctx context.Context, l *lock, h holder) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	if s.tryAcquire(l, h) {
		return nil
	}
	mine := holdersOnStack() // takes microseconds, and so not the mutex
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.wait(ctx, l, mine); err != nil {
		return err
	}
	l.held = h
	return nil
}

func (s *Session) tryAcquire(l *lock, h holder) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.held != 0 {
		return false
	}
	l.held = h
	return true
}

// wait returns nil when nobody holds l. mine are the holders that the caller would keep waiting. It gives up the mutex
// meanwhile.
func (s *Session) wait(ctx context.Context, l *lock, mine []holder) error {
	for l.held != 0 {
		if s.waitsFor(l, mine) {
			return ErrNested
		}
		if err := s.waitOnce(ctx, l, mine); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) waitOnce(ctx context.Context, l *lock, mine []holder) error {
	if l.free == nil {
		l.free = make(chan struct{})
	}
	free := l.free
	s.setWaiting(mine, l)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.setWaiting(mine, nil)
	}()
	select {
	case <-free:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("state: %w", ctx.Err())
	}
}

// setWaiting notes that the goroutine of some holders waits for l, or for nothing when l is nil.
func (s *Session) setWaiting(holders []holder, l *lock) {
	for _, h := range holders {
		if l == nil {
			delete(s.waiting, h)
			continue
		}
		if s.waiting == nil {
			s.waiting = map[holder]*lock{}
		}
		s.waiting[h] = l
	}
}

// waitsFor reports whether the holder of l is one of mine, or waits for a lock whose holder is, and so on.
func (s *Session) waitsFor(l *lock, mine []holder) bool {
	for l != nil && l.held != 0 {
		if slices.Contains(mine, l.held) {
			return true
		}
		l = s.waiting[l.held]
	}
	return false
}

func (s *Session) release(l *lock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.releaseLocked(l)
}

// releaseLocked is release for a caller who holds the mutex.
func (s *Session) releaseLocked(l *lock) {
	l.held = 0
	if l.free != nil {
		close(l.free)
		l.free = nil
	}
}
