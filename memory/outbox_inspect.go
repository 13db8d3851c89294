package memory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/recollect-go/recollect/internal/docstore"
)

// OutboxStats tells whether captures keep up. TurnsCompleted that grows while CapturesDue does not is a capture that
// silently stopped: a slot is disabled, or its provider lost its CaptureTurn. An OldestPending that stays is one that
// fails.
type OutboxStats struct {
	// The following count what this Outbox has done since it was made.

	TurnsCompleted  int64 // turns, with or without captures
	CapturesDue     int64 // captures of them that were recorded
	CapturesDone    int64 // captures that succeeded and were removed, of whatever process
	AttemptsFailed  int64 // attempts that failed, repeated ones included
	CapturesDropped int64 // captures that Discard and Memory.Erase removed

	// The following are of the store, and so of all processes.

	Pending       int       // captures that are not done, running ones included
	OldestPending time.Time // when the turn of the oldest of them was completed; zero when there is none
	Unreadable    int       // records that are damaged, of a newer version, or could not be read
}

// Stats returns the counters. It reads every pending record; an outbox that keeps up has few. The error is of the listing,
// and the counters of this Outbox are returned beside it.
func (o *Outbox) Stats(ctx context.Context) (*OutboxStats, error) {
	s := &OutboxStats{
		TurnsCompleted:  o.turns.Load(),
		CapturesDue:     o.due.Load(),
		CapturesDone:    o.done.Load(),
		AttemptsFailed:  o.failures.Load(),
		CapturesDropped: o.dropped.Load(),
	}
	err := o.scan(ctx, func(key string) error {
		r, err := o.read(ctx, key)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			s.Unreadable++
		case r != nil && len(r.captures) > 0:
			s.Pending += len(r.captures)
			if s.OldestPending.IsZero() || r.recordedAt.Before(s.OldestPending) {
				s.OldestPending = r.recordedAt
			}
		}
		return nil
	})
	return s, outboxError("list records", err)
}

// PendingTurn is a record of an outbox: a completed turn of which captures are not done.
type PendingTurn struct {
	ID          string // for Discard
	SessionID   string
	Node        string
	TurnID      string
	CompletedAt time.Time
	Captures    []PendingCapture
	Err         error // why the record cannot be read; then only ID is set
}

// PendingCapture is a capture that is not done.
type PendingCapture struct {
	Slot     string
	Key      string // partition that it will write to
	Attempts int64  // that have begun
	Due      time.Time
}

// Pending returns a page of the pending turns of all nodes, and the cursor of the next page; the first cursor is "", and a
// next of "" means that there are no more. A page may be short or empty before that, and the order is that of the store.
// limit is at least 1.
func (o *Outbox) Pending(ctx context.Context, cursor string, limit int) (turns []PendingTurn, next string, err error) {
	keys, next, err := o.store.List(ctx, cursor, limit)
	if err != nil {
		return nil, "", outboxError("list records", err)
	}
	for _, key := range keys {
		if !isOutboxKey(key) {
			continue
		}
		r, err := o.read(ctx, key)
		switch {
		case ctx.Err() != nil:
			return nil, "", cancelled(ctx)
		case err != nil:
			turns = append(turns, PendingTurn{ID: key, Err: err})
		case r != nil:
			turns = append(turns, r.pending())
		}
	}
	return turns, next, nil
}

func (r *outboxRecord) pending() PendingTurn {
	t := PendingTurn{
		ID: r.key(), SessionID: r.session.ID, Node: r.session.Node, TurnID: r.turn.ID, CompletedAt: r.recordedAt,
		Captures: make([]PendingCapture, len(r.captures)),
	}
	for i := range r.captures {
		c := &r.captures[i]
		t.Captures[i] = PendingCapture{Slot: c.lock.slot, Key: c.lock.keys.Key, Attempts: c.attempts, Due: c.due}
	}
	return t
}

// Discard gives up captures of a pending turn for good: those of the named slots, or the whole record, also an unreadable
// one, when none is named. It is for an operator who has decided that they can never succeed. An attempt that is running
// goes on. A record that is not there is success.
func (o *Outbox) Discard(ctx context.Context, id string, slots ...string) error {
	if !isOutboxKey(id) {
		return fmt.Errorf("%w: %q is not the id of a pending turn", ErrInvalidRequest, id)
	}
	if len(slots) == 0 {
		return outboxError("discard a record", o.discardRecord(ctx, id))
	}
	dropped, err := o.dropCaptures(ctx, id, func(c *pendingCapture) bool { return slices.Contains(slots, c.lock.slot) })
	o.dropped.Add(int64(len(dropped)))
	return outboxError("discard captures", err)
}

// discardRecord removes a record, whatever it is.
func (o *Outbox) discardRecord(ctx context.Context, key string) error {
	r, _ := o.read(ctx, key) // only to count
	if err := docstore.NewUpdater(o.store).Erase(ctx, key); err != nil {
		return err
	}
	if r != nil {
		o.dropped.Add(int64(len(r.captures)))
	}
	return nil
}

// dropCaptures removes captures from a record and returns them.
func (o *Outbox) dropCaptures(ctx context.Context, key string, which func(*pendingCapture) bool) (dropped []pendingCapture, err error) {
	r, err := o.read(ctx, key)
	if err != nil || r == nil || !r.has(which) {
		return nil, err
	}
	err = o.change(ctx, r, func(r *outboxRecord) {
		if now := r.drop(which); len(now) > 0 { // none after a write whose outcome was unknown
			dropped = now
		}
	})
	if err != nil {
		return nil, err
	}
	return dropped, nil
}
