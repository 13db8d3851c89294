package s3store

import (
	"errors"
	"fmt"

	"github.com/recollect-go/recollect/filememory"
)

var (
	// ErrUnconditional matches New's error for a store that carries out a write or delete whose condition does not hold.
	ErrUnconditional = errors.New("store ignores conditions, so that concurrent writers would lose memories")
	// ErrWeakETag matches the error for an object whose ETag is weak or missing, so that it cannot be replaced safely.
	ErrWeakETag = errors.New("object has no strong ETag")
	// ErrTooLarge matches the error for a document over Options.MaxBytes, a *filememory.TooLargeError. It is
	// filememory.ErrDocumentOversized, which state.Sweep goes on past.
	ErrTooLarge = filememory.ErrDocumentOversized
	// ErrReserved matches the error for a document that reads like a tombstone, which the store keeps for itself.
	ErrReserved = errors.New("document is a tombstone of this package")
	// ErrShape matches every *ShapeError. It is filememory.ErrShape, which state.Sweep goes on past.
	ErrShape = filememory.ErrShape
)

// ShapeError reports an object at the place of a document that is not one. It was not changed.
type ShapeError struct {
	Key   string // the document's key
	Found string // what was found, for people
}

// Error names the key, which is a digest and no secret, and what was found.
func (e *ShapeError) Error() string {
	return fmt.Sprintf("object of key %q is %s, not a document", e.Key, e.Found)
}

// Is reports whether target is ErrShape.
func (e *ShapeError) Is(target error) bool { return target == ErrShape }

func failed(operation string, err error) error {
	return fmt.Errorf("s3store: %s: %w", operation, err)
}

// unknown is the error of a request that may have been carried out. It never matches a conflict.
func unknown(operation string, cause error) error {
	return fmt.Errorf("s3store: %s: %w: %w", operation, filememory.ErrUnknownOutcome, cause)
}

func conflict(operation, key, expected, actual string) error {
	return failed(operation, &filememory.ConflictError{Key: key, Expected: expected, Actual: actual})
}
