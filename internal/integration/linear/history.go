// Package linear records what concurrent clients asked of a document store and what they were told, and checks that one
// order of operations, within the times at which they ran, explains every answer.
package linear

import (
	"fmt"
	"sync"
	"time"
)

// kind is what an operation asked for.
type kind uint8

const (
	read kind = iota
	write
	remove
)

func (k kind) String() string { return [...]string{"read", "write", "delete"}[k] }

// outcome is what the client was told.
type outcome uint8

const (
	// done: the operation happened.
	done outcome = iota
	// conflicted: the version differed and nothing happened.
	conflicted
	// unknown: it happened or it did not.
	unknown
)

func (o outcome) String() string { return [...]string{"done", "conflict", "unknown"}[o] }

// absent is the content of a document that does not exist. No client writes it.
const absent = ""

// operation is one call. Every write of a history has a content of its own, so a content names the write that made it.
type operation struct {
	client     int
	key        string
	kind       kind
	expected   string // the version that a write or delete was conditional on
	content    string // written, or what a read returned; absent when there was no document
	version    string // returned by a read or a write
	outcome    outcome
	start, end time.Duration // since the history began
}

// History is what a run recorded.
type History struct {
	mu         sync.Mutex
	began      time.Time
	operations []operation
	failures   []error
}

// Operations returns how many operations have an outcome that takes part in the check.
func (h *History) Operations() int { return len(h.operations) }

// Failures returns the errors of operations that certainly did not happen: reads that failed and writes that were never
// sent. There are none where nothing is cut or killed.
func (h *History) Failures() []error { return h.failures }

// Count returns how many operations ended each way.
func (h *History) Count() (done, conflicts, unknowns int) {
	var counts [3]int
	for _, op := range h.operations {
		counts[op.outcome]++
	}
	return counts[0], counts[1], counts[2]
}

func (h *History) now() time.Duration { return time.Since(h.began) }

func (h *History) add(op operation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.operations = append(h.operations, op)
}

func (h *History) fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failures = append(h.failures, err)
}

func (h *History) String() string {
	done, conflicts, unknowns := h.Count()
	return fmt.Sprintf("%d operations: %d done, %d conflicts, %d of unknown outcome; %d not done",
		h.Operations(), done, conflicts, unknowns, len(h.failures))
}
