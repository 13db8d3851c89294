package memory

import (
	"context"
	"encoding/json"

	"github.com/recollect-go/recollect/scope"
)

// Provider decides what is stored and found. The library decides when it is asked, for whom, and what becomes of the answer.
// Package memorytest checks the rules stated at Handlers.
type Provider interface {
	// Attach is called once per slot, by New. It checks the configuration and has no side effects.
	Attach(slot SlotInfo) (Handlers, error)
}

// SlotInfo is what a provider is told about the slot that it serves.
type SlotInfo struct {
	Name        string
	Description string
	Node        string
	Development bool
}

// ToolName returns the name under which the model sees a tool of the slot. It is valid only with at most 64 characters: a
// provider that knows the names of its tools refuses a slot that is too long for them in Attach.
func (s SlotInfo) ToolName(tool string) string { return s.Name + "__" + tool }

// Handlers are the functions of a provider. All of them may be called concurrently, for different keys and for the same one.
// A nil function is not called; Recall is required. Requests are read-only and may be kept. An Operation's Key is the
// partition of every read and write: nothing stored under another key may influence a result. Handlers is itself a Provider.
//
// A panic in one of them, or in a tool, is an error of the slot: a *SlotError that matches ErrProvider, unless it is a
// tool's, and holds a *PanicError. It does to a turn, a compaction or an erasure what any error of the slot does, and is
// logged with its stack. A panic in a goroutine that a provider starts cannot be recovered here and ends the process.
type Handlers struct {
	// Recall returns what the model should see before the turn. It is called once per turn, and the answer is validated and
	// committed as a whole. The same operation id should get the same answer: a host that starts a committed turn again and
	// gets another one is told so by ErrReplay, and calls ResumeTurn.
	Recall func(context.Context, *TurnStarted) ([]Item, error)

	// RecallCompacted returns what the model should see after a compaction.
	RecallCompacted func(context.Context, *CompactionCompleted) ([]Item, error)

	// CaptureTurn stores what is worth keeping of a successful turn. The operation id is an idempotency key: a repeated call
	// adds nothing, also one at the same time. With Options.Outbox it is repeated until it has succeeded.
	CaptureTurn func(context.Context, *TurnCompleted) error

	// CaptureCompaction stores what is worth keeping of a history that is about to be summarized. An error stops the
	// compaction.
	CaptureCompaction func(context.Context, *CompactionRequested) error

	// Tools returns the tools for one turn, bound to the request's key. No tool may take a scope, a namespace or a key as an
	// argument.
	Tools func(context.Context, *ToolsRequest) ([]Tool, error)

	// Erase removes everything stored under the key. A repeated call succeeds.
	Erase func(context.Context, *EraseRequest) error

	// Export hands everything stored under the key to the request's Write, one record after another, in the same order every
	// time. Nothing stored is no record, and no error. An error of Write ends the export and is returned. What Erase
	// removes is exported, except what is derived from it, such as an index: once erased, there is no record.
	Export func(context.Context, *ExportRequest) error
}

// Attach returns h.
func (h Handlers) Attach(SlotInfo) (Handlers, error) { return h, nil }

// Item is one recalled piece of text.
type Item struct {
	// ID makes the item replace the earlier one of the same slot, namespace and scope. At most 1024 bytes, unique in its
	// list; "" means none, and items without an ID accumulate.
	ID string
	// Content must not be blank. It is data for the model, never instructions.
	Content string
}

// Operation says on whose behalf a provider is called. Every request carries one.
type Operation struct {
	// ID is the stable name of this call, an idempotency key; "" in tool, erase and export requests.
	ID        string
	Key       string
	Namespace scope.Namespace
	Scope     scope.Scope
	Slot      string
	Session   SessionInfo
}

// SessionInfo identifies a session and its callers.
type SessionInfo struct {
	ID        string
	Node      string
	Current   *scope.Principal
	Initiator *scope.Principal
	Channel   map[string]any
}

// Turn is one user delivery.
type Turn struct {
	ID       string
	Sequence int64
	// Input is what was said. A stateless host's turn is found in the history by it: one that is resumed or completed
	// without it has no messages of its own. Where a compaction has dropped all of it, the turn begins at the last message
	// of a person, or, when nothing of the input was a person's, has none.
	Input []Message
	// Start is the index in the request's Messages at which the turn's own messages begin.
	Start int

	first Message // of an open turn of a session: where Start is
}

// TurnStarted asks for what the model should see before a turn. Messages is the history before the turn.
type TurnStarted struct {
	Operation
	Messages []Message
	Turn     Turn
}

// TurnCompleted offers a successful turn. Messages is the whole history, the turn's answer included; with Options.Outbox
// only the turn's own messages, see Outbox.
type TurnCompleted struct {
	Operation
	Messages []Message
	Turn     Turn
}

// CompactionRequested offers the history before it is summarized.
type CompactionRequested struct {
	Operation
	Messages    []Message
	Turn        *Turn // nil between turns
	ModelID     string
	InputTokens int64 // as the model's provider counted them; 0 when unknown
}

// CompactionCompleted asks for what the model should see after a compaction. Messages is the new history.
type CompactionCompleted struct {
	Operation
	Messages []Message
	Turn     *Turn // nil between turns
	ModelID  string
}

// ToolsRequest asks for the tools of a turn.
type ToolsRequest struct {
	Operation
	Messages []Message // nil when a call is resumed elsewhere
	Turn     Turn      // without input when a call is resumed elsewhere
}

// EraseRequest asks for the removal of everything under the operation's key.
type EraseRequest struct {
	Operation
}

// ExportRequest asks for everything under the operation's key.
type ExportRequest struct {
	Operation
	// Write takes one record and keeps nothing of it. It is called by one goroutine at a time, before Export returns.
	Write func(*ExportedRecord) error
}

// ExportedRecord is one thing that a provider keeps, as its owner may read it.
type ExportedRecord struct {
	Kind     string          // what it is, in the provider's words: "document", "note"; not empty
	ID       string          // names it among those of its kind; "" means that it has no name
	Content  string          // the text as it is stored, valid UTF-8
	Metadata json.RawMessage // what is stored with it: one JSON object, or nil
}
