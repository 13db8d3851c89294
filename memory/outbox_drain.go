package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/recollect-go/recollect/internal/docstore"
)

// outboxPage is how many keys are listed at once.
const outboxPage = 500

// storeTimeout is how long a drain waits for a page of keys, or for a record and its claim: a connection that is silently
// dead must not end the drains of a process.
const storeTimeout = time.Minute

// maxLate is how many captures of one slot may run out of time in one drain. Then the slot is left alone for the rest of
// it: a service that hangs must not keep the captures of others waiting for hours.
const maxLate = 8

// DrainReport is what one drain of an outbox did.
type DrainReport struct {
	// Records is how many records of this node there were, without those that this process is at work on.
	Records int
	// Done and Failed are the captures that were tried.
	Done, Failed int
	// Waiting is the captures that were not tried: their time has not come, another process is at work on them, or too many
	// of their slot ran out of time in this drain.
	Waiting int
	// Stranded names the slots of captures that nobody here can make: the slot is gone, or its provider does not capture any
	// more. They stay.
	Stranded []string
	// Unreadable holds the keys of records that are damaged, of a newer version, or could not be read. They stay.
	Unreadable []string
}

// DrainOutbox tries every pending capture of this node once, now, also one that waits after a failure, or that another
// process may be at work on: after a restart nobody knows which process that was. Call it at start, unless RunOutbox is,
// and when an outage is over. A slot of which eight captures have run out of time is left alone for the rest of the drain.
//
// The error is of the store, or matches ErrCancelled, or ErrInvalidRequest when there is no outbox. Captures that failed
// again are counted in the report and logged.
func (m *Memory) DrainOutbox(ctx context.Context) (*DrainReport, error) {
	return m.drain(ctx, anyCapture)
}

// RunOutbox drains the outbox until ctx ends, and then returns nil: at once all of it, as DrainOutbox does, and then every
// OutboxOptions.Interval the captures whose time has come. Errors are logged. Run one in every process, in the background;
// processes leave each other's work alone.
//
//	go memories.RunOutbox(ctx)
//
// When ctx ends, captures that are running get that as the end of their context, and are tried again by the next drain. An
// error matches ErrInvalidRequest when there is no outbox.
func (m *Memory) RunOutbox(ctx context.Context) error {
	if m.outbox == nil {
		return errNoOutbox
	}
	ticker := time.NewTicker(m.outbox.opts.Interval)
	defer ticker.Stop()
	m.drainLogged(ctx, anyCapture)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			m.drainLogged(ctx, m.isDue)
		}
	}
}

var errNoOutbox = fmt.Errorf("%w: there is no outbox", ErrInvalidRequest)

// isDue reports whether the time of a capture has come. A time that is much further away than any that is ever set was set
// by a clock that was wrong.
func (m *Memory) isDue(c *pendingCapture) bool {
	wait := time.Until(c.due)
	return wait <= 0 || wait/2 > max(m.outbox.opts.MaxPause, m.captureTimeout+claimMargin)
}

func (m *Memory) drainLogged(ctx context.Context, chosen func(*pendingCapture) bool) {
	report, err := m.drain(ctx, chosen)
	if err != nil && ctx.Err() == nil {
		m.log.ErrorContext(ctx, "memory: draining the outbox failed", "error", err)
	}
	if len(report.Stranded) > 0 || len(report.Unreadable) > 0 {
		m.log.WarnContext(ctx, "memory: captures in the outbox cannot be made", "slots", report.Stranded, "unreadable", report.Unreadable)
	}
}

// drain works on every record, several at once.
func (m *Memory) drain(ctx context.Context, chosen func(*pendingCapture) bool) (*DrainReport, error) {
	if m.outbox == nil {
		return &DrainReport{}, errNoOutbox
	}
	d := &drainage{m: m, chosen: chosen, late: make(map[string]int)}
	var group errgroup.Group
	group.SetLimit(m.outbox.opts.Parallel)
	err := m.outbox.scan(ctx, func(key string) error {
		group.Go(func() error {
			d.note(key, d.one(ctx, key))
			return nil
		})
		return nil
	})
	_ = group.Wait()
	slices.Sort(d.report.Stranded)
	slices.Sort(d.report.Unreadable)
	if err := cancelled(ctx); err != nil {
		return &d.report, err
	}
	return &d.report, errors.Join(outboxError("list records", err), d.failures.err())
}

// scan calls f with the key of every record, once.
func (o *Outbox) scan(ctx context.Context, f func(key string) error) error {
	seen := make(map[string]bool)
	for cursor := ""; ; {
		keys, next, err := o.list(ctx, cursor)
		if err != nil {
			return err
		}
		for _, key := range keys {
			if !isOutboxKey(key) || seen[key] {
				continue
			}
			seen[key] = true
			if err := f(key); err != nil {
				return err
			}
		}
		if next == "" {
			return nil
		}
		cursor = next
	}
}

func (o *Outbox) list(ctx context.Context, cursor string) (keys []string, next string, err error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	return o.store.List(ctx, cursor, outboxPage)
}

// recordErrors is what went wrong with records, of which there may be very many.
type recordErrors struct {
	first error
	n     int
}

func (e *recordErrors) add(key string, err error) {
	if e.n++; e.n == 1 {
		e.first = fmt.Errorf("record %q: %w", key, err)
	}
}

// err returns the first error and how many there were, or nil.
func (e *recordErrors) err() error {
	switch e.n {
	case 0:
		return nil
	case 1:
		return outboxError("a record failed", e.first)
	}
	return outboxError(fmt.Sprintf("%d records failed, one of them", e.n), e.first)
}

// drainage is one drain under way.
type drainage struct {
	m      *Memory
	chosen func(*pendingCapture) bool

	mu       sync.Mutex
	report   DrainReport
	late     map[string]int // by slot: captures that ran out of time
	failures recordErrors   // of records that could not be read or updated
}

func (d *drainage) count(f func(*DrainReport)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f(&d.report)
}

// note keeps what went wrong with a record. It does not stop the others.
func (d *drainage) note(key string, err error) {
	if err == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failures.add(key, err)
}

// one works on one record.
func (d *drainage) one(ctx context.Context, key string) error {
	o := d.m.outbox
	if ctx.Err() != nil {
		return nil
	}
	if o.tryEnter(key) != nil {
		return nil // this process completes the turn, or drains it already
	}
	defer o.leave(key)
	r, claimed, err := d.take(ctx, key)
	if err != nil || len(claimed) == 0 {
		return err
	}
	made, err := d.m.attempt(ctx, r, func(c *pendingCapture) bool { return claimed[c.lock.slot] })
	d.count(func(report *DrainReport) {
		report.Done += made.done
		report.Failed += made.failed
		for _, slot := range made.late {
			d.late[slot]++
		}
	})
	if made.err != nil && ctx.Err() == nil {
		d.m.log.ErrorContext(ctx, "memory: capture from the outbox failed", "turn", r.turn.ID, "error", made.err)
	}
	return err
}

// take reads a record and claims what can be tried of it, which may be nothing.
func (d *drainage) take(ctx context.Context, key string) (r *outboxRecord, claimed map[string]bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	o := d.m.outbox
	if r, err = o.read(ctx, key); err != nil {
		d.count(func(report *DrainReport) { report.Unreadable = append(report.Unreadable, key) })
		return nil, nil, err
	}
	if r == nil || r.session.Node != d.m.node {
		return nil, nil, nil
	}
	claimed = d.claim(r)
	if len(claimed) == 0 && len(r.captures) > 0 {
		return nil, nil, nil
	}
	err = o.write(ctx, r)
	if errors.Is(err, docstore.ErrConflict) { // another process was first
		d.count(func(report *DrainReport) { report.Waiting += len(claimed) })
		return nil, nil, nil
	}
	return r, claimed, err
}

// claim claims what can be tried of a record, and counts the rest.
func (d *drainage) claim(r *outboxRecord) (claimed map[string]bool) {
	claimed = make(map[string]bool, len(r.captures))
	until := d.m.claimEnd()
	d.count(func(report *DrainReport) {
		report.Records++
		for i := range r.captures {
			c := &r.captures[i]
			switch s := d.m.slot(c.lock.slot); {
			case s == nil || !canCapture(&s.handlers):
				if !slices.Contains(report.Stranded, c.lock.slot) {
					report.Stranded = append(report.Stranded, c.lock.slot)
				}
			case !d.chosen(c) || d.late[s.Name] >= maxLate:
				report.Waiting++
			default:
				claimed[c.lock.slot] = true
				c.claim(until)
			}
		}
	})
	return claimed
}
