package memory

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/recollect-go/recollect/internal/rawjson"
	"github.com/recollect-go/recollect/scope"
)

// Session is one conversation: its history, the bookkeeping of its memories, and the flow of its turns. It is the way to use
// a Memory when no framework owns the history. A turn is begun with the caller's principal, answered and completed:
//
//	turn, err := session.Begin(ctx, &memory.Delivery{Current: caller, Input: []memory.Message{memory.UserMessage(text)}})
//	…
//	defer turn.Fail() // does nothing once the turn is complete
//	answer, err := model(ctx, turn.View(), turn.Tools())
//	…
//	err = turn.Append(answer)
//	err = turn.Complete(ctx)
//
// Snapshot gives all of it as JSON, which any process can restore. A turn that was open in it is resumed by beginning it
// again with its id. One turn is open at a time: Begin, Compact, Clear and Reset wait for its end, or for that of their
// context. A turn that is neither completed nor failed makes them wait for ever.
//
// Callers may change from turn to turn. They are kept apart in recalled records, tools and captures. What was said is one
// history that every later caller's model sees: give callers who must not read each other's words a session each.
//
// A Session is safe for concurrent use in one process. Two processes that restore one snapshot have two sessions.
type Session struct {
	memory  *Memory
	options SessionOptions

	turnSlot semaphore // held from the begin of a turn to its end
	working  semaphore // held by whatever calls providers or replaces the history

	mu    sync.Mutex // guards what follows, and is not held while anybody else's code runs
	state sessionState
	live  *OpenTurn // the turn that is open in this process
}

// SessionOptions configures a session. nil means all defaults.
type SessionOptions struct {
	// ID names the session. It is part of every operation id, so no other session may have had it. "" means a new UUID, or
	// that of the snapshot.
	ID string

	// Initiator is who began the session. nil means the caller of the first turn that starts. A snapshot's takes precedence.
	Initiator *scope.Principal

	// Policy says when a history is compacted. nil means the zero Policy.
	Policy *Policy

	// Summarize makes the summaries of compactions. nil means that a compaction only shortens tool results and drops
	// replaced records.
	Summarize Summarizer

	// OnReset deletes what the host has stored for the session: checkpoints of state, for all nodes, and the snapshot. Reset
	// calls it; an error is returned by Reset, which can be called again. nil means that nothing is stored.
	OnReset func(ctx context.Context, r *SessionReset) error
}

// SessionReset names a session that has ended.
type SessionReset struct {
	SessionID string
	Node      string
}

// sessionState is what a snapshot holds.
type sessionState struct {
	id          string
	initiator   *scope.Principal
	sequence    int64 // of the next turn
	compactions int   // since the last turn began
	excess      int64 // tokens, see Policy.Excess
	history     []Message
	bookkeeping Bookkeeping
	turn        *turnState // nil between turns
	ended       bool       // by Reset; such a state is in no snapshot
	unknown     []rawjson.Member
}

// NewSession returns a new session without history.
func (m *Memory) NewSession(opts *SessionOptions) (*Session, error) {
	s, err := m.blankSession(opts)
	if err != nil {
		return nil, err
	}
	s.state.id, s.state.initiator = s.options.ID, s.options.Initiator
	if s.state.id == "" {
		s.state.id = uuid.NewString()
	}
	return s, checkID("session", s.state.id)
}

// RestoreSession returns the session of a snapshot. A snapshot of a newer version is an error matching ErrVersion, a damaged
// one matches ErrMalformed, and one of another node or, if the options name one, another session ErrInvalidRequest.
func (m *Memory) RestoreSession(snapshot []byte, opts *SessionOptions) (*Session, error) {
	s, err := m.blankSession(opts)
	if err != nil {
		return nil, err
	}
	state, node, err := decodeSnapshot(snapshot)
	if err != nil {
		return nil, fmt.Errorf("memory: session snapshot: %w", err)
	}
	if node != m.node {
		return nil, fmt.Errorf("%w: snapshot of node %q, these are the memories of %q", ErrInvalidRequest, node, m.node)
	}
	if s.options.ID != "" && s.options.ID != state.id {
		return nil, fmt.Errorf("%w: snapshot of another session", ErrInvalidRequest)
	}
	if state.initiator == nil {
		state.initiator = s.options.Initiator
	}
	s.state = *state
	return s, nil
}

// blankSession returns a session without an identity.
func (m *Memory) blankSession(opts *SessionOptions) (*Session, error) {
	s := &Session{memory: m, turnSlot: newSemaphore(), working: newSemaphore()}
	if opts != nil {
		s.options = *opts
		s.options.Initiator = clonePrincipal(opts.Initiator)
	}
	return s, s.options.Policy.Validate()
}

// ID returns the session's id.
func (s *Session) ID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.id
}

// History returns the durable history, records with their attribution included. It is for export and inspection; what a
// model may see is View's.
func (s *Session) History() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.state.history)
}

// View returns what the model of the last turn's caller may see of the history, or an error matching ErrSessionEnded.
func (s *Session) View() ([]Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(); err != nil {
		return nil, err
	}
	return s.state.bookkeeping.Project(s.state.history)
}

// Unfinished returns the id of a turn that was open when the session's snapshot was taken and has not been begun again; ""
// when there is none. Begin with that id resumes it; Begin with another one, or Clear, gives it up as failed.
func (s *Session) Unfinished() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live != nil || s.state.turn == nil {
		return ""
	}
	return s.state.turn.ID
}

// usable returns an error when the session was reset. The lock is held.
func (s *Session) usable() error {
	if s.state.ended {
		return ErrSessionEnded
	}
	return nil
}

// info returns the session's identity for a caller. The lock is held.
func (s *Session) info(current *scope.Principal, channel map[string]any) SessionInfo {
	initiator := s.state.initiator
	if initiator == nil {
		initiator = current
	}
	return SessionInfo{ID: s.state.id, Node: s.memory.node, Current: current, Initiator: initiator, Channel: cloneAttributes(channel)}
}

// locked runs f with the lock held.
func (s *Session) locked(f func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return f()
}

// between waits until no turn is open and nothing else is at work, and returns the function that ends the exclusion.
func (s *Session) between(ctx context.Context) (release func(), err error) {
	if err := s.turnSlot.acquire(ctx); err != nil {
		return nil, err
	}
	if err := s.working.acquire(ctx); err != nil {
		s.turnSlot.release()
		return nil, err
	}
	return func() {
		s.working.release()
		s.turnSlot.release()
	}, nil
}

// semaphore is a mutex that can be waited for no longer than a context lasts.
type semaphore chan struct{}

func newSemaphore() semaphore { return make(semaphore, 1) }

// acquire returns nil, or an error matching ErrCancelled when ctx ends first.
func (s semaphore) acquire(ctx context.Context) error {
	if err := cancelled(ctx); err != nil {
		return err
	}
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return cancelled(ctx)
	}
}

// acquireLate is acquire for work that is done although ctx has ended; it only does not wait then.
func (s semaphore) acquireLate(ctx context.Context) error {
	select {
	case s <- struct{}{}:
		return nil
	default:
		return s.acquire(ctx)
	}
}

func (s semaphore) release() { <-s }

// samePrincipal reports whether two callers are one. Every attribute counts, since a resolver may look at any, the tenant
// first of all. They are compared as JSON that was read and written again, which is what a snapshot has of them; callers
// that cannot be JSON are different ones.
func samePrincipal(a, b *scope.Principal) bool {
	if a == nil || b == nil {
		return a == b
	}
	textA, errA := a.MarshalJSON()
	textB, errB := b.MarshalJSON()
	if errA != nil || errB != nil {
		return false
	}
	if bytes.Equal(textA, textB) {
		return true
	}
	textA, errA = rewritten(textA)
	textB, errB = rewritten(textB)
	return errA == nil && errB == nil && bytes.Equal(textA, textB)
}

// rewritten returns the JSON of a caller as it is written once it was read: 1.0 is 1, and members stand in one order.
func rewritten(text []byte) ([]byte, error) {
	var p scope.Principal
	if err := p.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	return p.MarshalJSON()
}

// clonePrincipal keeps a session independent of what its host does with a principal later.
func clonePrincipal(p *scope.Principal) *scope.Principal {
	if p == nil {
		return nil
	}
	clone := *p
	if p.Issuer != nil {
		clone.Issuer = ptr(*p.Issuer)
	}
	clone.Attributes = cloneAttributes(p.Attributes)
	return &clone
}

// cloneAttributes does the same for attributes, as far as they are the values that encoding/json decodes into.
func cloneAttributes(attributes map[string]any) map[string]any {
	clone := maps.Clone(attributes)
	for name, value := range clone {
		clone[name] = cloneAttribute(value)
	}
	return clone
}

func cloneAttribute(value any) any {
	switch v := value.(type) {
	case map[string]any:
		return cloneAttributes(v)
	case []string:
		return slices.Clone(v)
	case []any:
		clone := slices.Clone(v)
		for i := range clone {
			clone[i] = cloneAttribute(clone[i])
		}
		return clone
	}
	return value
}

func ptr[T any](v T) *T { return &v }
