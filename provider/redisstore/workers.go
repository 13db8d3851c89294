package redisstore

import "time"

// idleTime is how long a worker waits for its next call.
const idleTime = 100 * time.Millisecond

// workers run calls on goroutines that their callers can leave behind. They stay for a moment after a call: growing the
// stack of a new goroutine to what the client needs would take longer than everything else that this package adds to a
// call.
type workers struct{ calls chan func() }

func newWorkers() workers { return workers{calls: make(chan func())} }

// run makes an idle worker, or else a new one, run call.
func (w workers) run(call func()) {
	select {
	case w.calls <- call:
	default:
		go w.work(call)
	}
}

func (w workers) work(call func()) {
	idle := time.NewTimer(idleTime)
	defer idle.Stop()
	for {
		call()
		call = nil // it holds a document
		idle.Reset(idleTime)
		select {
		case call = <-w.calls:
		case <-idle.C:
			return
		}
	}
}
