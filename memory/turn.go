package memory

import (
	"context"
	"fmt"
	"slices"
)

// TurnStart is a turn that the host begins, resumes or completes. Session.ID and Turn.ID are required: they are part of operation ids, so a retry
// passes the same ones and another turn others. History is durable, with records and their attribution; it is not changed.
type TurnStart struct {
	Session     SessionInfo // Node may be left out
	Turn        Turn        // Start is ignored
	History     []Message
	Bookkeeping Bookkeeping
}

// TurnView is a turn that has started. To commit it, the host stores Records and the turn's input behind its history together with
// Bookkeeping, in one transaction.
type TurnView struct {
	Records     []Message // to be inserted into the history directly before the turn's input
	Messages    []Message // what the model sees: the projection of history, records and input
	Start       int       // index in Messages at which the turn's own messages begin
	Tools       []Tool    // under their qualified names, bound to the turn's locks
	Bookkeeping Bookkeeping
}

// StartTurn locks every slot, recalls from all of them at once and returns what the model sees, or an error and nothing. The first error in
// slot order is a *SlotError. When ctx ends it returns at once with an error matching ErrCancelled, and late answers are discarded.
//
// Starting a turn again that was committed asks the providers again. The same answers add nothing, others are an error matching
// ErrReplay: a host that may have committed the start calls ResumeTurn.
func (m *Memory) StartTurn(ctx context.Context, r *TurnStart) (*TurnView, error) {
	session, err := m.checkTurn(r)
	if err != nil {
		return nil, err
	}
	locks, err := m.lock(ctx, &session, &r.Turn)
	if err != nil {
		return nil, err
	}
	before, err := project(locks, r.History)
	if err != nil {
		return nil, fmt.Errorf("memory: history: %w", err)
	}
	answers, err := m.recallTurn(ctx, &session, r, locks, before)
	if err != nil {
		return nil, err
	}
	records, digests := commit(r.History, r.Bookkeeping.digests(), answers)
	messages, err := project(locks, r.History, records, r.Turn.Input)
	if err != nil {
		return nil, fmt.Errorf("memory: history: %w", err)
	}
	view := &TurnView{Records: records, Messages: messages, Start: len(messages) - len(r.Turn.Input)}
	view.Bookkeeping = r.Bookkeeping.began(turnMark{id: r.Turn.ID, sequence: r.Turn.Sequence}, locks, digests)
	if view.Tools, err = m.tools(ctx, &session, &r.Turn, locks, messages, view.Start); err != nil {
		return nil, err
	}
	m.happened(ctx, &Event{Kind: EventTurnStarted, SessionID: session.ID, TurnID: r.Turn.ID, Records: len(records), Messages: len(messages)})
	return view, nil
}

// recallTurn asks every locked slot what the model should see.
func (m *Memory) recallTurn(ctx context.Context, session *SessionInfo, r *TurnStart, locks []lock, before []Message) ([]*answer, error) {
	round := m.turnRound(PhaseTurnStarted, session, &r.Turn)
	targets := round.targets(locks, func(h *Handlers) bool { return h.Recall != nil })
	return round.recall(ctx, targets, r.Bookkeeping.digests(), func(ctx context.Context, s *slot, o Operation) ([]Item, error) {
		return s.handlers.Recall(ctx, &TurnStarted{
			Operation: o,
			Messages:  slices.Clone(before),
			Turn:      r.Turn.startingAt(len(before)),
		})
	})
}

func (m *Memory) turnRound(phase Phase, session *SessionInfo, turn *Turn) *round {
	return &round{m, operation{session: session.ID, sequence: turn.Sequence, turn: turn.ID, phase: phase}, session, turn}
}

// ResumeTurn rebuilds a turn whose start was committed, after a crash or in another process: its locks, view and tools come from the
// bookkeeping, and no provider is asked for a recall, whatever has changed since. History includes the turn's records, its input and what has followed. An
// error matches ErrTurnNotOpen when the bookkeeping is not that of the turn.
func (m *Memory) ResumeTurn(ctx context.Context, r *TurnStart) (*TurnView, error) {
	session, err := m.checkTurn(r)
	if err != nil {
		return nil, err
	}
	if err := r.Bookkeeping.open(&r.Turn); err != nil {
		return nil, err
	}
	locks := r.Bookkeeping.locks()
	messages, err := project(locks, r.History)
	if err != nil {
		return nil, fmt.Errorf("memory: history: %w", err)
	}
	view := &TurnView{Messages: messages, Start: r.Turn.begin(messages), Bookkeeping: r.Bookkeeping}
	if view.Tools, err = m.tools(ctx, &session, &r.Turn, locks, messages, view.Start); err != nil {
		return nil, err
	}
	m.happened(ctx, &Event{Kind: EventTurnResumed, SessionID: session.ID, TurnID: r.Turn.ID, Messages: len(messages)})
	return view, nil
}

// CompleteTurn runs the captures of a turn that succeeded, all at once, and waits for all of them. They run on after ctx has ended, for at most
// the capture timeout. History includes the turn's records, its input and the answer. A turn that failed or was cancelled is not completed.
//
// The bookkeeping says that the turn is complete. It is valid also beside an error of captures, which is the join of all of them and never
// undoes the turn. An error matching ErrTurnNotOpen says that no capture ran.
func (m *Memory) CompleteTurn(ctx context.Context, r *TurnStart) (Bookkeeping, error) {
	session, err := m.checkTurn(r)
	if err != nil {
		return r.Bookkeeping, err
	}
	if err := r.Bookkeeping.open(&r.Turn); err != nil {
		return r.Bookkeeping, err
	}
	messages, err := project(r.Bookkeeping.locks(), r.History)
	if err != nil {
		return r.Bookkeeping, fmt.Errorf("memory: history: %w", err)
	}
	err = m.captureTurn(context.WithoutCancel(ctx), &session, r, messages)
	m.happened(ctx, &Event{Kind: EventTurnCompleted, SessionID: session.ID, TurnID: r.Turn.ID, Messages: len(messages), Err: err})
	return r.Bookkeeping.completed(), err
}

func (m *Memory) captureTurn(ctx context.Context, session *SessionInfo, r *TurnStart, messages []Message) error {
	start := r.Turn.begin(messages)
	round := m.turnRound(PhaseTurnCompleted, session, &r.Turn)
	targets := round.targets(r.Bookkeeping.locks(), func(h *Handlers) bool { return h.CaptureTurn != nil })
	return round.capture(ctx, targets, func(ctx context.Context, s *slot, o Operation) error {
		return s.handlers.CaptureTurn(ctx, &TurnCompleted{
			Operation: o,
			Messages:  slices.Clone(messages),
			Turn:      r.Turn.startingAt(start),
		})
	})
}

// checkTurn checks a request and returns its session with the node filled in.
func (m *Memory) checkTurn(r *TurnStart) (SessionInfo, error) {
	if err := r.Turn.check(); err != nil {
		return SessionInfo{}, err
	}
	return m.session(r.Session)
}

// session checks a session's identity and fills in the node.
func (m *Memory) session(s SessionInfo) (SessionInfo, error) {
	if s.Node == "" {
		s.Node = m.node
	}
	if s.Node != m.node {
		return s, fmt.Errorf("%w: session of node %q, these are the memories of %q", ErrInvalidRequest, s.Node, m.node)
	}
	return s, checkID("session", s.ID)
}
