package docstore

import (
	"errors"
	"fmt"
	"io/fs"
)

// ErrConflict matches every *ConflictError.
var ErrConflict = errors.New("document changed since it was read")

// ErrUnknownOutcome matches the error of a write whose effect cannot be known: it may or may not have happened. It never
// matches together with ErrConflict.
var ErrUnknownOutcome = errors.New("outcome of the write is unknown")

// ErrInvalidKey matches the error for a key outside the key grammar.
var ErrInvalidKey = errors.New("invalid key")

// ErrTooLarge matches every *TooLargeError.
var ErrTooLarge = errors.New("document is too large")

// ErrShape matches the error for something that is in the place of a document and is none: the store did not put it there, and
// neither reads nor changes it.
var ErrShape = errors.New("not a document")

// errLimit reports a page size that makes no sense.
var errLimit = errors.New("limit of a listing is below 1")

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

// TooLargeError reports a document over the store's limit: one that was to be written, and nothing was, or one that
// somebody else put there, and it was neither read nor changed.
type TooLargeError struct {
	Key   string
	Size  int64 // in bytes
	Limit int64 // in bytes
}

// Error names the key and both sizes.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("document %q has %d bytes, over the limit of %d", e.Key, e.Size, e.Limit)
}

// Is reports whether target is ErrTooLarge.
func (e *TooLargeError) Is(target error) bool { return target == ErrTooLarge }

// notExist is what Read returns when there is no document.
func notExist(key string) error {
	return fmt.Errorf("document %q: %w", key, fs.ErrNotExist)
}

// unknown marks err as one after which the document may be the old or the new one.
func unknown(err error) error {
	return fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
}
