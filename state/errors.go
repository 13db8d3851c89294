package state

import (
	"errors"
	"fmt"

	"github.com/recollect-go/recollect/internal/docstore"
)

// Errors that a caller can act on, tested with errors.Is.
var (
	// ErrUnbound reports a context that carries no session. Bind one with Session.Context.
	ErrUnbound = errors.New("state: the context carries no session")

	// ErrStale reports a context whose step has ended or whose session was reset. Nothing done with it is stored.
	ErrStale = errors.New("state: the context is stale")

	// ErrNested reports a use that could only wait for itself: a handle inside its own Update, a step inside a step, or the
	// context from outside a step used inside it.
	ErrNested = errors.New("state: nested use")

	// ErrNoTurn reports a step, a child or a per-turn handle used before BeginTurn.
	ErrNoTurn = errors.New("state: no turn has begun")

	// ErrName reports a handle name that is empty, reserved, not valid UTF-8, or taken by a definition that differs.
	ErrName = errors.New("state: handle name refused")

	// ErrValue matches every *ValueError.
	ErrValue = errors.New("state: value refused")

	// ErrDecode matches every *DecodeError.
	ErrDecode = errors.New("state: stored value does not decode")

	// ErrTooLarge matches every *SizeError.
	ErrTooLarge = errors.New("state: checkpoint too large")

	// ErrNoAttachment reports a name under which nothing is attached.
	ErrNoAttachment = errors.New("state: no such attachment")

	// ErrMalformed reports a stored checkpoint that is not one, or not this session's. It is never overwritten.
	ErrMalformed = errors.New("state: malformed checkpoint")

	// ErrNewerFormat reports a checkpoint written by a newer version of this library. It is never overwritten.
	ErrNewerFormat = errors.New("state: checkpoint of a newer format")
)

// Errors of a Store. From a Session, ErrConflict means that another runner committed this session: nothing of the failed
// call is stored, and the session must be opened again. ErrUnknownOutcome means that the call may or may not be stored:
// the session finds out at its next use, and a step that was stored is then not run again.
var (
	// ErrConflict matches every *ConflictError.
	ErrConflict = docstore.ErrConflict
	// ErrUnknownOutcome matches the error of a write that may or may not have happened.
	ErrUnknownOutcome = docstore.ErrUnknownOutcome
	// ErrInvalidKey matches the error for a key outside the grammar.
	ErrInvalidKey = docstore.ErrInvalidKey
	// ErrShape matches the error for something in the place of a document that is none, such as a folder in the place of
	// its file. It is neither read nor changed.
	ErrShape = docstore.ErrShape
)

// ConflictError reports a conditional write or delete whose expected version was not the stored one. Nothing was written. Its
// fields are Key; Expected, "" when the document was expected not to exist; and Actual, "" when there is none or the store
// cannot tell. A store fills in Key and Expected.
type ConflictError = docstore.ConflictError

// ValueError reports a value that JSON cannot encode or would change. The value before it stays, and the session stays
// usable.
type ValueError struct {
	Handle string // name of the handle; "" for the result of a step
	Step   string // name of the step whose result it is; "" for a handle
	Path   string // where in the value, as a Go expression: `Checked[2].Load`; "" for the value itself
	Reason string // what is wrong there, without the value
	Err    error  // the encoder's own error, which may quote the value; nil for most reasons
}

// Error names the handle or step, the path and the reason, never the value.
func (e *ValueError) Error() string {
	where := owner(e.Handle, e.Step)
	if e.Path != "" {
		where += " at " + e.Path
	}
	return fmt.Sprintf("state: %s: %s", where, e.Reason)
}

// Is reports whether target is ErrValue.
func (e *ValueError) Is(target error) bool { return target == ErrValue }

// Unwrap returns the encoder's error.
func (e *ValueError) Unwrap() error { return e.Err }

// DecodeError reports a stored value or step result that the program's type cannot hold completely: of another kind, or
// with members that the type does not know, a longer array or more digits. The stored value stays; a migration reads it
// (see Migrated).
type DecodeError struct {
	Handle string // name of the handle; "" for the result of a step
	Step   string // name of the step whose result it is; "" for a handle
	Reason string // what is wrong, without the value, and what helps
	Err    error  // the decoder's own error, which may quote the value
}

// Error names the handle or step and the reason, never the value.
func (e *DecodeError) Error() string {
	return fmt.Sprintf("state: stored value of %s does not decode: %s", owner(e.Handle, e.Step), e.Reason)
}

// Is reports whether target is ErrDecode.
func (e *DecodeError) Is(target error) bool { return target == ErrDecode }

// Unwrap returns the decoder's error.
func (e *DecodeError) Unwrap() error { return e.Err }

// SizeError reports a checkpoint over the size limit. Nothing of it is stored.
type SizeError struct {
	Size, Limit int    // bytes
	Handle      string // the handle whose value is largest; "" when no handle has a value
	HandleSize  int    // bytes of its JSON
	Part        string // the largest part of all, for example `attachment "memory"`
	PartSize    int    // bytes of its JSON
}

// Error names the sizes, the largest handle, and the largest part when that is not a handle.
func (e *SizeError) Error() string {
	text := fmt.Sprintf("state: checkpoint of %d bytes is over the limit of %d", e.Size, e.Limit)
	if e.Handle != "" {
		text += fmt.Sprintf("; the largest handle is %q with %d bytes", e.Handle, e.HandleSize)
	}
	if e.PartSize > e.HandleSize {
		text += fmt.Sprintf("; the largest part is %s with %d bytes", e.Part, e.PartSize)
	}
	return text
}

// Is reports whether target is ErrTooLarge.
func (e *SizeError) Is(target error) bool { return target == ErrTooLarge }

func owner(handle, step string) string {
	if handle != "" {
		return fmt.Sprintf("handle %q", handle)
	}
	return fmt.Sprintf("step %q", step)
}
