package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// SlotStatus says what became of a slot when the memory of a caller was erased or exported.
type SlotStatus string

// Statuses.
const (
	SlotDone        SlotStatus = "done"
	SlotFailed      SlotStatus = "failed"      // Err says why; the call can be repeated
	SlotUnsupported SlotStatus = "unsupported" // its provider offers no such function; what it has stored is untouched and not in the export
	SlotDisabled    SlotStatus = "disabled"    // the caller has no memory here: its scope or namespace is zero
)

// SlotReport is what became of one slot.
type SlotReport struct {
	Slot   string
	Key    string // partition of the caller's memory; "" when it is disabled or unknown
	Status SlotStatus
	// Records is how many records of the provider were erased or exported; -1 when the provider cannot tell.
	Records int
	// Captures is how many captures that wait in the outbox were dropped or exported.
	Captures int
	// VerifiedBy says with which function of the provider an erased slot was read again: "export" or "recall". When the
	// status is SlotDone, nothing was found.
	VerifiedBy string
	// Err is why the status is SlotFailed or SlotUnsupported. The latter matches errors.ErrUnsupported.
	Err error
}

// owned is a slot, resolved for the caller whose memory is erased or exported.
type owned struct {
	slot   *slot
	lock   *lock // nil unless there is a memory
	phase  Phase // of the resolver that was asked last
	report *SlotReport
}

// fail notes that a slot failed. That it cannot be done is the weakest of the reasons.
func (o *owned) fail(err error) {
	if err == nil {
		return
	}
	if o.report.Status != SlotFailed && errors.Is(err, errors.ErrUnsupported) {
		o.report.Status = SlotUnsupported
	} else {
		o.report.Status = SlotFailed
	}
	o.report.Err = errors.Join(o.report.Err, err)
}

// unsupported returns the error for a provider without the named handler.
func unsupported(handler string) error {
	return fmt.Errorf("the provider has no %s: %w", handler, errors.ErrUnsupported)
}

// owned resolves the named slots, or all of them, for a caller, as a turn's start does. A slot that fails does not stop the
// others.
func (m *Memory) owned(ctx context.Context, session *SessionInfo, names []string) ([]owned, []SlotReport, error) {
	chosen, err := m.chosen(names)
	if err != nil {
		return nil, nil, err
	}
	resolutions := make([]resolution, len(chosen))
	err = gather(ctx, len(chosen), func(i int) {
		resolutions[i].err = errGone
		chosen[i].resolve(ctx, *session, &resolutions[i])
	})
	if err != nil {
		return nil, nil, err
	}
	all, reports := make([]owned, len(chosen)), make([]SlotReport, len(chosen))
	for i, s := range chosen {
		r := &resolutions[i]
		all[i] = owned{slot: s, phase: r.phase, report: &reports[i]}
		reports[i] = SlotReport{Slot: s.Name, Status: SlotDone}
		switch {
		case r.err != nil:
			all[i].fail(&SlotError{s.Name, r.phase, foreign(r.err)})
		case r.zero:
			reports[i].Status = SlotDisabled
		default:
			all[i].lock, reports[i].Key = &r.lock, r.lock.keys.Key
		}
	}
	return all, reports, nil
}

// chosen returns the named slots in slot order.
func (m *Memory) chosen(names []string) ([]*slot, error) {
	if names == nil {
		return m.slots, nil
	}
	for _, name := range names {
		if m.slot(name) == nil {
			return nil, fmt.Errorf("%w: there is no slot %q", ErrInvalidRequest, name)
		}
	}
	var chosen []*slot
	for _, s := range m.slots {
		if slices.Contains(names, s.Name) {
			chosen = append(chosen, s)
		}
	}
	return chosen, nil
}

// ask calls a function of the slot's provider, and waits for it no longer than ctx lasts.
func (o *owned) ask(ctx context.Context, f func(context.Context) error) error {
	result := make(chan error, 1)
	err := gather(ctx, 1, func(int) {
		err := errGone
		defer func() { result <- err }()
		if _, err = caught(ctx, o.slot.log, func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) }); err != nil {
			err = failed(err)
		}
	})
	if err != nil {
		return err
	}
	return <-result
}

// finish tells the observer about a slot and returns its error.
func (r *round) finish(ctx context.Context, kind EventKind, o *owned) error {
	report := o.report
	if report.Status == SlotDisabled {
		r.disabled(ctx, o.slot, o.phase)
		return nil
	}
	if report.Err != nil {
		var typed *SlotError
		if !errors.As(report.Err, &typed) {
			report.Err = &SlotError{o.slot.Name, r.op.phase, report.Err}
		}
	}
	r.happened(ctx, Event{Kind: kind, Slot: o.slot.Name, Phase: r.op.phase, Records: report.Records, Err: report.Err})
	return report.Err
}
