package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/recollect-go/recollect/internal/docstore"
)

// Defaults of OutboxOptions.
const (
	DefaultOutboxInterval = 30 * time.Second
	DefaultOutboxBackoff  = 15 * time.Second
	DefaultOutboxMaxPause = time.Hour
	DefaultOutboxMaxBytes = 8 << 20
	DefaultOutboxParallel = 4
)

// OutboxStore keeps the records of an outbox, one document per turn whose captures are not all done. Every state.Store and
// filememory.Backend that can list is one; their rules and their kits, statetest and backendtest, hold here too. Errors
// match filememory.ErrConflict and ErrUnknownOutcome, which are those of package state as well.
//
// Give an outbox a store of its own, a folder or a table: draining lists all of its keys.
type OutboxStore interface {
	// Read returns a document and its version, or an error matching fs.ErrNotExist.
	Read(ctx context.Context, key string) (content []byte, version string, err error)
	// Write replaces a document if its version is the expected one; "" means that there must be none.
	Write(ctx context.Context, key string, content []byte, expected string) (version string, err error)
	// Delete removes a document on the same condition. An absent one is success.
	Delete(ctx context.Context, key, expected string) error
	// List returns a page of keys and the cursor of the next page, "" when there is none.
	List(ctx context.Context, cursor string, limit int) (keys []string, next string, err error)
}

// Outbox makes the captures of completed turns survive a crash and an outage. With Options.Outbox, CompleteTurn writes a
// record of them to the store before they run, and removes each from it after it has succeeded. What is left, because it
// failed or because the process died, is tried again by Memory.RunOutbox, in any process, with growing pauses, until it
// succeeds or somebody calls Discard. Nothing is given up by itself.
//
// A capture may so run more than once, also at the same time in two processes. Its operation id and its request are the same
// every time, so a provider that keeps the rule of Handlers.CaptureTurn stores it exactly once.
//
// # What captures see
//
// Every attempt, the first included, is made of what is read from the record. It holds the turn's own messages, from its
// input on, without recalled records; the messages of earlier turns are not there, and Turn.Start is 0. The session has its
// ids and principals, whose attributes are JSON values, and no channel attributes.
//
// A record holds what was said and whose memory it goes to. It is as sensitive as a snapshot and belongs into server-side
// storage. The key is derived again from namespace and scope at every attempt.
//
// Captures before a compaction need no outbox: their failure stops the compaction, and nothing is lost.
//
// An Outbox may serve the memories of several nodes. It may be used concurrently and by several processes.
type Outbox struct {
	store OutboxStore
	opts  OutboxOptions

	turns, due, done, failures, dropped atomic.Int64

	mu      sync.Mutex
	working map[string]chan struct{} // records that this process works on; closed at the end of it
}

// OutboxOptions configures NewOutbox. nil means all defaults.
type OutboxOptions struct {
	// Interval is the time between two looks of RunOutbox at the store. 0 means DefaultOutboxInterval.
	Interval time.Duration
	// Backoff is the pause after the first failure of a capture. It doubles with each further one up to MaxPause, and a
	// random part of up to a half is taken off. 0 means DefaultOutboxBackoff.
	Backoff time.Duration
	// MaxPause is the longest pause between two attempts. 0 means DefaultOutboxMaxPause.
	MaxPause time.Duration
	// MaxBytes is the largest record, in bytes. A turn over it is not completed: the error matches ErrOutboxRecord. 0 means
	// DefaultOutboxMaxBytes; the store may have a lower limit.
	MaxBytes int
	// Parallel is how many records one drain works on at once. 0 means DefaultOutboxParallel.
	Parallel int
}

// NewOutbox returns the outbox in store, or an error matching ErrConfig that lists every problem. Pass it to New as
// Options.Outbox, and call Memory.RunOutbox in the background.
func NewOutbox(store OutboxStore, opts *OutboxOptions) (*Outbox, error) {
	o := &Outbox{store: store, working: make(map[string]chan struct{})}
	if opts != nil {
		o.opts = *opts
	}
	problems := o.opts.problems()
	if store == nil {
		problems = append(problems, errors.New("no store"))
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("%w: outbox:\n%w", ErrConfig, errors.Join(problems...))
	}
	o.opts.complete()
	return o, nil
}

func (o *OutboxOptions) problems() (problems []error) {
	for _, field := range []struct {
		name     string
		negative bool
	}{
		{"Interval", o.Interval < 0}, {"Backoff", o.Backoff < 0}, {"MaxPause", o.MaxPause < 0},
		{"MaxBytes", o.MaxBytes < 0}, {"Parallel", o.Parallel < 0},
	} {
		if field.negative {
			problems = append(problems, fmt.Errorf("%s is negative", field.name))
		}
	}
	return problems
}

// complete fills in the defaults.
func (o *OutboxOptions) complete() {
	o.Interval = cmp.Or(o.Interval, DefaultOutboxInterval)
	o.Backoff = cmp.Or(o.Backoff, DefaultOutboxBackoff)
	o.MaxPause = cmp.Or(o.MaxPause, DefaultOutboxMaxPause)
	o.MaxBytes = cmp.Or(o.MaxBytes, DefaultOutboxMaxBytes)
	o.Parallel = cmp.Or(o.Parallel, DefaultOutboxParallel)
}

// pause returns how long to wait after a capture has failed for the given number of times.
func (o *OutboxOptions) pause(attempts int64) time.Duration {
	pause := min(o.Backoff, o.MaxPause)
	for ; attempts > 1 && pause < o.MaxPause; attempts-- {
		pause += min(pause, o.MaxPause-pause)
	}
	return pause - rand.N(pause/2+1)
}

// enter makes the caller the only one in this process who works on a record, and waits for that as long as ctx lasts.
func (o *Outbox) enter(ctx context.Context, key string) error {
	for {
		busy := o.tryEnter(key)
		if busy == nil {
			return nil
		}
		select {
		case <-busy:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// tryEnter returns nil, or a channel that is closed when whoever works on the record has left it.
func (o *Outbox) tryEnter(key string) (busy <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if busy := o.working[key]; busy != nil {
		return busy
	}
	o.working[key] = make(chan struct{})
	return nil
}

func (o *Outbox) leave(key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.working[key])
	delete(o.working, key)
}

// read returns a record, or nil when there is none.
func (o *Outbox) read(ctx context.Context, key string) (*outboxRecord, error) {
	content, version, err := o.store.Read(ctx, key)
	if absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r, err := decodeOutboxRecord(content)
	if err != nil {
		return nil, err
	}
	if r.key() != key {
		return nil, malformed(errors.New("record of another turn"))
	}
	r.version = version
	return r, nil
}

// write stores a record in the place of the one that it was made of, or removes that when no capture is left.
func (o *Outbox) write(ctx context.Context, r *outboxRecord) error {
	if len(r.captures) == 0 {
		return o.store.Delete(ctx, r.key(), r.version)
	}
	version, err := o.store.Write(ctx, r.key(), r.append(nil), r.version)
	if err == nil {
		r.version = version
	}
	return err
}

// change stores what edit makes of a record, whoever else changes it. edit is called again with the fresh record after a
// conflict; when that is gone, nothing is done.
func (o *Outbox) change(ctx context.Context, r *outboxRecord, edit func(*outboxRecord)) error {
	key := r.key()
	return docstore.Retry(ctx, func() (err error) {
		if r == nil {
			if r, err = o.read(ctx, key); err != nil || r == nil {
				return err
			}
		}
		edit(r)
		err = o.write(ctx, r)
		r = nil
		return err
	})
}
