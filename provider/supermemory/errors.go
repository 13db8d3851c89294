package supermemory

import (
	"errors"
	"fmt"

	"github.com/recollect-go/recollect/internal/rest"
)

// Error is a failed request. errors.Is tells what kind; RetryAfter is set where the service said how long to wait.
type Error = rest.Error

// Kinds of errors.
var (
	// ErrUnauthorized: no API key, or one that the service refuses.
	ErrUnauthorized = rest.ErrUnauthorized
	// ErrRateLimited: too many requests, also after the retries; RetryAfter of the *Error says when there may be more.
	ErrRateLimited = rest.ErrRateLimited
	// ErrUnavailable: the service failed, also after the retries.
	ErrUnavailable = rest.ErrUnavailable
	// ErrNoReply: no answer came, also after the retries.
	ErrNoReply = rest.ErrNoReply
	// ErrRefused: the service will not carry out the request.
	ErrRefused = rest.ErrRefused
	// ErrTooLarge: the request or the reply is larger than the service or the client takes.
	ErrTooLarge = rest.ErrTooLarge
	// ErrBadReply: the answer is not that of the API.
	ErrBadReply = rest.ErrBadReply
	// ErrNotFound: there is no such document or memory under this key. It is the same error when there is one under another
	// key.
	ErrNotFound = errors.New("not found in this memory")
	// ErrNotErased: the service did not remove everything. Erase again.
	ErrNotErased = errors.New("not everything was erased")
)

func failed(operation string, err error) error {
	return fmt.Errorf("supermemory: %s: %w", operation, err)
}
