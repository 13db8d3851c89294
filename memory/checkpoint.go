package memory

import "context"

// Compaction is a history that is about to be compacted, or was.
type Compaction struct {
	Session     SessionInfo
	Turn        *Turn // nil between turns
	Sequence    int64 // of the next turn, between turns
	StepIndex   *int  // of the model call inside the turn, if there is one
	ModelID     string
	InputTokens int64 // as the model's provider counted them; 0 when unknown
	History     []Message
	Bookkeeping Bookkeeping
	// Checkpoint takes the place of the history's ordinary messages: the summary and the recent messages that stay. CompleteCompaction only.
	Checkpoint []Message
}

// CompactionView is a history after its compaction.
type CompactionView struct {
	History     []Message // durable: canonical records, checkpoint, and new records in their place
	Messages    []Message // what the model sees
	Records     []Message // the new ones
	Bookkeeping Bookkeeping
}

// RequestCompaction offers the history to every slot before it is summarized. An error stops the compaction.
func (m *Memory) RequestCompaction(ctx context.Context, r *Compaction) (Bookkeeping, error) {
	panic("being written")
}

// CompleteCompaction puts the checkpoint in the place of the history's ordinary messages and asks the slots what the model should see now.
func (m *Memory) CompleteCompaction(ctx context.Context, r *Compaction) (*CompactionView, error) {
	panic("being written")
}
