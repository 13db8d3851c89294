package upstash

import (
	"errors"
	"fmt"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/rest"
)

// Error is a failed command. errors.Is tells what kind; Code is the first word of a Redis error, such as OOM.
type Error = rest.Error

// Kinds of errors. What may have been stored or deleted although the call failed matches filememory.ErrUnknownOutcome as well:
// a document, a captured turn, a saved fact, a kept recall.
var (
	// ErrUnauthorized: no token, or one that the service refuses for this command.
	ErrUnauthorized = rest.ErrUnauthorized
	// ErrRateLimited: too many requests, or the database's quota is used up. It is not tried again.
	ErrRateLimited = rest.ErrRateLimited
	// ErrUnavailable: the service failed, also after the retries.
	ErrUnavailable = rest.ErrUnavailable
	// ErrNoReply: no answer came, also after the retries.
	ErrNoReply = rest.ErrNoReply
	// ErrRefused: the command was refused; Code of the *Error says more.
	ErrRefused = rest.ErrRefused
	// ErrTooLarge: the request or the reply is larger than the service or the client takes.
	ErrTooLarge = rest.ErrTooLarge
	// ErrBadReply: the answer is not that of the protocol.
	ErrBadReply = rest.ErrBadReply
	// ErrNotUTF8: a text is not valid UTF-8, which the protocol cannot carry.
	ErrNotUTF8 = rest.ErrNotUTF8

	// ErrShape matches every *ShapeError. It is filememory.ErrShape, which state.Sweep goes on past.
	ErrShape = docstore.ErrShape
	// ErrCursor: the cursor of a List is not one that List returned.
	ErrCursor = errors.New("cursor is not valid")
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

// unknown is the error of a change that may have been carried out. It never matches a conflict.
func unknown(operation string, cause error) error {
	return fmt.Errorf("upstash: %s: %w: %w", operation, docstore.ErrUnknownOutcome, cause)
}

func failed(operation string, err error) error {
	return fmt.Errorf("upstash: %s: %w", operation, err)
}
