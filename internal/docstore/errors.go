package docstore

import (
	"errors"
	"fmt"
)

// ErrConflict matches every *ConflictError.
var ErrConflict = errors.New("document changed since it was read")

// ErrUnknownOutcome matches the error of a write whose effect cannot be known: it may or may not have happened. It never
// matches together with ErrConflict.
var ErrUnknownOutcome = errors.New("outcome of the write is unknown")

// ErrInvalidKey matches the error for a key outside the key grammar.
var ErrInvalidKey = errors.New("invalid key")

// ConflictError reports a conditional write or delete whose expected version was not the stored one. Nothing was written.
type ConflictError struct {
	Key      string
	Expected string // "" when the document was expected not to exist
	Actual   string // "" when it does not exist, or when the store cannot tell
}

// Error names the key, which is a digest and no secret.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("document %q changed since it was read", e.Key)
}

// Is reports whether target is ErrConflict.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }
