package memory

import (
	"fmt"

	"github.com/recollect-go/recollect/internal/rawjson"
	"github.com/recollect-go/recollect/scope"
)

// maxDigests is how many recalls are remembered, the newest.
const maxDigests = 1024

// Bookkeeping is what the library must remember between calls of one session: the locks of the current turn, and the digests
// of the newest 1024 recalls. It is opaque, versioned JSON for the host to store beside the history, in the same
// transaction. It names scopes and callers, so it is sensitive and belongs into server-side storage. The zero Bookkeeping is
// that of a new session, or of one that was cleared. A Bookkeeping is immutable.
type Bookkeeping struct{ b *bookkeeping }

type bookkeeping struct {
	turn    turnMark
	locks   []lock
	digests []operationDigest
	unknown []rawjson.Member // of the object, kept for a newer build
}

// turnMark is the turn that the locks belong to. Its id is "" before the first one.
type turnMark struct {
	id       string
	sequence int64
	complete bool
}

// lock binds a slot to a namespace and scope for a turn.
type lock struct {
	slot       string
	namespace  scope.Namespace
	scope      scope.Scope
	keys       scope.Keys
	visibility Visibility
	failed     bool             // a best-effort slot whose recall failed: earlier records stay visible, nothing else happens
	unknown    []rawjson.Member // of the lock's object, kept for a newer build
}

// operationDigest is a committed recall.
type operationDigest struct{ operation, digest string }

// IsZero reports whether b is that of a new session.
func (b Bookkeeping) IsZero() bool { return b.b == nil }

func (b Bookkeeping) state() bookkeeping {
	if b.b == nil {
		return bookkeeping{}
	}
	return *b.b
}

func (b Bookkeeping) locks() []lock              { return b.state().locks }
func (b Bookkeeping) digests() []operationDigest { return b.state().digests }

// with returns b with other locks and digests, of which it keeps the newest.
func (b Bookkeeping) with(locks []lock, digests []operationDigest) Bookkeeping {
	next := b.state()
	next.locks = locks
	next.digests = digests[max(0, len(digests)-maxDigests):]
	return Bookkeeping{&next}
}

// began returns b at the start of a turn.
func (b Bookkeeping) began(turn turnMark, locks []lock, digests []operationDigest) Bookkeeping {
	next := b.with(locks, digests)
	next.b.turn = turn
	return next
}

// completed returns b at the end of its turn.
func (b Bookkeeping) completed() Bookkeeping {
	next := b.state()
	next.turn.complete = true
	return Bookkeeping{&next}
}

// startable returns an error matching ErrTurnNotOpen when the turn is complete or a newer one began.
func (b Bookkeeping) startable(turn *Turn) error {
	current := b.state().turn
	switch {
	case current.sequence > turn.Sequence:
		return fmt.Errorf("%w: turn %q is older than turn %q, which began", ErrTurnNotOpen, turn.ID, current.id)
	case current.id == turn.ID && current.complete:
		return fmt.Errorf("%w: turn %q is complete", ErrTurnNotOpen, turn.ID)
	}
	return nil
}

// open returns an error matching ErrTurnNotOpen unless the turn is the current one and not complete.
func (b Bookkeeping) open(turn *Turn) error {
	current := b.state().turn
	switch {
	case current.id != turn.ID || current.sequence != turn.Sequence:
		return fmt.Errorf("%w: turn %q was not started, its start failed, or a newer turn began", ErrTurnNotOpen, turn.ID)
	case current.complete:
		return fmt.Errorf("%w: turn %q is complete", ErrTurnNotOpen, turn.ID)
	}
	return nil
}

// findDigest returns the digest of an operation. The newest are looked at first.
func findDigest(digests []operationDigest, operation string) (string, bool) {
	for i := len(digests) - 1; i >= 0; i-- {
		if digests[i].operation == operation {
			return digests[i].digest, true
		}
	}
	return "", false
}
