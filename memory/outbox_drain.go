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

// DrainReport is what one drain of an outbox did.
type DrainReport struct {
	// Records is how many records of this node there were, without those that this process is at work on.
	Records int
	// Done and Failed are the captures that were tried.
	Done, Failed int
	// Waiting is the captures that were not tried: their time has not come, or another process is at work on them.
	Waiting int
	// Stranded names the slots of captures that nobody here can make: the slot is gone, or its provider does not capture any
	// more. They stay.
	Stranded []string
	// Unreadable holds the keys of records that are damaged, of a newer version, or could not be read. They stay.
	Unreadable []string
}

// DrainOutbox tries every pending capture of this node once, now, also one that waits after a failure, or that another
// process may be at work on: after a restart nobody knows which process that was. Call it at start, unless RunOutbox is,
// and when an outage is over.
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
			m.drainLogged(ctx, isDue)
		}
	}
}

var errNoOutbox = fmt.Errorf("%w: there is no outbox", ErrInvalidRequest)

func isDue(c *pendingCapture) bool { return !time.Now().Before(c.due) }

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
	d := &drainage{m: m, chosen: chosen}
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
	d.report.Stranded = slices.Compact(d.report.Stranded)
	slices.Sort(d.report.Unreadable)
	if err := cancelled(ctx); err != nil {
		return &d.report, err
	}
	return &d.report, errors.Join(outboxError("list records", err), d.err())
}

// scan calls f with the key of every record, once.
func (o *Outbox) scan(ctx context.Context, f func(key string) error) error {
	seen := make(map[string]bool)
	for cursor := ""; ; {
		keys, next, err := o.store.List(ctx, cursor, outboxPage)
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

// drainage is one drain under way.
type drainage struct {
	m      *Memory
	chosen func(*pendingCapture) bool

	mu     sync.Mutex
	report DrainReport
	first  error // of a record that could not be read or updated
	errs   int
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
	d.errs++
	if d.first == nil {
		d.first = fmt.Errorf("record %q: %w", key, err)
	}
}

func (d *drainage) err() error {
	if d.first == nil {
		return nil
	}
	return outboxError(fmt.Sprintf("%d records failed, one of them", d.errs), d.first)
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
	r, err := o.read(ctx, key)
	if err != nil {
		d.count(func(report *DrainReport) { report.Unreadable = append(report.Unreadable, key) })
		return err
	}
	if r == nil || r.session.Node != d.m.node {
		return nil
	}
	claimed := d.claim(r)
	if len(claimed) == 0 && len(r.captures) > 0 {
		return nil
	}
	if err := o.write(ctx, r); err != nil {
		if errors.Is(err, docstore.ErrConflict) { // another process was first
			d.count(func(report *DrainReport) { report.Waiting += len(claimed) })
			return nil
		}
		return err
	}
	if len(claimed) == 0 {
		return nil
	}
	made, err := d.m.attempt(ctx, r, func(c *pendingCapture) bool { return claimed[c.lock.slot] })
	d.count(func(report *DrainReport) {
		report.Done += made.done
		report.Failed += made.failed
	})
	if err != nil && ctx.Err() == nil {
		d.m.log.ErrorContext(ctx, "memory: capture from the outbox failed", "turn", r.turn.ID, "error", err)
	}
	return nil
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
				report.Stranded = append(report.Stranded, c.lock.slot)
			case !d.chosen(c):
				report.Waiting++
			default:
				claimed[c.lock.slot] = true
				c.claim(until)
			}
		}
	})
	return claimed
}
