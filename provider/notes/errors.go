package notes

import (
	"errors"
	"fmt"
	"strings"

	"github.com/recollect-go/recollect/internal/docstore"
)

// What a caller can act on, tested with errors.Is. The texts of those about a note are made for the model.
var (
	// ErrOption: New or NewProvider was given something that cannot work. Every problem is in the error.
	ErrOption = errors.New("notes: invalid option")

	// ErrSchema matches every *SchemaError.
	ErrSchema = errors.New("notes: tables do not hold notes")

	// ErrNoNote: there is no note with that id in this scope, or it was forgotten.
	ErrNoNote = errors.New("there is no note with this id")

	// ErrBlank: a text has nothing but spaces in it.
	ErrBlank = errors.New("the text is blank; give what is to be remembered")

	// ErrEncoding: a text is not valid UTF-8.
	ErrEncoding = errors.New("the text is not valid UTF-8")

	// ErrTooLarge: a text is over Options.MaxNoteBytes. The error is a *LimitError.
	ErrTooLarge = errors.New("the text is too long for a note")

	// ErrFull: the scope has Options.MaxNotes notes and the policy is to refuse more, or nothing is left that the policy
	// lets go. The error is a *LimitError.
	ErrFull = errors.New("the memory is full")

	// ErrRefused: ProviderOptions.Validate refused a text. Its error is wrapped beside this one.
	ErrRefused = errors.New("the text was refused and is not remembered")

	// ErrSelection: what a broad forget would remove is not what was previewed. Nothing was removed.
	ErrSelection = errors.New("the notes that match are not those that were shown; look at them again")

	// ErrEmbedding: the Embedder failed or returned something that cannot be used. Nothing was stored, or recalled.
	ErrEmbedding = errors.New("notes: embedding failed")

	// ErrExtraction: the Extractor failed or returned something that cannot be used. Nothing was stored: the capture can be
	// repeated.
	ErrExtraction = errors.New("notes: extraction failed")

	// ErrMalformed: what is stored was damaged, or written by a newer version. The error names the note, which Forget and
	// Erase delete nevertheless, or says that it is a recorded recall: another operation is not stopped by that.
	ErrMalformed = errors.New("notes: stored data is malformed")
)

// Errors that every store has.
var (
	// ErrUnknownOutcome matches the error of a change that may or may not have happened. Every change can be repeated.
	ErrUnknownOutcome = docstore.ErrUnknownOutcome
	// ErrInvalidKey matches the error for a key outside the grammar.
	ErrInvalidKey = docstore.ErrInvalidKey
)

// LimitError reports what does not fit.
type LimitError struct {
	// Limit is ErrTooLarge or ErrFull; errors.Is finds it.
	Limit error
	// Size is what there would be and Max what may be: bytes for ErrTooLarge, notes for ErrFull.
	Size, Max int
}

// Error says by how much it does not fit, and what to do.
func (e *LimitError) Error() string {
	if e.Limit == ErrFull {
		return fmt.Sprintf("%v: %d notes, at most %d; forget some first", e.Limit, e.Size, e.Max)
	}
	return fmt.Sprintf("%v: %d bytes, at most %d; shorten it, or save several notes", e.Limit, e.Size, e.Max)
}

// Unwrap returns the limit.
func (e *LimitError) Unwrap() error { return e.Limit }

// SchemaError reports tables that are missing or have another shape than Schema describes. Nothing was changed.
type SchemaError struct {
	Found []string // what is wrong, one finding each

	missing bool // there is none of them
}

// Error lists what was found.
func (e *SchemaError) Error() string {
	return fmt.Sprintf("%v: %s", ErrSchema, strings.Join(e.Found, "; "))
}

// Is reports whether target is ErrSchema.
func (e *SchemaError) Is(target error) bool { return target == ErrSchema }
