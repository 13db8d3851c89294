package memory

import (
	"context"
	"time"
)

// Observer is told what the memories of an agent do. A nil function is not called. The functions may be called concurrently
// and should return quickly; a panic in one around a provider call is an error of that slot, and any other is logged. An
// observer is told sizes, names and keys, never a scope value or a memory; an error may quote what the provider put into it.
type Observer struct {
	// CallStarted is called before a provider is asked. The provider is called with the context that it returns, so it can
	// carry a trace span.
	CallStarted func(ctx context.Context, c *Call) context.Context
	// CallEnded is called with the context that CallStarted returned and the same Call, now complete. When the context of a
	// turn has ended, that may be after the turn's start has returned.
	CallEnded func(ctx context.Context, c *Call)
	// Happened is called for everything else.
	Happened func(ctx context.Context, e *Event)
}

// CallName classifies a provider call, with the names that OpenTelemetry's conventions for generative AI use.
type CallName string

// Provider calls.
const (
	CallSearch CallName = "search_memory" // a recall
	CallUpsert CallName = "upsert_memory" // a capture
)

// Call is one call of a provider's recall or capture.
type Call struct {
	Name        CallName
	Phase       Phase
	OperationID string
	Slot        string
	Key         string
	SessionID   string
	TurnID      string // "" between turns
	// Records, Duration and Err are set when the call has ended. Records is the number of items that a recall returned.
	Records  int
	Duration time.Duration
	Err      error
}

// EventKind says what happened.
type EventKind string

// Events.
const (
	EventTurnStarted         EventKind = "turn.started"         // Records: how many were added
	EventTurnResumed         EventKind = "turn.resumed"         // a committed start was rebuilt
	EventTurnCompleted       EventKind = "turn.completed"       // Err: failed captures
	EventSlotDisabled        EventKind = "slot.disabled"        // its scope or namespace is zero
	EventSlotFailed          EventKind = "slot.failed"          // a best-effort slot; Err says why
	EventToolsLeftOut        EventKind = "tools.left_out"       // Err says why
	EventCompactionRequested EventKind = "compaction.requested" // Messages: how many there are
	EventCompactionCompleted EventKind = "compaction.completed" // Records and Messages: how many there are now; Before: messages there were
	EventCleared             EventKind = "cleared"
	EventReset               EventKind = "reset"
	EventErased              EventKind = "erased"   // a slot of a caller; Records as in SlotReport; Err: it may not be empty
	EventExported            EventKind = "exported" // a slot of a caller; Records as in SlotReport; Err: it is incomplete
)

// Event is something that happened to a session.
type Event struct {
	Kind      EventKind
	SessionID string
	Node      string
	TurnID    string // "" between turns
	Slot      string // "" when it concerns no slot in particular
	Phase     Phase
	Records   int
	Messages  int
	Before    int
	Err       error
}
