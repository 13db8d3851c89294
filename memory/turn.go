package memory

import (
	"context"
	"fmt"
	"slices"
)

// TurnStart is a turn that the host begins, resumes or completes. Session.ID and Turn.ID are required: they are part of
// operation ids, so a retry passes the same ones and another turn others. History is durable, with records and their
// attribution; it is not changed.
type TurnStart struct {
	Session     SessionInfo // Node may be left out
	Turn        Turn        // Start is ignored
	History     []Message
	Bookkeeping Bookkeeping
}

// TurnView is a turn that has started. To commit it, the host stores Records and the turn's input behind its history
// together with Bookkeeping, in one transaction.
type TurnView struct {
	Records     []Message // to be inserted into the history directly before the turn's input
	Messages    []Message // what the model sees: the projection of history, records and input
	Start       int       // index in Messages at which the turn's own messages begin
	Tools       []Tool    // under their qualified names, bound to the turn's locks
	Bookkeeping Bookkeeping
}

// StartTurn locks every slot, recalls from all of them at once and returns what the model sees, or an error and nothing. The
// first error in slot order is a *SlotError. When ctx ends it returns at once with an error matching ErrCancelled, and late
// answers are discarded.
//
// Starting a turn again that was committed asks the providers again. The same answers add nothing, others are an error
// matching ErrReplay: a host that may have committed the start calls ResumeTurn. Starting a turn that is complete, or one
// with a lower sequence than a turn that began, is an error matching ErrTurnNotOpen.
func (m *Memory) StartTurn(ctx context.Context, r *TurnStart) (*TurnView, error) {
	round, err := m.beginRound(PhaseTurnStarted, r)
	if err != nil {
		return nil, err
	}
	if err := r.Bookkeeping.startable(&r.Turn); err != nil {
		return nil, err
	}
	locks, err := round.lock(ctx)
	if err != nil {
		return nil, err
	}
	before, err := project(locks, r.History, len(r.Turn.Input)+roomForRecords)
	if err != nil {
		return nil, err
	}
	answered, err := round.recallTurn(ctx, locks, r.Bookkeeping.digests(), before.messages)
	if err != nil {
		return nil, err
	}
	c := commit(before.latest, r.Bookkeeping.digests(), answered)
	view := &TurnView{Records: c.records, Messages: before.with(c, r.Turn.Input)}
	view.Start = len(view.Messages) - len(r.Turn.Input)
	view.Bookkeeping = r.Bookkeeping.began(turnMark{id: r.Turn.ID, sequence: r.Turn.Sequence}, locks, c.digests)
	if view.Tools, err = round.tools(ctx, locks, view.Messages, view.Start); err != nil {
		return nil, err
	}
	round.happened(ctx, Event{Kind: EventTurnStarted, Records: len(view.Records), Messages: len(view.Messages)})
	return view, nil
}

// roomForRecords is how many records a turn usually adds at most. More of them cost another copy of the view.
const roomForRecords = 16

// recallTurn asks every locked slot what the model should see.
func (r *round) recallTurn(ctx context.Context, locks []lock, digests []operationDigest, before []Message) ([]participant, error) {
	participants := r.participants(locks, func(h *Handlers) bool { return h.Recall != nil })
	return r.recall(ctx, participants, digests, func(s *slot, o Operation) recaller {
		request := &TurnStarted{Operation: o, Messages: slices.Clone(before), Turn: r.turn.startingAt(len(before))}
		return func(ctx context.Context) ([]Item, error) { return s.handlers.Recall(ctx, request) }
	})
}

// ResumeTurn rebuilds a turn whose start was committed, after a crash or in another process: its locks, view and tools come
// from the bookkeeping, and no provider is asked for a recall, whatever has changed since. History includes the turn's
// records, its input and what has followed. An error matches ErrTurnNotOpen when the bookkeeping is not that of the turn.
func (m *Memory) ResumeTurn(ctx context.Context, r *TurnStart) (*TurnView, error) {
	round, err := m.beginRound(PhaseTools, r)
	if err != nil {
		return nil, err
	}
	if err := r.Bookkeeping.open(&r.Turn); err != nil {
		return nil, err
	}
	messages, err := r.Bookkeeping.Project(r.History)
	if err != nil {
		return nil, err
	}
	view := &TurnView{Messages: messages, Start: r.Turn.begin(messages), Bookkeeping: r.Bookkeeping}
	if view.Tools, err = round.tools(ctx, r.Bookkeeping.locks(), messages, view.Start); err != nil {
		return nil, err
	}
	round.happened(ctx, Event{Kind: EventTurnResumed, Messages: len(messages)})
	return view, nil
}

// CompleteTurn runs the captures of a turn that succeeded, all at once, and waits for all of them. They run on after ctx has
// ended, for at most the capture timeout. History includes the turn's records, its input and the answer. A turn that failed
// or was cancelled is not completed.
//
// The bookkeeping says that the turn is complete. It is valid also beside an error of captures, which is the join of all of
// them and never undoes the turn. An error matching ErrTurnNotOpen says that no capture ran.
//
// With Options.Outbox, captures that fail are tried again later. When the turn cannot be recorded in it, no capture ran,
// the turn stays open, and CompleteTurn can be called again. A host that fails such a turn instead, after an error matching
// filememory.ErrUnknownOutcome, may see it captured.
func (m *Memory) CompleteTurn(ctx context.Context, r *TurnStart) (Bookkeeping, error) {
	round, err := m.beginRound(PhaseTurnCompleted, r)
	if err != nil {
		return r.Bookkeeping, err
	}
	if err := r.Bookkeeping.open(&r.Turn); err != nil {
		return r.Bookkeeping, err
	}
	messages, err := r.Bookkeeping.Project(r.History)
	if err != nil {
		return r.Bookkeeping, err
	}
	ctx = context.WithoutCancel(ctx)
	begun, err := round.captureTurn(ctx, r.Bookkeeping.locks(), messages)
	if !begun {
		return r.Bookkeeping, err
	}
	if err != nil {
		m.log.ErrorContext(ctx, "memory: capture of a completed turn failed", "turn", r.Turn.ID, "error", err)
	}
	round.happened(ctx, Event{Kind: EventTurnCompleted, Messages: len(messages), Err: err})
	return r.Bookkeeping.completed(), err
}

// captureTurn runs the captures of the turn, unless they cannot be recorded in the outbox that there is for them.
func (r *round) captureTurn(ctx context.Context, locks []lock, messages []Message) (begun bool, err error) {
	participants := r.participants(locks, canCapture)
	start := r.turn.begin(messages)
	if r.m.outbox != nil {
		return r.captureRecorded(ctx, participants, messages[start:])
	}
	return true, r.capture(ctx, participants, func(ctx context.Context, s *slot, o Operation) error {
		return s.handlers.CaptureTurn(ctx, &TurnCompleted{
			Operation: o,
			Messages:  slices.Clone(messages),
			Turn:      r.turn.startingAt(start),
		})
	})
}

// beginRound checks a request and returns its round.
func (m *Memory) beginRound(phase Phase, r *TurnStart) (*round, error) {
	if err := r.Turn.check(); err != nil {
		return nil, err
	}
	session, err := m.session(r.Session)
	if err != nil {
		return nil, err
	}
	return m.turnRound(phase, session, &r.Turn), nil
}

// session checks a session's identity and fills in the node.
func (m *Memory) session(s SessionInfo) (SessionInfo, error) {
	s, err := m.atNode(s)
	if err != nil {
		return s, err
	}
	return s, checkID("session", s.ID)
}

// atNode fills in the node of a session, or checks it.
func (m *Memory) atNode(s SessionInfo) (SessionInfo, error) {
	if s.Node == "" {
		s.Node = m.node
	}
	if s.Node != m.node {
		return s, fmt.Errorf("%w: session of node %q, these are the memories of %q", ErrInvalidRequest, s.Node, m.node)
	}
	return s, nil
}
