package docstore

import (
	"context"
	"sync"
)

// queues lets one goroutine at a time work on a key, in order of arrival. The zero value is ready.
type queues struct {
	mu    sync.Mutex
	byKey map[string]*queue
	spare *queue // nobody's, kept for the next key
}

// queue is the queue of one key, while somebody uses it.
type queue struct {
	users int
	turn  chan struct{} // holds one value while somebody works
}

// enter waits for the caller's turn on key, or for the end of ctx. After a nil error the caller must leave.
func (q *queues) enter(ctx context.Context, key string) error {
	entry := q.join(key)
	select {
	case entry.turn <- struct{}{}:
		return nil
	default:
	}
	select {
	case entry.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		q.mu.Lock()
		defer q.mu.Unlock()
		q.part(key, entry)
		return ctx.Err()
	}
}

// leave ends the caller's turn.
func (q *queues) leave(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	entry := q.byKey[key]
	<-entry.turn
	q.part(key, entry)
}

func (q *queues) join(key string) *queue {
	q.mu.Lock()
	defer q.mu.Unlock()
	entry := q.byKey[key]
	if entry == nil {
		entry = q.vacant()
		q.byKey[key] = entry
	}
	entry.users++
	return entry
}

// vacant returns a queue that nobody uses.
func (q *queues) vacant() *queue {
	if q.byKey == nil {
		q.byKey = map[string]*queue{}
	}
	if entry := q.spare; entry != nil {
		q.spare = nil
		return entry
	}
	return &queue{turn: make(chan struct{}, 1)}
}

func (q *queues) part(key string, entry *queue) {
	entry.users--
	if entry.users == 0 {
		delete(q.byKey, key)
		q.spare = entry
	}
}
