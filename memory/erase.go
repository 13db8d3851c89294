package memory

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// EraseCall says whose memory is erased, and in which slots.
type EraseCall struct {
	// Session is what the resolvers see, as at the start of a turn of that caller. Its ID may be left out if no resolver
	// needs it.
	Session SessionInfo
	// Slots names the slots to erase; nil means all of them. A slot that a caller shares with others, such as one of a
	// whole tenant, is erased for all of them: leave it out when one person is to be forgotten.
	Slots []string
}

// Erasure is what an erasure did, slot by slot, in slot order.
type Erasure struct{ Slots []SlotReport }

// Erase removes everything that the slots keep for a caller: what is stored under the key of each of them, and the captures
// that wait in the outbox for it. Then it reads again, through the provider's Export or else its Recall, to see that
// nothing is left. Best-effort slots are erased like any other.
//
// Every slot is tried, whatever becomes of the others. The error joins those of all slots that failed, each a *SlotError,
// and Erase can be called again until there is none; what is erased stays erased. A slot whose provider has no Erase is in
// it too, with an error matching errors.ErrUnsupported, which another call does not change. The Erasure says what is done,
// and is nil only when the call was not understood or ended before any slot was asked.
//
// What is not in a provider is not erased. Records that were recalled before live on in the history of sessions: drop them
// with Session.Forget, in snapshots too. What the model has said about them, what the caller said, and the state of a
// session stay in it until it is cleared or reset. A turn of the caller that is open, or a capture that another process is
// running, can store something afterwards: end the caller's sessions first.
func (m *Memory) Erase(ctx context.Context, c *EraseCall) (*Erasure, error) {
	session, err := m.atNode(c.Session)
	if err != nil {
		return nil, err
	}
	all, reports, err := m.owned(ctx, &session, c.Slots)
	if err != nil {
		return nil, err
	}
	r := m.turnRound(PhaseErase, session, &Turn{})
	r.dropPending(ctx, all)
	for i := range all {
		if o := &all[i]; o.lock != nil {
			o.fail(r.erase(ctx, o))
		}
	}
	r.checkPending(ctx, all)
	var errs []error
	for i := range all {
		errs = append(errs, r.finish(ctx, EventErased, &all[i]))
	}
	return &Erasure{reports}, errors.Join(errs...)
}

// erase erases one slot and reads it again.
func (r *round) erase(ctx context.Context, o *owned) error {
	o.report.Records = -1
	handlers := &o.slot.handlers
	if handlers.Erase == nil {
		return unsupported("Erase")
	}
	operation := r.operation(o.lock, "")
	if handlers.Export != nil {
		// That it cannot be read, because it is damaged for example, is no reason not to erase it.
		if n, err := r.count(ctx, o); err == nil {
			o.report.Records = n
		}
	}
	err := o.ask(ctx, func(ctx context.Context) error { return handlers.Erase(ctx, &EraseRequest{Operation: operation}) })
	if err != nil {
		return err
	}
	left, err := r.left(ctx, o)
	if err != nil {
		return fmt.Errorf("reading again: %w", err)
	}
	if left > 0 {
		return fmt.Errorf("%w: %d records", ErrNotErased, left)
	}
	return nil
}

// left reads a slot that was erased and returns how many records there are.
func (r *round) left(ctx context.Context, o *owned) (int, error) {
	if o.slot.handlers.Export != nil {
		o.report.VerifiedBy = "export"
		return r.count(ctx, o)
	}
	o.report.VerifiedBy = "recall"
	id := uuid.NewString() // of an operation that was never recalled
	started := &TurnStarted{Operation: r.operation(o.lock, "recollect-erase-v1:"+id), Turn: Turn{ID: id}}
	result := make(chan int, 1)
	err := o.ask(ctx, func(ctx context.Context) error {
		items, err := o.slot.handlers.Recall(ctx, started)
		result <- len(items)
		return err
	})
	if err != nil {
		return 0, err
	}
	return <-result, nil
}

// count returns how many records a slot exports.
func (r *round) count(ctx context.Context, o *owned) (int, error) {
	counter := &recordWriter{write: func(*ExportedRecord) error { return nil }}
	err := r.export(ctx, o, counter)
	return counter.n, err
}
