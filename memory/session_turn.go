package memory

import (
	"context"
	"fmt"
	"slices"
)

// OpenTurn is a turn of a session between its begin and its end. Its methods may be called concurrently. After the end those
// that would change it return an error matching ErrTurnNotOpen, also when another turn has begun.
//
// The turn belongs to the caller who began it: the slots stay locked for that caller, and the tools bound, until its end,
// whoever delivers something in between.
type OpenTurn struct {
	session *Session
	id      string
	info    SessionInfo // of the caller who began the turn

	// Guarded by the session's lock.
	view    []Message
	weight  int64 // of the first messages of view, see Policy
	weighed int   // how many those are
	tools   []Tool
	ending  bool // captures are running
	ended   bool
}

// ID returns the turn's id.
func (t *OpenTurn) ID() string { return t.id }

// View returns what the model is to be called with now. It is a copy. Deliveries that came since the last answer are in it,
// and from now on in the history. After the end of the turn it is the last view.
func (t *OpenTurn) View() []Message {
	t.session.mu.Lock()
	defer t.session.mu.Unlock()
	if t.open() == nil {
		t.flush()
	}
	return slices.Clone(t.view)
}

// Tools returns the turn's tools under their qualified names. They may be called until the turn ends and after, and always
// work for the caller who began the turn.
func (t *OpenTurn) Tools() []Tool {
	t.session.mu.Lock()
	defer t.session.mu.Unlock()
	return slices.Clone(t.tools)
}

// Pending returns the tool calls of the model at the end of the view that have no result yet, as they are found after a turn
// was resumed. Those of tools that the model's provider runs are not among them. Calls that share an id are answered each.
func (t *OpenTurn) Pending() []ToolCallPart {
	t.session.mu.Lock()
	defer t.session.mu.Unlock()
	return waitingCalls(t.view)
}

// Append adds answers of the model and results of tools to the history: all of them, or with an error none. A model's
// provider refuses a history in which a tool call is not followed by exactly its results, now and in every later turn. So
// while calls wait, anything else than their results is an error matching ErrUnanswered, and a result that no call waits for
// is one matching ErrInvalidMessage. A call that cannot be made is answered with a ToolResultPart that says so, or the turn
// is ended with Fail.
func (t *OpenTurn) Append(messages ...Message) error {
	if err := ownMessages(messages); err != nil {
		return fmt.Errorf("memory: appending to a turn: %w", err)
	}
	return t.session.locked(func() error {
		if err := t.open(); err != nil {
			return err
		}
		if err := follow(t.view, messages); err != nil {
			return fmt.Errorf("memory: appending to a turn: %w", err)
		}
		t.add(messages)
		for _, m := range messages {
			if m.Role() == RoleAssistant {
				t.state().step++
			}
		}
		return nil
	})
}

// Deliver adds what somebody says while the turn is open. It joins the history with the next View, and not before: the
// answer that the model is at work on has not seen it, and nothing may stand between a tool call and its results. No slot
// recalls anew, and locks and tools stay those of the caller who began the turn.
//
// When the caller is another one than the turn's, the turn's captures do not see the delivery, so that it is not stored
// under the key of somebody else. It is in no other caller's captures either: what must be captured begins a turn.
func (t *OpenTurn) Deliver(d *Delivery) error {
	if err := ownMessages(d.Input); err != nil {
		return fmt.Errorf("memory: delivery into a turn: %w", err)
	}
	return t.session.locked(func() error {
		if err := t.open(); err != nil {
			return err
		}
		state := t.state()
		input := distinct(d.Input)
		if !samePrincipal(state.current, d.Current) {
			state.foreign = append(state.foreign, input...)
		}
		state.held = append(state.held, input...)
		return nil
	})
}

// Counted tells how many tokens the model's provider counted for a request that held all of View, and how many of them are
// not View's but were sent along (0: the policy's envelope). Where that is more than the policy's own measure, it decides
// from now on when a compaction is due. It is told before the answer is appended.
func (t *OpenTurn) Counted(tokens, envelope int64) error {
	s := t.session
	var view []Message
	err := s.locked(func() error {
		view = slices.Clip(t.view)
		return t.open()
	})
	if err != nil {
		return err
	}
	excess := s.options.Policy.Excess(&Load{Messages: view, Envelope: envelope}, tokens) // not under the lock: the policy may ask the host
	return s.locked(func() error {
		if err := t.open(); err != nil {
			return err
		}
		if len(t.view) >= len(view) && slices.Equal(t.view[:len(view)], view) { // else it was compacted meanwhile
			s.state.excess = excess
		}
		return nil
	})
}

// Complete ends the turn as a success and offers it to the slots that capture. The captures run although ctx has ended, for
// at most Options.CaptureTimeout. An error of theirs is returned, and the turn is complete nevertheless. Complete waits for
// a Compact or Forget that is at work, or for ctx.
//
// With Options.Outbox, captures that fail are tried again later. When the turn cannot be recorded in it, no capture has run,
// and the turn stays open.
//
// While a tool call has no result, or a delivery came after the last View, there is something left to answer: the error
// matches ErrUnanswered, and the turn goes on. An error matching ErrTurnNotOpen says that no capture ran.
func (t *OpenTurn) Complete(ctx context.Context) error {
	s := t.session
	if err := s.working.acquireLate(ctx); err != nil {
		return err
	}
	defer s.working.release()
	var r *TurnStart
	err := s.locked(func() error {
		if err := t.open(); err != nil {
			return err
		}
		if err := t.answered(); err != nil {
			return err
		}
		t.ending = true
		r = t.captured()
		return nil
	})
	if err != nil {
		return err
	}
	bookkeeping, err := s.memory.CompleteTurn(ctx, r)
	s.mu.Lock()
	defer s.mu.Unlock()
	t.ending = false
	if !bookkeeping.state().turn.complete {
		return err // nothing ran
	}
	s.state.bookkeeping = bookkeeping
	t.end()
	return err
}

// Fail ends the turn without captures: it failed, or was cancelled. What was said stays in the history, the input, the
// records and all answers, since it has been said. A tool call that still waits gets a result which says that its outcome is
// unknown. After the end of the turn, Fail does nothing, so it can be deferred.
func (t *OpenTurn) Fail() {
	t.session.mu.Lock()
	defer t.session.mu.Unlock()
	t.fail()
}

// fail ends an open turn. The lock is held.
func (t *OpenTurn) fail() {
	if t.open() != nil {
		return
	}
	t.session.state.history = t.session.settled()
	t.end()
}

// end closes the turn. The lock is held.
func (t *OpenTurn) end() {
	t.ended = true
	t.session.state.turn = nil
	t.session.live = nil
	t.session.turnSlot.release()
}

// open returns an error unless the turn can still be changed. The lock is held.
func (t *OpenTurn) open() error {
	if t.ended || t.ending {
		return fmt.Errorf("%w: %q has ended", ErrTurnNotOpen, t.id)
	}
	return nil
}

func (t *OpenTurn) state() *turnState { return t.session.state.turn }

// add appends ordinary messages to the history and to the view, which shows all of them. The lock is held.
func (t *OpenTurn) add(messages []Message) {
	t.session.state.history = append(t.session.state.history, messages...)
	if state := t.state(); state.first.m == nil && len(messages) > 0 {
		state.first = messages[0]
	}
	t.view = append(t.view, messages...)
}

// flush adds the deliveries that have waited, unless a tool call still does. The lock is held.
func (t *OpenTurn) flush() {
	state := t.state()
	if len(state.held) == 0 || waitingCaller(t.view) >= 0 {
		return
	}
	t.add(state.held)
	state.held = nil
}

// answered returns an error matching ErrUnanswered when something still waits for an answer. The lock is held.
func (t *OpenTurn) answered() error {
	if waitingCaller(t.view) >= 0 {
		return fmt.Errorf("%w: a tool call has no result", ErrUnanswered)
	}
	if len(t.state().held) > 0 {
		return fmt.Errorf("%w: a delivery came after the last view", ErrUnanswered)
	}
	return nil
}

// captured returns what the slots are offered: the turn without what other callers delivered into it. The lock is held.
func (t *OpenTurn) captured() *TurnStart {
	state := t.session.state
	return &TurnStart{
		Session:     t.info,
		Turn:        state.placed(),
		History:     without(state.history, state.turn.foreign),
		Bookkeeping: state.bookkeeping,
	}
}

// without returns the messages that are not, by identity, among others.
func without(messages, others []Message) []Message {
	if len(others) == 0 {
		return messages
	}
	return slices.DeleteFunc(slices.Clone(messages), func(m Message) bool { return slices.Contains(others, m) })
}

// distinct returns copies that are like no other message by identity, also when a host says one Message twice.
func distinct(messages []Message) []Message {
	copies := make([]Message, len(messages))
	for i, m := range messages {
		clone := *m.m
		copies[i] = Message{&clone}
	}
	return copies
}
