package docstore

import (
	"context"
	"sync"
)

// queues lets one goroutine at a time work on a key, in order of arrival. The zero value is ready.
type queues struct {
	mu   sync.Mutex
	byID map[string]*queue
}

// queue is the queue of one key. It exists while somebody uses it.
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
		q.part(key)
		return ctx.Err()
	}
}

// leave ends the caller's turn.
func (q *queues) leave(key string) {
	<-q.part(key).turn
}

func (q *queues) join(key string) *queue {
	q.mu.Lock()
	defer q.mu.Unlock()
	entry := q.byID[key]
	if entry == nil {
		if q.byID == nil {
			q.byID = map[string]*queue{}
		}
		entry = &queue{turn: make(chan struct{}, 1)}
		q.byID[key] = entry
	}
	entry.users++
	return entry
}

func (q *queues) part(key string) *queue {
	q.mu.Lock()
	defer q.mu.Unlock()
	entry := q.byID[key]
	entry.users--
	if entry.users == 0 {
		delete(q.byID, key)
	}
	return entry
}
