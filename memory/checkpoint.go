package memory

import (
	"context"
	"fmt"
	"slices"
	"strconv"
)

// Compaction is a history that is about to be compacted, or was. The summarizing itself is the host's; Session has it built
// in.
type Compaction struct {
	Session     SessionInfo
	Turn        *Turn // the turn that is running; nil between turns
	Sequence    int64 // between turns, of the next turn; else ignored
	StepIndex   *int  // of the model call inside the turn; nil when there is none. It tells apart the compactions of one turn.
	ModelID     string
	InputTokens int64     // as the model's provider counted them; 0 when unknown. RequestCompaction only.
	History     []Message // durable, before the compaction
	Bookkeeping Bookkeeping
	// Checkpoint takes the place of the history's ordinary messages: the summary and the recent messages that stay.
	// CompleteCompaction only.
	Checkpoint []Message
}

// CompactionView is a history after its compaction. The host stores History and Bookkeeping in one transaction.
type CompactionView struct {
	History     []Message // durable: canonical records, checkpoint, and new records in their place
	Messages    []Message // what the model sees
	Records     []Message // the new ones
	Bookkeeping Bookkeeping
}

// RequestCompaction offers the history to every slot before it is summarized, to all at once. Inside a turn the turn's locks
// hold. Between turns the slots are locked anew for the session's current caller; the bookkeeping that is returned has those
// locks and is the one for CompleteCompaction. An error means that the compaction must not go on; it joins those of all
// slots, best-effort ones left out.
func (m *Memory) RequestCompaction(ctx context.Context, r *Compaction) (Bookkeeping, error) {
	round, err := m.compactionRound(PhaseCompactionRequested, r)
	if err != nil {
		return r.Bookkeeping, err
	}
	b := r.Bookkeeping
	if r.Turn == nil {
		locks, err := round.lock(ctx)
		if err != nil {
			return r.Bookkeeping, err
		}
		b = b.with(locks, b.digests())
	}
	messages, err := b.Project(r.History)
	if err != nil {
		return r.Bookkeeping, err
	}
	if err := round.captureCompaction(ctx, r, b.locks(), messages); err != nil {
		return r.Bookkeeping, err
	}
	round.happened(ctx, Event{Kind: EventCompactionRequested, Messages: len(r.History)})
	return b, nil
}

func (r *round) captureCompaction(ctx context.Context, c *Compaction, locks []lock, messages []Message) error {
	participants := r.participants(locks, func(h *Handlers) bool { return h.CaptureCompaction != nil })
	request := CompactionRequested{Turn: r.turnIn(messages), ModelID: c.ModelID, InputTokens: c.InputTokens}
	return r.capture(ctx, participants, func(ctx context.Context, s *slot, o Operation) error {
		own := request
		own.Operation, own.Messages, own.Turn = o, slices.Clone(messages), own.Turn.clone()
		return s.handlers.CaptureCompaction(ctx, &own)
	})
}

// CompleteCompaction puts the checkpoint in the place of the history's ordinary messages, behind the canonical records, and
// asks the slots what the model should see now. Their records go directly before the last message of role and kind user
// inside a turn, and to the end between turns or where there is none, but never between a tool call and its results. The
// locks stay. After an error nothing has changed; between turns the host may go on with the checkpoint behind the canonical
// records, without new ones.
func (m *Memory) CompleteCompaction(ctx context.Context, r *Compaction) (*CompactionView, error) {
	round, err := m.compactionRound(PhaseCompactionCompleted, r)
	if err != nil {
		return nil, err
	}
	history, err := r.checkpointed()
	if err != nil {
		return nil, err
	}
	locks := slices.Clone(r.Bookkeeping.locks())
	before, err := project(locks, history, 0)
	if err != nil {
		return nil, err
	}
	answered, err := round.recallCompacted(ctx, r, locks, before.messages)
	if err != nil {
		return nil, err
	}
	c := commit(before.latest, r.Bookkeeping.digests(), answered)
	view := &CompactionView{
		Records:     c.records,
		History:     slices.Insert(history, r.place(history), c.records...),
		Bookkeeping: r.Bookkeeping.with(locks, c.digests),
	}
	if view.Messages, err = view.Bookkeeping.Project(view.History); err != nil {
		return nil, err
	}
	round.happened(ctx, Event{
		Kind: EventCompactionCompleted, Records: len(c.records), Messages: len(view.History), Before: len(r.History),
	})
	return view, nil
}

// checkpointed returns the history with the checkpoint in the place of its ordinary messages.
func (r *Compaction) checkpointed() ([]Message, error) {
	if err := ownMessages(r.Checkpoint); err != nil {
		return nil, fmt.Errorf("memory: checkpoint: %w", err)
	}
	records, _, err := Canonical(r.History)
	if err != nil {
		return nil, err
	}
	return slices.Concat(records, r.Checkpoint), nil
}

func (r *round) recallCompacted(ctx context.Context, c *Compaction, locks []lock, messages []Message) ([]participant, error) {
	participants := r.participants(locks, func(h *Handlers) bool { return h.RecallCompacted != nil })
	request := CompactionCompleted{Turn: r.turnIn(messages), ModelID: c.ModelID}
	return r.recall(ctx, participants, c.Bookkeeping.digests(), func(s *slot, o Operation) recaller {
		own := request
		own.Operation, own.Messages, own.Turn = o, slices.Clone(messages), own.Turn.clone()
		return func(ctx context.Context) ([]Item, error) { return s.handlers.RecallCompacted(ctx, &own) }
	})
}

// compactionRound checks a request and returns its round.
func (m *Memory) compactionRound(phase Phase, r *Compaction) (*round, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	session, err := m.session(r.Session)
	if err != nil {
		return nil, err
	}
	round := &round{m: m, session: session}
	round.op = operation{session: session.ID, sequence: r.Sequence, turn: standalone, phase: phase}
	if r.Turn != nil {
		round.op.sequence, round.op.turn = r.Turn.Sequence, r.Turn.ID
		round.turn = r.Turn.ofRound()
	}
	if r.StepIndex != nil {
		round.op.step = ":" + strconv.Itoa(*r.StepIndex)
	}
	return round, nil
}

func (r *Compaction) check() error {
	if r.Sequence < 0 || r.StepIndex != nil && *r.StepIndex < 0 {
		return fmt.Errorf("%w: negative sequence or step index", ErrInvalidRequest)
	}
	if r.Turn == nil {
		return nil
	}
	if err := r.Turn.check(); err != nil {
		return err
	}
	return r.Bookkeeping.open(r.Turn)
}

// turnIn returns the turn as it stands in a view, or nil between turns.
func (r *round) turnIn(messages []Message) *Turn {
	if r.turn.ID == "" {
		return nil
	}
	turn := r.turn
	turn.Start = turn.begin(messages)
	return &turn
}

// place returns where new records belong.
func (r *Compaction) place(history []Message) int {
	if at := lastOfPerson(history); r.Turn != nil && at < len(history) {
		return at
	}
	if caller := waitingCaller(history); caller >= 0 {
		return caller
	}
	return len(history)
}
