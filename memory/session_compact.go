package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/recollect-go/recollect/scope"
)

// CompactCall is the compaction of a session. nil means the zero value.
type CompactCall struct {
	// ModelID is told to the slots and to the summarizer.
	ModelID string

	// Envelope is what is sent along with the model's requests, in tokens. 0 means the policy's.
	Envelope int64

	// Current is who asks for the compaction, and Channel the channel's attributes: the slots are locked for them. Inside a
	// turn they are the turn's, and these are ignored.
	Current *scope.Principal
	Channel map[string]any
}

// Compact makes the history smaller now, between turns, whether it is due or not, and keeps only the last exchange verbatim.
// It waits for an open turn to end, or for ctx. The report's outcome says what was done; CompactNothingFreed is not an
// error.
//
// On an error nothing has changed, unless there is a report beside it: then the summary was made and stays, and a slot could
// not say what the model should see now.
func (s *Session) Compact(ctx context.Context, c *CompactCall) (*CompactReport, error) {
	release, err := s.between(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	var r *CompactRequest
	err = s.locked(func() error {
		if err := s.usable(); err != nil {
			return err
		}
		if s.state.turn != nil {
			return fmt.Errorf("%w: %q, from the snapshot; begin it again, or another one", ErrTurnOpen, s.state.turn.ID)
		}
		r = s.standalone(c)
		return nil
	})
	if err != nil {
		return nil, err
	}
	result, err := s.memory.Compact(ctx, r)
	if result == nil {
		return nil, err
	}
	if result.Changed() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.replace(r, result)
		s.state.compactions++
	}
	return &result.CompactReport, err
}

// Compact makes the history smaller if that is due. It is called between model calls, before View. The outcome is
// CompactNotDue when there was nothing to do. One compaction of a turn that frees nothing says CompactNothingFreed; after it
// none is tried again in this turn, and the outcome stays that. One that was not enough is tried again only when the history
// has grown.
//
// An error fails the turn, as Fail does, and the history is not compacted.
func (t *OpenTurn) Compact(ctx context.Context, c *CompactCall) (*CompactReport, error) {
	s := t.session
	if err := s.working.acquire(ctx); err != nil {
		return nil, err
	}
	defer s.working.release()
	r, idle, err := t.prepareCompact(c)
	if err != nil || idle != nil {
		return idle, err
	}
	result, err := s.memory.Compact(ctx, r)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		t.fail()
		return nil, err
	}
	if err := t.open(); err != nil {
		return nil, err // it failed meanwhile, and its history went on without this compaction
	}
	t.compacted(r, result)
	return &result.CompactReport, nil
}

// prepareCompact returns the request of a compaction, or the report of one that need not be tried. It weighs only what is
// new since it was last asked, because it is asked before every model call, and not under the lock, since the policy may ask
// the host. Nobody else sets the weight meanwhile.
func (t *OpenTurn) prepareCompact(c *CompactCall) (r *CompactRequest, idle *CompactReport, err error) {
	s := t.session
	var fresh []Message
	err = s.locked(func() error {
		if err := t.open(); err != nil {
			return err
		}
		t.flush()
		r = s.request(c)
		fresh = slices.Clip(t.view[t.weighed:])
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	weight := r.Policy.weigh(fresh)
	err = s.locked(func() error {
		if err := t.open(); err != nil {
			return err
		}
		t.weight += weight
		t.weighed += len(fresh)
		if idle = t.idle(r); idle == nil {
			state := t.state()
			r.Session, r.Turn, r.StepIndex, r.foreign = t.info, ptr(s.state.placed()), ptr(state.step), state.foreign
		}
		return nil
	})
	return r, idle, err
}

// request returns what all compactions have in common. The lock is held.
func (s *Session) request(c *CompactCall) *CompactRequest {
	r := &CompactRequest{Policy: s.options.Policy, Summarize: s.options.Summarize, Excess: s.state.excess}
	r.History, r.Bookkeeping = slices.Clip(s.state.history), s.state.bookkeeping
	if c != nil {
		r.ModelID, r.Envelope = c.ModelID, c.Envelope
	}
	return r
}

// standalone returns the request of a compaction between turns. The lock is held.
func (s *Session) standalone(c *CompactCall) *CompactRequest {
	r := s.request(c)
	r.Force = true
	r.Sequence, r.StepIndex = s.state.sequence, ptr(s.state.compactions)
	r.Session = s.info(nil, nil)
	if c != nil {
		r.Session = s.info(clonePrincipal(c.Current), c.Channel)
	}
	return r
}

// idle returns the report of a compaction that need not be tried, or nil. The lock is held.
func (t *OpenTurn) idle(r *CompactRequest) *CompactReport {
	tokens := toTokens(t.weight) + r.Policy.envelope(&Load{Envelope: r.Envelope}) + r.Excess
	report := &CompactReport{Outcome: CompactNotDue, Before: tokens, After: tokens}
	switch {
	case t.state().stuck:
		report.Outcome = CompactNothingFreed
		return report
	case r.Policy.over(tokens) && tokens >= t.state().enough:
		return nil
	case OverRecordLimit(r.History):
		r.recordsOnly = true
		return nil
	}
	return report
}

// compacted makes the outcome of a compaction part of the turn. The lock is held.
func (t *OpenTurn) compacted(r *CompactRequest, result *CompactResult) {
	state := t.state()
	if result.Outcome == CompactNothingFreed {
		state.stuck = true
	}
	if !result.Changed() {
		return
	}
	state.step++
	if r.Policy.over(result.After) {
		state.enough = result.After + summaryReserve(r.Policy.Limit())
	}
	before := t.session.state.history
	since := t.session.replace(r, result)
	state.first = stillFirst(state.first, before, t.session.state.history)
	t.view = slices.Concat(result.Messages, since)
	t.weight, t.weighed = 0, 0
}

// replace puts a compacted history in the place of the one that was compacted, in front of what was appended meanwhile,
// which it returns. The lock is held.
func (s *Session) replace(r *CompactRequest, result *CompactResult) (since []Message) {
	since = s.state.history[len(r.History):]
	s.state.history = slices.Concat(result.History, since)
	s.state.bookkeeping = result.Bookkeeping
	if result.Outcome != CompactCanonicalized {
		s.state.excess = 0
	}
	return since
}
