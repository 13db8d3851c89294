package memory

import (
	"errors"
	"fmt"
)

// What a caller can act on, tested with errors.Is. The typed errors below carry the details, tested with errors.As. Limits
// of scopes and namespaces are errors of package scope and are found by the same means.
var (
	// ErrCancelled: the context of the call ended first, and nothing was committed. Nothing else matches it, whatever a
	// provider returned.
	ErrCancelled = errors.New("memory: cancelled")

	// ErrProvider: a provider's function returned an error, panicked or ran out of its time.
	ErrProvider = errors.New("memory: provider failed")

	// ErrTimeout: a slot took longer than its timeout or the capture timeout.
	ErrTimeout = errors.New("out of time")

	// errGone: a provider or resolver ended its goroutine instead of returning.
	errGone error = providerError{errors.New("no answer: the goroutine was ended")}

	// ErrReplay: an operation that was committed was recalled again with another result. The way out is ResumeTurn, which
	// asks no recall.
	ErrReplay = errors.New("recall was committed before with another result; resume the turn instead of starting it again")

	// ErrAttribution: a message in the history has an attribution that this version does not understand.
	ErrAttribution = errors.New("memory: malformed attribution")

	// ErrForgedRecord: a turn's input, a reply or a checkpoint has an attribution; only the library writes them.
	ErrForgedRecord = errors.New("memory: attribution in a message that is not a record of the library")

	// ErrInvalidRequest: a call lacks an identifier or names something that does not fit this Memory.
	ErrInvalidRequest = errors.New("memory: invalid request")

	// ErrInvalidMessage: a message cannot be stored.
	ErrInvalidMessage = errors.New("memory: invalid message")

	// ErrBlankContent: a recalled item has nothing but spaces in it.
	ErrBlankContent = errors.New("item is blank")

	// ErrItemText: a recalled item has text that is not valid UTF-8.
	ErrItemText = errors.New("item is not valid UTF-8")

	// ErrItemID: a recalled item's id is longer than 1024 bytes.
	ErrItemID = errors.New("item id over 1024 bytes")

	// ErrDuplicateItem: two recalled items of one answer have the same id.
	ErrDuplicateItem = errors.New("item id occurs twice")

	// ErrTurnNotOpen: the turn was never started, its start failed, it is complete, or a newer one began.
	ErrTurnNotOpen = errors.New("memory: turn is not open")

	// ErrVersion: stored data was written by a newer version of the format. It is left as it is.
	ErrVersion = errors.New("memory: written by a newer version")

	// ErrMalformed: bookkeeping or a binding is damaged.
	ErrMalformed = errors.New("memory: malformed")

	// ErrToolInput: the input of a tool call is not what its schema asks for. The text is for the model.
	ErrToolInput = errors.New("invalid input")

	// ErrBinding: a tool binding is refused: its signature is missing, wrong or cannot be checked.
	ErrBinding = errors.New("memory: tool binding refused")

	// ErrNoTool: a binding names a tool that its slot no longer offers.
	ErrNoTool = errors.New("memory: tool was removed or renamed")

	// ErrConfig: New was given something that cannot work. Every problem is in the error.
	ErrConfig = errors.New("memory: invalid configuration")

	// ErrOutboxRecord: the record of a turn is too large for the outbox. Nothing of the turn was captured.
	ErrOutboxRecord = errors.New("record is too large")

	// ErrNotErased: something was found under a key after it was erased.
	ErrNotErased = errors.New("something is left after erasing")

	// ErrExport: a provider exported something that is no valid record.
	ErrExport = errors.New("invalid exported record")

	// ErrSummary: the summarizer of a compaction failed or returned nothing. The history is as it was.
	ErrSummary = errors.New("memory: no summary")

	// ErrSessionEnded: the session was reset. The next one has a new id.
	ErrSessionEnded = errors.New("memory: session has ended")

	// ErrUnanswered: a turn can be neither completed nor answered while a tool call waits for its result, nor completed
	// while a delivery waits for an answer.
	ErrUnanswered = errors.New("memory: turn is unanswered")

	// ErrTurnOpen: a turn of this session is open already under the same id, or the snapshot left one unfinished that a
	// compaction between turns would not see.
	ErrTurnOpen = errors.New("memory: turn is already open")
)

// SlotError is a failure of one slot.
type SlotError struct {
	Slot  string
	Phase Phase
	Err   error
}

func (e *SlotError) Error() string {
	return fmt.Sprintf("memory: slot %q, %s: %v", e.Slot, e.Phase, e.Err)
}

// Unwrap returns what failed.
func (e *SlotError) Unwrap() error { return e.Err }

// providerError makes an error of a provider match ErrProvider without adding to its text.
type providerError struct{ error }

// failed returns an error of a provider.
func failed(err error) error { return providerError{foreign(err)} }

// foreign returns an error of somebody else's code. It does not match ErrCancelled, which only the context of the call
// decides.
func foreign(err error) error {
	if errors.Is(err, ErrCancelled) {
		return errors.New(err.Error())
	}
	return err
}

func (e providerError) Is(target error) bool { return target == ErrProvider }
func (e providerError) Unwrap() error        { return e.error }

// PanicError is a panic in code that the library was given: a resolver, a provider, a tool, an observer, a validator, a
// summarizer. It was logged with its stack when it happened. Its text and its stack do not show the value, which may hold a
// memory.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic of type %T", e.Value) }

// Unwrap returns the value when it is an error, but none that matches ErrCancelled, which only the context of a call decides.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	if errors.Is(err, ErrCancelled) {
		return nil
	}
	return err
}
