package redisstore

import (
	"errors"
	"fmt"

	"github.com/recollect-go/recollect/filememory"
)

var (
	// ErrShape matches every *ShapeError. It is filememory.ErrShape, which state.Sweep goes on past.
	ErrShape = filememory.ErrShape
	// ErrTooLarge matches the error for a document over the 512 MB that a server takes as one value.
	ErrTooLarge = errors.New("document is too large")
	// ErrCursor matches the error of a List whose cursor is not one of this store, or whose listing cannot go on because a
	// server was restarted or the cluster changed. Begin the listing again.
	ErrCursor = errors.New("cursor is not valid, or no longer")
)

// ShapeError reports a key of the layout that holds something that is not a document. It was not changed.
type ShapeError struct {
	Key   string // the document's key, without the prefix
	Found string // what was found, for people
}

// Error names the key, which is a digest and no secret, and what it holds.
func (e *ShapeError) Error() string {
	return fmt.Sprintf("key %q holds %s, not a document", e.Key, e.Found)
}

// Is reports whether target is ErrShape.
func (e *ShapeError) Is(target error) bool { return target == ErrShape }

func failed(operation string, err error) error {
	return fmt.Errorf("redisstore: %s: %w", operation, err)
}

// unknown is the error of a call that may have been carried out. It never matches a conflict.
func unknown(operation string, cause error) error {
	return fmt.Errorf("redisstore: %s: %w: %w", operation, filememory.ErrUnknownOutcome, cause)
}
