package memory

import (
	"context"
	"time"
)

// happened tells the observer. A panic in it is logged.
func (m *Memory) happened(ctx context.Context, e *Event) {
	if m.observer.Happened == nil {
		return
	}
	if e.Node == "" {
		e.Node = m.node
	}
	_, err := caught(ctx, m.log, func(ctx context.Context) (struct{}, error) {
		m.observer.Happened(ctx, e)
		return struct{}{}, nil
	})
	if err != nil {
		m.log.ErrorContext(ctx, "memory: observer failed", "event", string(e.Kind), "error", err)
	}
}

// happened tells the observer about the round's session and turn.
func (r *round) happened(ctx context.Context, e Event) {
	if r.m.observer.Happened == nil {
		return
	}
	e.SessionID, e.TurnID = r.session.ID, r.turn.ID
	r.m.happened(ctx, &e)
}

// disabled reports a slot without a scope or a namespace.
func (r *round) disabled(ctx context.Context, s *slot, resolver Phase) {
	if r.m.development {
		r.m.log.InfoContext(ctx, "memory: slot is disabled", "slot", s.Name, "resolver", string(resolver))
	}
	r.happened(ctx, Event{Kind: EventSlotDisabled, Slot: s.Name, Phase: resolver})
}

// tolerate reports the failure of a best-effort slot and returns nil; the error of any other slot it returns.
func (r *round) tolerate(ctx context.Context, s *slot, err error) error {
	if !s.BestEffort {
		return err
	}
	r.m.log.WarnContext(ctx, "memory: best-effort slot failed", "slot", s.Name, "error", err)
	r.happened(ctx, Event{Kind: EventSlotFailed, Slot: s.Name, Phase: r.op.phase, Err: err})
	return nil
}

// leftOut reports tools that the turn does not have.
func (r *round) leftOut(ctx context.Context, s *slot, err error) {
	err = &SlotError{s.Name, PhaseTools, err}
	r.m.log.ErrorContext(ctx, "memory: tools are left out", "slot", s.Name, "error", err)
	r.happened(ctx, Event{Kind: EventToolsLeftOut, Slot: s.Name, Phase: PhaseTools, Err: err})
}

// call runs one recall or capture of a provider and tells the observer before and after. A panic, in the provider or in the
// observer, is an error. f returns the number of records.
func (m *Memory) call(ctx context.Context, c *Call, f func(context.Context) (int, error)) error {
	ctx, err := caught(ctx, m.log, func(ctx context.Context) (context.Context, error) { return m.callStarted(ctx, c), nil })
	if err != nil {
		return err
	}
	began := time.Now()
	c.Records, c.Err = caught(ctx, m.log, f)
	c.Duration = time.Since(began)
	_, err = caught(ctx, m.log, func(ctx context.Context) (struct{}, error) {
		if m.observer.CallEnded != nil {
			m.observer.CallEnded(ctx, c)
		}
		return struct{}{}, nil
	})
	if c.Err != nil {
		return c.Err
	}
	return err
}

func (m *Memory) callStarted(ctx context.Context, c *Call) context.Context {
	if m.observer.CallStarted == nil {
		return ctx
	}
	if observed := m.observer.CallStarted(ctx, c); observed != nil {
		return observed
	}
	return ctx
}
