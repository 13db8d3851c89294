package worker

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recollect-go/recollect/internal/docstore"
)

// Mortal is a store in a process that is killed and replaced again and again.
type Mortal struct {
	process atomic.Pointer[Process]
	deaths  atomic.Int64
}

var _ docstore.Store = (*Mortal)(nil)

// StartMortal runs a worker that lives for life at a time until stop is called, and for good after that.
func StartMortal(t testing.TB, description string, life time.Duration) (store *Mortal, stop func()) {
	t.Helper()
	m := new(Mortal)
	m.process.Store(Start(t, description))
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(life):
			}
			next, err := start(description)
			if err != nil {
				t.Errorf("worker: %v", err)
				return
			}
			m.process.Swap(next).Kill()
			m.deaths.Add(1)
		}
	}()
	var stopped atomic.Bool
	stop = func() {
		if stopped.CompareAndSwap(false, true) {
			close(done)
			<-ended
		}
	}
	t.Cleanup(func() {
		stop()
		m.process.Load().Kill()
	})
	return m, stop
}

// Deaths returns how often the process was killed.
func (m *Mortal) Deaths() int { return int(m.deaths.Load()) }

// Read asks the process of the moment.
func (m *Mortal) Read(ctx context.Context, key string) ([]byte, string, error) {
	return m.process.Load().Read(ctx, key)
}

// Write asks the process of the moment.
func (m *Mortal) Write(ctx context.Context, key string, content []byte, expected string) (string, error) {
	return m.process.Load().Write(ctx, key, content, expected)
}

// Delete asks the process of the moment.
func (m *Mortal) Delete(ctx context.Context, key, expected string) error {
	return m.process.Load().Delete(ctx, key, expected)
}
