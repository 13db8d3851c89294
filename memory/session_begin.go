package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/recollect-go/recollect/internal/rawjson"
	"github.com/recollect-go/recollect/scope"
)

// Delivery is what somebody says to a session.
type Delivery struct {
	// TurnID names the turn that the delivery begins. A retry passes the same one. It holds no colon, and "standalone" is
	// taken. "" means a new UUID. It is ignored for a delivery into a turn.
	TurnID string

	// Current is who says it; nil when nobody is known.
	Current *scope.Principal

	// Channel holds trusted attributes of the channel or conversation, for resolvers. Snapshots do not hold it.
	Channel map[string]any

	// Input is what is said, usually one message of UserMessage, at least one. None of it may carry an attribution.
	Input []Message
}

// turnState is the part of an open turn that a snapshot holds.
type turnState struct {
	Turn
	current *scope.Principal
	held    []Message // deliveries that wait for the results of tool calls
	foreign []Message // messages of the history that another caller delivered into the turn
	first   Message   // of the turn's messages in the history, foreign ones included; zero while there is none
	step    int       // counts answers and compactions, and so tells the compactions apart
	stuck   bool      // a compaction freed nothing
	enough  int64     // tokens below which another compaction is not tried
	unknown []rawjson.Member
}

// Begin starts a turn: it recalls from every slot for the caller, adds the records and the input to the history, and returns
// the turn. After an error nothing has changed, and the same delivery can be begun again.
//
// A turn that was open in the session's snapshot is resumed by its id: its locks, tools and view come from the bookkeeping,
// no provider is asked for a recall, and what was appended so far is there. The caller must be the same, and so must the
// input, unless it is left out. Beginning another turn instead gives the open one up, as Fail does.
//
// A turn that is open in this process is waited for. Errors match ErrTurnOpen when it has the same id, ErrTurnNotOpen when
// the turn was completed before, ErrSessionEnded, ErrCancelled, and those of Memory.StartTurn and ResumeTurn.
func (s *Session) Begin(ctx context.Context, d *Delivery) (*OpenTurn, error) {
	if err := s.checkDelivery(d); err != nil {
		return nil, err
	}
	if err := s.turnSlot.acquire(ctx); err != nil {
		return nil, err
	}
	turn, err := s.begin(ctx, d)
	if err != nil {
		s.turnSlot.release()
		return nil, err
	}
	return turn, nil
}

func (s *Session) checkDelivery(d *Delivery) error {
	if err := ownMessages(d.Input); err != nil {
		return fmt.Errorf("memory: input of the turn: %w", err)
	}
	return s.locked(func() error {
		if s.live != nil && s.live.id == d.TurnID {
			return fmt.Errorf("%w: %q", ErrTurnOpen, d.TurnID)
		}
		return s.usable()
	})
}

func (s *Session) begin(ctx context.Context, d *Delivery) (*OpenTurn, error) {
	if err := s.working.acquire(ctx); err != nil {
		return nil, err
	}
	defer s.working.release()
	var p *prepared
	err := s.locked(func() (err error) {
		p, err = s.prepare(d)
		return err
	})
	if err != nil {
		return nil, err
	}
	run := s.memory.StartTurn
	if p.resumes {
		run = s.memory.ResumeTurn
	}
	view, err := run(ctx, &p.start)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !p.resumes {
		s.commit(p, view)
	}
	s.live = &OpenTurn{session: s, id: p.start.Turn.ID, info: p.start.Session, view: slices.Clip(view.Messages), tools: view.Tools}
	return s.live, nil
}

// prepared is a turn that is to start or to be resumed.
type prepared struct {
	start   TurnStart
	resumes bool
	history []Message // as in start, with room to append to
}

// prepare looks at the state that a turn will begin in, and changes nothing. The lock is held.
func (s *Session) prepare(d *Delivery) (*prepared, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	if s.state.turn != nil && s.state.turn.ID == d.TurnID {
		return s.prepareResumed(d)
	}
	if mark := s.state.bookkeeping.state().turn; mark.complete && mark.id == d.TurnID {
		return nil, fmt.Errorf("%w: %q is complete", ErrTurnNotOpen, mark.id)
	}
	if len(d.Input) == 0 {
		return nil, fmt.Errorf("%w: a turn without input", ErrInvalidRequest)
	}
	id := d.TurnID
	if id == "" {
		id = uuid.NewString()
	}
	history := s.settled()
	return &prepared{history: history, start: TurnStart{
		Session:     s.info(clonePrincipal(d.Current), d.Channel),
		Turn:        Turn{ID: id, Sequence: s.state.sequence, Input: distinct(d.Input)},
		History:     slices.Clip(history),
		Bookkeeping: s.state.bookkeeping,
	}}, nil
}

// prepareResumed is prepare for the turn that the session's snapshot left open. The lock is held.
func (s *Session) prepareResumed(d *Delivery) (*prepared, error) {
	t := s.state.turn
	if !samePrincipal(t.current, d.Current) {
		return nil, fmt.Errorf("%w: turn %q was begun by another caller", ErrInvalidRequest, t.ID)
	}
	if len(d.Input) > 0 && !slices.EqualFunc(d.Input, t.Input, Message.equal) {
		return nil, fmt.Errorf("%w: turn %q was begun with another input", ErrInvalidRequest, t.ID)
	}
	return &prepared{resumes: true, start: TurnStart{
		Session:     s.info(t.current, d.Channel),
		Turn:        s.state.placed(),
		History:     slices.Clip(s.state.history),
		Bookkeeping: s.state.bookkeeping,
	}}, nil
}

// commit makes a started turn part of the session. The lock is held.
func (s *Session) commit(p *prepared, view *TurnView) {
	s.state.history = append(append(p.history, view.Records...), p.start.Turn.Input...)
	s.state.bookkeeping = view.Bookkeeping
	s.state.initiator = p.start.Session.Initiator
	s.state.sequence++
	s.state.compactions = 0
	s.state.turn = &turnState{Turn: p.start.Turn, current: p.start.Session.Current, first: p.start.Turn.Input[0]}
}

// settled returns the history with every tool call answered, as it is left by a turn that ends before its time: a model's
// provider refuses a history with calls that nothing answers, and a model that does not see what it tried would try it
// again. The lock is held.
func (s *Session) settled() []Message {
	if s.state.turn == nil {
		return s.state.history
	}
	history := s.state.history
	if results := lostResults(history); len(results) > 0 {
		history = append(slices.Clip(history), ToolMessage(results...))
	}
	return append(slices.Clip(history), s.state.turn.held...)
}
