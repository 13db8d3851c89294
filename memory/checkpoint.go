package memory

import (
	"context"
	"fmt"
	"slices"
)

// Compaction is a history that is about to be compacted, or was. The summarizing itself is the host's; Session has it built in.
type Compaction struct {
	Session     SessionInfo
	Turn        *Turn // the turn that is running; nil between turns
	Sequence    int64 // between turns, of the next turn; else ignored
	StepIndex   *int  // of the model call inside the turn; nil when there is none. It tells apart the compactions of one turn.
	ModelID     string
	InputTokens int64     // as the model's provider counted them; 0 when unknown. RequestCompaction only.
	History     []Message // durable, before the compaction
	Bookkeeping Bookkeeping
	// Checkpoint takes the place of the history's ordinary messages: the summary and the recent messages that stay. CompleteCompaction only.
	Checkpoint []Message
}

// CompactionView is a history after its compaction. The host stores History and Bookkeeping in one transaction.
type CompactionView struct {
	History     []Message // durable: canonical records, checkpoint, and new records in their place
	Messages    []Message // what the model sees
	Records     []Message // the new ones
	Bookkeeping Bookkeeping
}

// RequestCompaction offers the history to every slot before it is summarized, to all at once. Inside a turn the turn's locks hold. Between turns
// the slots are locked anew for the session's current caller; the bookkeeping that is returned has those locks and is the one for
// CompleteCompaction. An error means that the compaction must not go on; it joins those of all slots, best-effort ones left out.
func (m *Memory) RequestCompaction(ctx context.Context, r *Compaction) (Bookkeeping, error) {
	session, err := m.checkCompaction(r)
	if err != nil {
		return r.Bookkeeping, err
	}
	b := r.Bookkeeping
	if r.Turn == nil {
		locks, err := m.lock(ctx, &session, nil)
		if err != nil {
			return r.Bookkeeping, err
		}
		b = b.with(locks, b.digests())
	}
	messages, err := project(b.locks(), r.History)
	if err != nil {
		return r.Bookkeeping, fmt.Errorf("memory: history: %w", err)
	}
	if err := m.captureCompaction(ctx, &session, r, b, messages); err != nil {
		return r.Bookkeeping, err
	}
	m.happened(ctx, &Event{Kind: EventCompactionRequested, SessionID: session.ID, TurnID: r.Turn.id(), Messages: len(r.History)})
	return b, nil
}

func (m *Memory) captureCompaction(ctx context.Context, session *SessionInfo, r *Compaction, b Bookkeeping, messages []Message) error {
	round := m.compactionRound(PhaseCompactionRequested, session, r)
	targets := round.targets(b.locks(), func(h *Handlers) bool { return h.CaptureCompaction != nil })
	return round.capture(ctx, targets, func(ctx context.Context, s *slot, o Operation) error {
		return s.handlers.CaptureCompaction(ctx, &CompactionRequested{
			Operation: o, Messages: slices.Clone(messages), Turn: r.turnIn(messages), ModelID: r.ModelID, InputTokens: r.InputTokens,
		})
	})
}

// CompleteCompaction puts the checkpoint in the place of the history's ordinary messages, behind the canonical records, and asks the slots what the
// model should see now. Their records go directly before the last message of role and kind user inside a turn, and to the end between
// turns. The locks stay. After an error nothing has changed; between turns the host may go on with the checkpoint behind the canonical
// records, without new ones.
func (m *Memory) CompleteCompaction(ctx context.Context, r *Compaction) (*CompactionView, error) {
	session, err := m.checkCompaction(r)
	if err != nil {
		return nil, err
	}
	if err := ownMessages(r.Checkpoint); err != nil {
		return nil, fmt.Errorf("memory: checkpoint: %w", err)
	}
	records, _, err := Canonical(r.History)
	if err != nil {
		return nil, err
	}
	history := slices.Concat(records, r.Checkpoint)
	locks := slices.Clone(r.Bookkeeping.locks())
	messages, err := project(locks, history)
	if err != nil {
		return nil, fmt.Errorf("memory: history: %w", err)
	}
	answers, err := m.recallCompacted(ctx, &session, r, locks, messages)
	if err != nil {
		return nil, err
	}
	view := &CompactionView{}
	var digests []operationDigest
	view.Records, digests = commit(history, r.Bookkeeping.digests(), answers)
	view.History = slices.Insert(history, r.place(history), view.Records...)
	view.Bookkeeping = r.Bookkeeping.with(locks, digests)
	if view.Messages, err = project(locks, view.History); err != nil {
		return nil, fmt.Errorf("memory: history: %w", err)
	}
	m.happened(ctx, &Event{
		Kind: EventCompactionCompleted, SessionID: session.ID, TurnID: r.Turn.id(),
		Records: len(view.Records), Messages: len(view.History), Before: len(r.History),
	})
	return view, nil
}

func (m *Memory) recallCompacted(
	ctx context.Context, session *SessionInfo, r *Compaction, locks []lock, messages []Message,
) ([]*answer, error) {
	round := m.compactionRound(PhaseCompactionCompleted, session, r)
	targets := round.targets(locks, func(h *Handlers) bool { return h.RecallCompacted != nil })
	return round.recall(ctx, targets, r.Bookkeeping.digests(), func(ctx context.Context, s *slot, o Operation) ([]Item, error) {
		return s.handlers.RecallCompacted(ctx, &CompactionCompleted{
			Operation: o, Messages: slices.Clone(messages), Turn: r.turnIn(messages), ModelID: r.ModelID,
		})
	})
}

func (m *Memory) compactionRound(phase Phase, session *SessionInfo, r *Compaction) *round {
	op := operation{session: session.ID, sequence: r.Sequence, turn: standalone, step: r.StepIndex, phase: phase}
	if r.Turn != nil {
		op.sequence, op.turn = r.Turn.Sequence, r.Turn.ID
	}
	return &round{m, op, session, r.Turn}
}

// turnIn returns a copy of the turn for one provider, or nil between turns.
func (r *Compaction) turnIn(messages []Message) *Turn {
	if r.Turn == nil {
		return nil
	}
	turn := r.Turn.startingAt(r.Turn.begin(messages))
	return &turn
}

// place returns where new records belong.
func (r *Compaction) place(history []Message) int {
	if r.Turn == nil {
		return len(history)
	}
	return lastOfPerson(history)
}

func (m *Memory) checkCompaction(r *Compaction) (SessionInfo, error) {
	if r.Sequence < 0 || r.StepIndex != nil && *r.StepIndex < 0 {
		return SessionInfo{}, fmt.Errorf("%w: negative sequence or step index", ErrInvalidRequest)
	}
	if r.Turn != nil {
		if err := r.Turn.check(); err != nil {
			return SessionInfo{}, err
		}
		if err := r.Bookkeeping.open(r.Turn); err != nil {
			return SessionInfo{}, err
		}
	}
	return m.session(r.Session)
}
