package filememory

import (
	"errors"
	"fmt"

	"github.com/recollect-go/recollect/internal/docstore"
)

// Reasons why a memory is not saved or read, tested with errors.Is. The texts are made for the model.
var (
	// ErrEntryEmpty: a text has nothing but spaces in it.
	ErrEntryEmpty = errors.New("the text is empty; give the fact to remember")

	// ErrEntryEncoding: a text is not valid UTF-8.
	ErrEntryEncoding = errors.New("the text is not valid UTF-8")

	// ErrEntryTooLong: a text is over MaxEntryBytes. The error is a *LimitError.
	ErrEntryTooLong = errors.New("the text is too long")

	// ErrRefused: Options.Validate refused a text. Its error is wrapped beside this one.
	ErrRefused = errors.New("the text was refused and is not saved")

	// ErrRecallBudget: with the new entry, the recalled message would be over Options.MaxCharacters. The error is a
	// *LimitError.
	ErrRecallBudget = errors.New("the memories are full")

	// ErrDocumentTooLarge: with the new entry, the document would be over MaxDocumentBytes. The error is a *LimitError.
	ErrDocumentTooLarge = errors.New("the document is full")

	// ErrIndexExhausted: MaxIndex is in use, so there is no index for a new entry.
	ErrIndexExhausted = errors.New("every index has been used; nothing can be saved here any more")

	// ErrDocumentInvalid: what is stored is not a file memory. The error is a *DocumentError, and the document is left as it
	// is.
	ErrDocumentInvalid = errors.New("the stored document is malformed")

	// ErrDocumentOversized: what is stored is over MaxDocumentBytes. The error is a *TooLargeError; the document is
	// neither read nor changed.
	ErrDocumentOversized = docstore.ErrTooLarge

	// ErrDocumentExists: the document of the key that Copy or Move would write is there already.
	ErrDocumentExists = errors.New("there is a document already; it is not overwritten")

	// ErrOptionInvalid: New was given something that cannot work. Every problem is in the error.
	ErrOptionInvalid = errors.New("filememory: invalid option")
)

// Errors of every Backend.
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

// TooLargeError reports a document over a backend's limit. Its fields are Key, and Size and Limit in bytes.
type TooLargeError = docstore.TooLargeError

// LimitError reports an entry that does not fit. Nothing was changed.
type LimitError struct {
	// Limit is ErrEntryTooLong, ErrRecallBudget or ErrDocumentTooLarge; errors.Is finds it.
	Limit error
	// Size is what there would be and Max what may be: UTF-16 units for ErrRecallBudget, bytes otherwise.
	Size, Max int
}

// Error says by how much the entry does not fit, and what to do.
func (e *LimitError) Error() string {
	unit, advice := "bytes", "remove an entry first"
	switch e.Limit {
	case ErrEntryTooLong:
		advice = "shorten it, or save several facts one by one"
	case ErrRecallBudget:
		unit, advice = "characters", "remove an entry first, or save a shorter text"
	}
	return fmt.Sprintf("%v: %d %s, at most %d; %s", e.Limit, e.Size, unit, e.Max, advice)
}

// Unwrap returns the limit.
func (e *LimitError) Unwrap() error { return e.Limit }

// DocumentError reports a stored document that is not a file memory. It was left as it is; repair it by hand.
type DocumentError struct {
	Key     string
	Line    int // counted from 1
	Problem string
}

// Error names the key, the line and the problem, and nothing of the content.
func (e *DocumentError) Error() string {
	return fmt.Sprintf("%v: document %q: line %d %s", ErrDocumentInvalid, e.Key, e.Line, e.Problem)
}

// Is reports whether target is ErrDocumentInvalid.
func (e *DocumentError) Is(target error) bool { return target == ErrDocumentInvalid }
