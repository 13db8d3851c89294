package memory

import "context"

// TurnStart is a turn that the host begins, resumes or completes. History is durable, with records and their attribution.
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
	Start       int       // index in Messages at which the turn's own messages begin
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

// CompleteTurn runs the captures of a turn that succeeded. History includes the answer. The bookkeeping that it returns is valid also beside
// an error of captures, which never undo the turn; store it.
func (m *Memory) CompleteTurn(ctx context.Context, r *TurnStart) (Bookkeeping, error) {
	panic("being written")
}
