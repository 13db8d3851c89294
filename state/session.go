package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"time"
)

// DefaultMaxBytes is the size limit of a checkpoint: 8 MiB.
const DefaultMaxBytes = 8 << 20

// Options configures Open. nil means all defaults.
type Options struct {
	// MaxBytes limits the size of a checkpoint; a commit over it is a *SizeError. 0 means DefaultMaxBytes.
	MaxBytes int

	// Logger receives what a session does: names, counts and sizes, never a value. nil logs nothing.
	Logger *slog.Logger

	// Now gives the time that a checkpoint is stamped with, which Sweep goes by. nil means time.Now.
	Now func() time.Time
}

func (o *Options) withDefaults() (Options, error) {
	var made Options
	if o != nil {
		made = *o
	}
	if made.MaxBytes < 0 {
		return made, errors.New("state: MaxBytes is negative")
	}
	if made.MaxBytes == 0 {
		made.MaxBytes = DefaultMaxBytes
	}
	if made.Logger == nil {
		made.Logger = slog.New(slog.DiscardHandler)
	}
	if made.Now == nil {
		made.Now = time.Now
	}
	return made, nil
}

// Session is the state of one agent's session in this process: what its checkpoint holds, and what a running step has
// changed. It may be used concurrently. It holds no resource, so it is dropped, not closed.
//
// Everything that stores may return the store's own errors, and: ErrConflict, when another runner has committed this
// session since it was opened (nothing of the call is stored; open the session again and begin the turn again);
// ErrUnknownOutcome, when nobody can tell (call again: the session looks first, and a step that was stored is not
// repeated); ErrTooLarge; and the context's error.
type Session struct {
	id      ID
	key     string
	store   Store
	options Options
	base    binding  // outside any step
	parent  *Session // nil unless made by Child

	mu        sync.Mutex
	shapes    shapes // of the results of steps; has its own mutex
	gate      lock   // held by the running step, or by what commits outside one
	writing   lock   // held around a write of the checkpoint
	waiting   map[holder]*lock
	change    *run           // the innermost change outside a step that is under way
	began     bool           // a turn has begun since Open
	seen      map[string]int // completed or replayed occurrences of steps since the turn began, by name
	called    map[string]int // calls of Child outside a step since the turn began, by node
	ended     bool           // by Reset
	lost      error          // set when the stored checkpoint is another runner's
	doc       *document      // as committed, but for a turn that has begun and committed nothing
	version   string         // of the stored checkpoint that doc builds on; "" when there is none
	unsettled *document      // sent, and nobody knows yet whether it is stored
}

// Open loads the session's checkpoint, or starts a session that has none; nothing is written before the first commit. Two
// sessions opened with one id are two runners, also within a process: the second to commit gets a conflict.
//
// Errors match ErrMalformed, ErrNewerFormat, or are the store's. The returned session keeps neither ctx nor opts.
func Open(ctx context.Context, store Store, id ID, opts *Options) (*Session, error) {
	o, err := opts.withDefaults()
	if store == nil {
		err = errors.Join(err, errors.New("state: a session needs a store"))
	}
	key, keyErr := id.Key()
	if err := errors.Join(err, keyErr); err != nil {
		return nil, err
	}
	s := &Session{id: id.withDefaults(), key: key, store: store, options: o, doc: &document{}}
	s.base.session = s
	if err := s.load(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// load reads the stored checkpoint.
func (s *Session) load(ctx context.Context) error {
	content, version, err := s.store.Read(ctx, s.key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("state: read checkpoint: %w", err)
	}
	d, id, err := decodeCheckpoint(content)
	if err != nil {
		return err
	}
	if id != s.id {
		return fmt.Errorf("%w: it is another session's", ErrMalformed)
	}
	s.doc, s.version = d, version
	return nil
}

// ID returns the session's id, with its node.
func (s *Session) ID() ID { return s.id }

// Turn returns the id of the current turn: of the one that was stored last, until BeginTurn is called; "" when there was
// none. After a crash it is the turn to resume.
func (s *Session) Turn() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.doc.turn.id
}

// Context returns a context in which handles mean this session. A context of one of this session's steps is returned as
// it is.
func (s *Session) Context(ctx context.Context) context.Context {
	if s.runIn(ctx) != nil {
		return ctx
	}
	return context.WithValue(ctx, bindingKey{}, &s.base)
}

// usable returns why nothing can be done in a run, or outside one for a nil run. The caller holds the mutex.
func (s *Session) usable(r *run) error {
	if s.ended || s.parent.endedAbove() {
		return fmt.Errorf("%w: the session was reset", ErrStale)
	}
	if r != nil && r.ended {
		return fmt.Errorf("%w: step %q has ended", ErrStale, r.step)
	}
	return s.lost
}

// usableNow is usable for a read. Outside a step it first settles a write of unknown outcome, and gives up the mutex
// meanwhile; a step begins settled.
func (s *Session) usableNow(ctx context.Context, r *run) error {
	if r == nil && s.unsettled != nil {
		if err := s.readyUnlocked(ctx); err != nil {
			return err
		}
	}
	return s.usable(r)
}

// readyUnlocked is ready for a caller who holds the mutex, and does so again afterwards, also when the store panics.
func (s *Session) readyUnlocked(ctx context.Context) error {
	s.mu.Unlock()
	defer s.mu.Lock()
	return s.ready(ctx, newHolder())
}

// endedAbove reports whether s or a session above it was reset. s may be nil.
func (s *Session) endedAbove() bool {
	for ; s != nil; s = s.parent {
		if s.isEnded() {
			return true
		}
	}
	return false
}
