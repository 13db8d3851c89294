package state

import (
	"context"
	"fmt"
	"runtime"
)

// lock is held by one goroutine at a time. All locks of a session are guarded by its mutex.
type lock struct {
	owner goroutine
	free  chan struct{} // closed at the release; nil while nobody waits
}

// goroutine identifies a goroutine; 0 is none.
type goroutine uint64

// currentGoroutine returns the number at the head of the stack trace. It serves only to find out that a wait would be for the waiter
// itself: the function of an Update receives no context that could tell.
func currentGoroutine() goroutine {
	var buf [32]byte
	n := runtime.Stack(buf[:], false)
	var id goroutine
	for _, c := range buf[len("goroutine "):n] {
		if c < '0' || c > '9' {
			break
		}
		id = 10*id + goroutine(c-'0')
	}
	return id
}

// acquire waits for l until ctx ends. A wait that could never end, because the owner waits for this goroutine, is an error matching
// ErrNested.
func (s *Session) acquire(ctx context.Context, l *lock, me goroutine) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for l.owner != 0 {
		if s.waitsFor(l, me) {
			return ErrNested
		}
		if err := s.wait(ctx, l, me); err != nil {
			return err
		}
	}
	l.owner = me
	return nil
}

// wait returns when l was released, or ctx ended. It gives up the mutex meanwhile.
func (s *Session) wait(ctx context.Context, l *lock, me goroutine) error {
	if l.free == nil {
		l.free = make(chan struct{})
	}
	if s.waiting == nil {
		s.waiting = map[goroutine]*lock{}
	}
	free := l.free
	s.waiting[me] = l
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.waiting, me)
	}()
	select {
	case <-free:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("state: %w", ctx.Err())
	}
}

// waitsFor reports whether the owner of l is me, or waits for a lock whose owner is, and so on.
func (s *Session) waitsFor(l *lock, me goroutine) bool {
	for l != nil && l.owner != 0 {
		if l.owner == me {
			return true
		}
		l = s.waiting[l.owner]
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
	l.owner = 0
	if l.free != nil {
		close(l.free)
		l.free = nil
	}
}
