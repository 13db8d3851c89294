package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/recollect-go/recollect/internal/docstore"
)

// claimMargin is how much longer than its captures may take a record is left alone by others.
const claimMargin = 30 * time.Second

// captureRecorded records the captures of a completed turn, runs them, and removes those that succeeded from the record. own
// holds the turn's messages. Unless recorded, nothing ran.
func (r *round) captureRecorded(ctx context.Context, participants []participant, own []Message) (recorded bool, err error) {
	o := r.m.outbox
	if len(participants) == 0 {
		o.turns.Add(1)
		return true, nil
	}
	key := outboxKey(r.session.ID, r.session.Node, r.turn.Sequence, r.turn.ID)
	if err := r.m.outboxTime(ctx, func(ctx context.Context) error { return o.enter(ctx, key) }); err != nil {
		return false, outboxError("wait for the record of the turn", err)
	}
	defer o.leave(key)
	record, err := r.record(ctx, participants, own)
	if err != nil {
		return false, outboxError("record a turn", err)
	}
	made, err := r.m.attempt(ctx, record, anyCapture)
	return true, errors.Join(made.err, outboxError("update a record", err))
}

// record returns the stored record of the round's captures.
func (r *round) record(ctx context.Context, participants []participant, own []Message) (record *outboxRecord, err error) {
	locks := make([]*lock, len(participants))
	for i := range participants {
		locks[i] = participants[i].lock
	}
	o, claim := r.m.outbox, r.m.claimEnd()
	made, err := newOutboxRecord(time.Now(), claim, &r.session, &r.turn, withoutRecords(own), locks)
	if err != nil {
		return nil, err
	}
	var fresh bool
	err = r.m.outboxTime(ctx, func(ctx context.Context) error {
		record, fresh, err = o.record(ctx, made, claim)
		return err
	})
	if err != nil {
		return nil, err
	}
	o.turns.Add(1)
	if fresh {
		o.due.Add(int64(len(locks)))
	}
	return record, nil
}

func canCapture(h *Handlers) bool { return h.CaptureTurn != nil }

func anyCapture(*pendingCapture) bool { return true }

// claimEnd returns the time until which a record that is worked on is left alone by others.
func (m *Memory) claimEnd() time.Time { return time.Now().Add(m.captureTimeout + claimMargin) }

// outboxTime calls f with the time that the store may take. What is stored after captures must be stored although the
// request has ended.
func (m *Memory) outboxTime(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.captureTimeout)
	defer cancel()
	return f(ctx)
}

// withoutRecords returns a turn's own messages as they are recorded: what a slot has recalled is not for the captures of
// others to keep.
func withoutRecords(messages []Message) []Message {
	own := make([]Message, 0, len(messages))
	for _, m := range messages {
		if m.m.kind != KindRecord {
			own = append(own, m)
		}
	}
	return own
}

// record stores a new record. One of the same turn that is there already was made by an earlier completion, whose outcome
// the host has not stored: that one is claimed until the given time and returned instead, since its captures may have run.
// One of another caller, whose turn has the same ids, is an error: the turn at hand must not vanish behind it.
func (o *Outbox) record(ctx context.Context, r *outboxRecord, claim time.Time) (stored *outboxRecord, fresh bool, err error) {
	key, text := r.key(), r.append(nil)
	if len(text) > o.opts.MaxBytes {
		return nil, false, fmt.Errorf("%w: %d bytes, at most %d", ErrOutboxRecord, len(text), o.opts.MaxBytes)
	}
	written := false
	err = docstore.Retry(ctx, func() (err error) {
		if written {
			if stored, err = o.read(ctx, key); err != nil {
				return err
			}
		}
		if stored == nil {
			written, fresh, stored = true, true, r
			r.version, err = o.store.Write(ctx, key, text, "")
			return err
		}
		if fresh = bytes.Equal(stored.append(nil), text); fresh {
			return nil // it is what was sent, by a write whose outcome was unknown
		}
		if !stored.sameCaller(r) {
			return errOtherCaller
		}
		for i := range stored.captures {
			stored.captures[i].claim(claim)
		}
		return o.write(ctx, stored)
	})
	return stored, fresh, err
}

var errOtherCaller = fmt.Errorf("%w: a turn of another caller, or of another scope, waits under the same session and turn id",
	ErrInvalidRequest)

// claim begins an attempt.
func (c *pendingCapture) claim(until time.Time) {
	c.attempts++
	c.due = until
}

// attempts is what became of the captures of a record in one pass.
type attempts struct {
	done, failed int
	late         []string // slots of those that ran out of time
	err          error    // joins theirs, in slot order
}

// attempt runs those captures of a claimed record that are chosen and whose slots this memory has, all at once, and removes
// those that succeeded from the record. The error is of the store.
func (m *Memory) attempt(ctx context.Context, r *outboxRecord, chosen func(*pendingCapture) bool) (attempts, error) {
	round := m.turnRound(PhaseTurnCompleted, r.session, &r.turn)
	var participants []participant
	for _, s := range m.slots {
		if c := r.capture(s.Name); c != nil && canCapture(&s.handlers) && chosen(c) {
			l := c.lock
			participants = append(participants, participant{slot: s, lock: &l})
		}
	}
	store := func(ctx context.Context, s *slot, o Operation) error {
		return s.handlers.CaptureTurn(ctx, &TurnCompleted{Operation: o, Messages: slices.Clone(r.messages), Turn: r.turn.startingAt(0)})
	}
	// Every capture is awaited, and ends with ctx at the latest: what has succeeded by then counts.
	_ = gather(context.WithoutCancel(ctx), len(participants), func(i int) { round.captureInto(ctx, &participants[i], store) })
	ended := ctx.Err() != nil
	var made attempts
	for i := range participants {
		p := &participants[i]
		switch {
		case p.err == nil:
			made.done++
		case !ended:
			made.failed++
			if errors.Is(p.err, ErrTimeout) {
				made.late = append(made.late, p.slot.Name)
			}
		}
	}
	err := m.outboxTime(ctx, func(ctx context.Context) error { return m.outbox.settle(ctx, r, participants, ended) })
	if err == nil {
		m.outbox.done.Add(int64(made.done))
	}
	m.outbox.failures.Add(int64(made.failed))
	made.err = round.captureErrors(ctx, participants)
	return made, err
}

// settle notes what became of captures: those that succeeded are removed, the others wait. An attempt that was cut off by
// the end of its context does not count.
func (o *Outbox) settle(ctx context.Context, r *outboxRecord, participants []participant, ended bool) error {
	return o.change(ctx, r, func(r *outboxRecord) {
		for i := range participants {
			p := &participants[i]
			c := r.capture(p.slot.Name)
			switch {
			case c == nil || c.lock.keys != p.lock.keys: // erased, discarded, or done elsewhere
			case p.err == nil:
				r.drop(func(c *pendingCapture) bool { return c.lock.slot == p.slot.Name })
			case ended:
				c.attempts, c.due = max(0, c.attempts-1), time.Now()
			default:
				c.due = time.Now().Add(o.opts.pause(c.attempts))
			}
		}
	})
}

// outboxError says what the outbox could not do.
func outboxError(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("memory: outbox: %s: %w", what, err)
}

func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) }
