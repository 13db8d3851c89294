package redisstore

import (
	"slices"
	"sync"
	"time"
)

// idleTime is how long a worker stays without a call; it may be up to twice that.
const idleTime = 100 * time.Millisecond

// worker is a goroutine that runs one call at a time and that its caller can leave behind.
type worker struct {
	calls   chan func() error
	results chan error // of one call; nobody needs to receive it
}

func newWorker() *worker {
	w := &worker{calls: make(chan func() error, 1), results: make(chan error, 1)}
	go w.work()
	return w
}

func (w *worker) work() {
	for call := range w.calls {
		w.results <- call()
	}
}

// end makes the worker end when it has no call any more.
func (w *worker) end() { close(w.calls) }

// workers are idle ones. They are kept for a moment after a call: growing the stack of a new goroutine to what the client
// needs would take longer than everything else that this package adds to a call.
type workers struct {
	mu       sync.Mutex
	idle     []*worker // the one used last comes last
	spare    int       // how many of idle, from its beginning, no call has needed since the last sweep
	sweeping bool      // a sweep is due
}

// take returns an idle worker, or else a new one.
func (w *workers) take() *worker {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := len(w.idle) - 1
	if last < 0 {
		return newWorker()
	}
	taken := w.idle[last]
	w.idle = w.idle[:last]
	w.spare = min(w.spare, last)
	return taken
}

// giveBack takes a worker whose result was received.
func (w *workers) giveBack(finished *worker) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.idle = append(w.idle, finished)
	if !w.sweeping {
		w.sweeping = true
		time.AfterFunc(idleTime, w.sweep)
	}
}

// sweep ends the workers that no call has needed for a while. One timer serves all, so that a call sets none.
func (w *workers) sweep() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, unused := range w.idle[:w.spare] {
		unused.end()
	}
	w.idle = slices.Clone(w.idle[w.spare:])
	w.spare = len(w.idle)
	w.sweeping = w.spare > 0
	if w.sweeping {
		time.AfterFunc(idleTime, w.sweep)
	}
}
