package memory

import "context"

// Memory is the memories of one agent node. It holds no conversation and may be used concurrently.
type Memory struct{}

// New returns the memories of the given slots, or one error that lists every problem.
func New(slots []Slot, opts *Options) (*Memory, error) { panic("being written") }

// Options configures New. nil means all defaults.
type Options struct{}

// TurnStart is a turn that the host wants to begin. History is durable, with records and their attribution.
type TurnStart struct {
	Session     SessionInfo
	Turn        Turn // Start is ignored
	History     []Message
	Bookkeeping Bookkeeping
}

// TurnView is a turn that has started.
type TurnView struct {
	Records     []Message // to be inserted into the history directly before the turn's input
	Messages    []Message // what the model sees: the projection of history, records and input
	Tools       []Tool    // under their qualified names, bound to the turn's locks
	Bookkeeping Bookkeeping
}

// StartTurn locks every slot, recalls from all of them and returns what the model sees, or an error and nothing.
func (m *Memory) StartTurn(ctx context.Context, r *TurnStart) (*TurnView, error) {
	panic("being written")
}

// ResumeTurn rebuilds a turn whose start was committed. No provider is asked for a recall. History includes the turn's records and input.
func (m *Memory) ResumeTurn(ctx context.Context, r *TurnStart) (*TurnView, error) {
	panic("being written")
}

// CompleteTurn runs the captures of a turn that succeeded. History includes the answer.
func (m *Memory) CompleteTurn(ctx context.Context, r *TurnStart) error { panic("being written") }

// Bookkeeping is what the library must remember between calls of one session: locks and digests of recalls. It is opaque JSON,
// sensitive, and belongs into server-side storage beside the history. The zero Bookkeeping is that of a new session.
type Bookkeeping struct{}
