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
	_, err := caught(ctx, func(ctx context.Context) (struct{}, error) {
		m.observer.Happened(ctx, e)
		return struct{}{}, nil
	})
	if err != nil {
		m.log.ErrorContext(ctx, "memory: observer failed", "event", e.Kind, "error", err)
	}
}

// disabled reports a slot without a scope or a namespace.
func (m *Memory) disabled(ctx context.Context, s *slot, resolver Phase, session *SessionInfo, turn *Turn) {
	if m.development {
		m.log.InfoContext(ctx, "memory: slot is disabled", "slot", s.Name, "resolver", string(resolver))
	}
	m.happened(ctx, &Event{Kind: EventSlotDisabled, SessionID: session.ID, TurnID: turn.id(), Slot: s.Name, Phase: resolver})
}

// tolerate reports the failure of a best-effort slot and returns nil; the error of any other slot it returns.
func (m *Memory) tolerate(ctx context.Context, s *slot, err error, session *SessionInfo, turn *Turn) error {
	if !s.BestEffort {
		return err
	}
	m.log.WarnContext(ctx, "memory: best-effort slot failed", "slot", s.Name, "error", err)
	m.happened(ctx, &Event{Kind: EventSlotFailed, SessionID: session.ID, TurnID: turn.id(), Slot: s.Name, Err: err})
	return nil
}

// call runs one recall or capture of a provider and tells the observer before and after. A panic, in the provider or in the
// observer, is an error. f returns the number of records.
func (m *Memory) call(ctx context.Context, c *Call, f func(context.Context) (int, error)) error {
	observed, err := caught(ctx, func(ctx context.Context) (context.Context, error) { return m.callStarted(ctx, c), nil })
	if err != nil {
		return err
	}
	began := time.Now()
	c.Records, c.Err = caught(observed, f)
	c.Duration = time.Since(began)
	_, err = caught(observed, func(ctx context.Context) (struct{}, error) {
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
